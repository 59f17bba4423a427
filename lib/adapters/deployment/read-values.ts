// What a deployment keeps outside its code: parameters in Parameter Store, secrets in Secrets Manager.
// Reads named values, all at once; does not know what they mean and caches nothing.
// Invariant: a read ends within its time, and an error names the value and never holds it.
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Fault } from '../../core/fault.ts';
import { getParameter } from './get-parameter.ts';

/** Time for one value, with one attempt more than the first. */
const READ_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 700;
const ATTEMPT_TIMEOUT_MS = 900;

/** Reads single values of one account and region, which the environment names. */
export interface DeploymentValues {
  /** A parameter by its name. Throws a retryable fault when it cannot be read. */
  parameter(name: string): Promise<string>;
  /** A secret text by its ARN or name. Throws a retryable fault when it cannot be read. */
  secret(id: string): Promise<string>;
  close(): void;
}

/** Opens both stores; a connection is made by the first read. */
export function openDeploymentValues(): DeploymentValues {
  const limits = { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: ATTEMPT_TIMEOUT_MS };
  const options = { maxAttempts: 2, requestHandler: limits };
  const secrets = new SecretsManagerClient(options);
  return {
    parameter: (name) =>
      read(`the parameter ${name}`, (signal) =>
        getParameter(secrets.config, name, { signal, attemptMs: ATTEMPT_TIMEOUT_MS }),
      ),
    secret: (id) =>
      read(`the secret ${id}`, async (abortSignal) => {
        const command = new GetSecretValueCommand({ SecretId: id });
        return (await secrets.send(command, { abortSignal })).SecretString;
      }),
    close: () => {
      secrets.destroy();
    },
  };
}

async function read(
  what: string,
  ask: (signal: AbortSignal) => Promise<string | undefined>,
): Promise<string> {
  let value: string | undefined;
  try {
    value = await ask(AbortSignal.timeout(READ_TIMEOUT_MS));
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new Fault('retryable', 'BACKEND_UNAVAILABLE', `${what} cannot be read: ${reason}`, {
      cause,
    });
  }
  if (value !== undefined && value !== '') return value;
  throw new Fault('retryable', 'BACKEND_UNAVAILABLE', `${what} holds no text`);
}

/** The name of what AWS answered, or the code of a connection that failed. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown error';
  return (cause as NodeJS.ErrnoException).code ?? cause.name;
}
