// Why AWS did not answer a question, as one sentence with what to do. Reads names, never messages, but
// for the one error that has no name of its own.
import { isFault } from '../../core/fault.ts';
import { CliProblem } from '../failure.ts';

const SIGN_IN = 'sign in (aws sso login), or name a profile (AWS_PROFILE).';

const SENTENCES: Readonly<Record<string, string>> = {
  CredentialsProviderError: `There are no AWS credentials here: ${SIGN_IN}`,
  UnrecognizedClientException: `AWS does not know these credentials: ${SIGN_IN}`,
  InvalidClientTokenId: `AWS does not know these credentials: ${SIGN_IN}`,
  InvalidSignatureException: `AWS does not take these credentials: ${SIGN_IN}`,
  ExpiredTokenException: `These AWS credentials have expired: ${SIGN_IN}`,
  ExpiredToken: `These AWS credentials have expired: ${SIGN_IN}`,
};

/** The name of the AWS error behind a fault, where there is one. */
export function awsErrorName(error: unknown): string | undefined {
  return isFault(error) && error.cause instanceof Error ? error.cause.name : undefined;
}

/** The problem behind a failed question. `may` is what the credentials have to allow. */
export function awsProblem(error: unknown, may: string): CliProblem {
  const name = awsErrorName(error);
  if (name === undefined || !isFault(error)) throw error;
  if (
    error.cause instanceof Error &&
    /^Region (?:is missing|not accepted)/.test(error.cause.message)
  ) {
    return problem('There is no AWS region here: set AWS_REGION.', error);
  }
  const sentence = SENTENCES[name];
  if (sentence !== undefined) return problem(sentence, error);
  if (/AccessDenied/.test(name)) {
    return problem(`These AWS credentials lack a permission (${may}).`, error);
  }
  return problem(`AWS could not be asked: ${error.message}.`, error);
}

function problem(sentence: string, cause: unknown): CliProblem {
  return new CliProblem(sentence, { cause });
}
