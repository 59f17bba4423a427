// Requests to AWS without the client of their service: signed by the SDK with what a small client beside it
// uses. The whole clients would be a twelfth of a function's bundle each, for one text at its start.
// Source: AWS general reference, Signature Version 4; the JSON protocols of AWS.
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SignatureV4 } from '@smithy/signature-v4';

/** What gives region, credentials and partition. */
export type Account = SecretsManagerClient['config'];

/** A POST to a service; `service` is its name in host names and signatures. */
export interface SignedRequest {
  readonly service: 'ssm' | 'lambda';
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** How long it may take, and how often it is sent where AWS did not answer or was at fault. */
export interface SignedRequestLimits {
  readonly signal: AbortSignal;
  readonly attemptMs: number;
  readonly attempts: number;
}

/** Sends it. Throws what `fetch` throws, or an error that is named as AWS names its refusal. */
export async function signedRequest(
  account: Account,
  request: SignedRequest,
  { signal, attemptMs, attempts }: SignedRequestLimits,
): Promise<Response> {
  const url = await urlOf(account, request);
  const { body } = request;
  for (let attempt = 1; ; attempt++) {
    const last = attempt >= attempts || signal.aborted;
    const headers = await signedHeaders(account, url, request);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal: limit,
        // The session token would go along to whatever place is named.
        redirect: 'error',
      });
      if (response.ok) return response;
      const refused = refusalOf(response, await response.text());
      if (last || (response.status < 500 && !/throttl|TooManyRequests/i.test(refused.name))) {
        throw refused;
      }
    } catch (error) {
      if (last || error instanceof RefusedError) throw causeOf(error);
    }
  }
}

/** What AWS answered instead; its name is AWS's own. */
class RefusedError extends Error {}

async function urlOf(account: Account, { service, path }: SignedRequest): Promise<URL> {
  const own = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`];
  const configured = own ?? process.env['AWS_ENDPOINT_URL'];
  if (configured !== undefined) return new URL(path, configured);
  // The partition has its own domain, and the services are neighbours in it.
  const { url } = account.endpointProvider({ Region: await account.region() });
  return new URL(path, url.href.replace('//secretsmanager.', `//${service}.`));
}

async function signedHeaders(
  { region, credentials, sha256 }: Account,
  { protocol, hostname, port, host, pathname: path }: URL,
  { service, headers, body }: SignedRequest,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service, region, credentials, sha256 });
  const to = { protocol, hostname, path, ...(port !== '' && { port: Number(port) }) };
  const signed = await signer.sign({
    method: 'POST',
    ...to,
    query: {},
    headers: { host, ...headers },
    body,
  });
  const { host: _, ...sent } = signed.headers;
  return sent;
}

function refusalOf({ headers }: Response, text: string): RefusedError {
  const [, named] = /"__type"\s*:\s*"(?:[^"#]*#)?([A-Za-z]+)/.exec(text) ?? [];
  const name = named ?? headers.get('x-amzn-errortype')?.split(':')[0] ?? 'UnknownError';
  return Object.assign(new RefusedError('a refusal'), { name });
}

/** The failure of a connection, which `fetch` hides in another error. */
function causeOf(error: unknown): unknown {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === 'string' ? cause : error;
}
