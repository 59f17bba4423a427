// One parameter of Parameter Store. The SDK's client for it is a twelfth of a function's bundle, for one
// text at its start; so the request is made here, and signed by the SDK with what a client beside it uses.
// Source: AWS Systems Manager API reference, GetParameter; the JSON protocol 1.1 of AWS.
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SignatureV4 } from '@smithy/signature-v4';

type Config = SecretsManagerClient['config'];

const ATTEMPTS = 2;

/**
 * Reads it, with one attempt more than the first where AWS did not answer or was at fault. `config` gives
 * region, credentials and partition. Throws what `fetch` throws, or an error named as AWS names it.
 */
export async function getParameter(
  config: Config,
  name: string,
  { signal, attemptMs }: { readonly signal: AbortSignal; readonly attemptMs: number },
): Promise<string | undefined> {
  const url = await endpointOf(config);
  const body = JSON.stringify({ Name: name });
  for (let attempt = 1; ; attempt++) {
    const last = attempt === ATTEMPTS || signal.aborted;
    const headers = await signedHeaders(config, url, body);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: limit });
      if (response.ok) return valueOf(await response.json());
      const refused = refusalOf(await response.text());
      if (last || (response.status < 500 && !/throttl/i.test(refused.name))) throw refused;
    } catch (error) {
      if (last || error instanceof ParameterError) throw causeOf(error);
    }
  }
}

/** What AWS answered instead of a value; its name is AWS's own. */
class ParameterError extends Error {}

async function endpointOf(config: Config): Promise<URL> {
  const { AWS_ENDPOINT_URL_SSM: own, AWS_ENDPOINT_URL: every } = process.env;
  const configured = own ?? every;
  if (configured !== undefined) return new URL(configured);
  // The partition has its own domain, and the two services are neighbours in it.
  const { url } = config.endpointProvider({ Region: await config.region() });
  return new URL(url.href.replace('//secretsmanager.', '//ssm.'));
}

async function signedHeaders(
  { region, credentials, sha256 }: Config,
  { protocol, hostname, port, host, pathname: path }: URL,
  body: string,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service: 'ssm', region, credentials, sha256 });
  const headers = {
    host,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonSSM.GetParameter',
  };
  const to = { protocol, hostname, path, ...(port !== '' && { port: Number(port) }) };
  const { headers: signed } = await signer.sign({
    method: 'POST',
    ...to,
    query: {},
    headers,
    body,
  });
  const { host: _, ...sent } = signed;
  return sent;
}

function valueOf(answer: unknown): string | undefined {
  const { Parameter } = answer as { readonly Parameter?: { readonly Value?: unknown } };
  return typeof Parameter?.Value === 'string' ? Parameter.Value : undefined;
}

function refusalOf(text: string): ParameterError {
  const [, name = 'UnknownError'] = /"__type"\s*:\s*"(?:[^"#]*#)?([A-Za-z]+)/.exec(text) ?? [];
  return Object.assign(new ParameterError('a refusal'), { name });
}

/** The failure of a connection, which `fetch` hides in another error. */
function causeOf(error: unknown): unknown {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === 'string' ? cause : error;
}
