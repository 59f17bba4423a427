// The smoke test of a deployment: what can be seen from outside without a token. Writes nothing there.
// Tells AWS's own refusals from ours, because what to do about them is not the same.
import { setTimeout } from 'node:timers/promises';
import { CliProblem } from '../failure.ts';

const REQUEST_TIMEOUT_MS = 10_000;
/** A permission or a first start can take this long to be there. */
const PATIENCE_MS = 30_000;
const BETWEEN_MS = 2_000;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [name: string]: unknown };
}

/** How patient the test is; tests of it are not. */
export interface SmokeOptions {
  readonly patienceMs?: number;
  readonly betweenMs?: number;
}

/**
 * Looks at an MCP URL and tells what it found, line by line. Throws a problem with one sentence that says
 * what is wrong and what to do.
 */
export async function smoke(
  text: string,
  out: (line: string) => void,
  { patienceMs = PATIENCE_MS, betweenMs = BETWEEN_MS }: SmokeOptions = {},
): Promise<void> {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new CliProblem('expected the URL of an MCP endpoint, such as https://….on.aws/mcp');
  }
  const until = Date.now() + patienceMs;
  const healthUrl = new URL('/health', text).href;
  let health = await ask(healthUrl);
  while (mayPass(health) && Date.now() < until) {
    await setTimeout(betweenMs);
    health = await ask(healthUrl);
  }
  if (health.status !== 200 || health.body['status'] !== 'ok') throw problemOf(health, 'health');
  out(`Health      ok, version ${String(health.body['version'])}`);

  const refused = await ask(text, { method: 'POST', body: '{}' });
  const { status, body } = refused;
  if (status !== 401 || body['error'] !== 'unauthorized') throw problemOf(refused, 'no token');
  const challenged =
    refused.headers.has('www-authenticate') ||
    refused.headers.has('x-amzn-remapped-www-authenticate');
  out(
    `No token    401, ${challenged ? 'with a challenge (standard)' : 'without a challenge (alexa)'}`,
  );

  const { pathname } = new URL(text);
  for (const ending of ['', pathname.replace(/\/$/, '')]) {
    const place = `/.well-known/oauth-protected-resource${ending}`;
    const document = await ask(new URL(place, text).href);
    if (document.status !== 200) throw problemOf(document, place);
    const { resource } = document.body;
    if (resource !== text) {
      throw new CliProblem(
        `${place} names ${String(resource)} as the resource, not ${text}: tokens for this URL would be refused. Deploy again, or use the URL that it names.`,
      );
    }
  }
  out(`Discovery   names ${text}`);
}

async function ask(url: string, options: RequestInit = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(url, { headers, ...options, signal });
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: objectOf(answer) };
  } catch (error) {
    const { name, cause } = error as Error;
    const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
    throw new CliProblem(`${new URL(url).origin} cannot be reached (${code}).`, { cause: error });
  }
}

function objectOf(text: string): Answer['body'] {
  try {
    return Object(JSON.parse(text)) as Answer['body'];
  } catch {
    return {};
  }
}

/** AWS's own answers have a `Message` or none of our words. */
function isOurs({ body }: Answer): boolean {
  return 'code' in body || 'error' in body || 'status' in body || 'jsonrpc' in body;
}

function mayPass(answer: Answer): boolean {
  return answer.status === 503 || (answer.status === 403 && !isOurs(answer));
}

function problemOf(answer: Answer, what: string): CliProblem {
  const { status } = answer;
  if (status === 403 && !isOurs(answer)) {
    return new CliProblem(
      'AWS refused the call before it reached the function (403): the Function URL lacks a permission. It needs both lambda:InvokeFunctionUrl and lambda:InvokeFunction; deploy again, and look for an organisation policy that takes them away.',
    );
  }
  if (status === 403) {
    return new CliProblem(
      'The function does not serve this host (403): its public URL is another one. Use the URL of the deployment’s outputs, or add the host to CHECKPOINT_ALLOWED_HOSTS.',
    );
  }
  if (status === 502 && !isOurs(answer)) {
    return new CliProblem('The function ended without an answer (502): its log group says why.');
  }
  if (status === 429 && !isOurs(answer)) {
    return new CliProblem('AWS has no concurrency to spare (429): try again, or raise the quota.');
  }
  if (status === 503) {
    return new CliProblem(
      'The function answers that it cannot serve (503): it cannot read its table, secrets or settings. Its log group says which.',
    );
  }
  return new CliProblem(`${what}: unexpected answer ${status}. Is this the URL of Checkpoint?`);
}
