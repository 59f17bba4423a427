// A running server as the `run` commands talk to it: REST with a person's token.
import { display } from '../../core/display.ts';
import type { Scope } from '../../core/model/principal.ts';
import type { Json } from '../../core/json.ts';
import type { Settings } from '../../settings.ts';
import { CliProblem } from '../failure.ts';
import { shownHost } from '../shown-host.ts';
import { signToken } from '../token.ts';

/** Who calls, and where. */
export interface ServerFlags {
  readonly data?: string;
  readonly as?: string;
  readonly name?: string;
  readonly tenant: string;
  readonly url?: string;
  readonly token?: string;
}

/** What a server answers: an object of JSON. */
export type Answer = { readonly [name: string]: Json | undefined };

/** A server that can be asked. */
export interface RunServer {
  get(path: string): Promise<Answer>;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** The longest that one answer is waited for: a wait for a proposal, and some more. */
const ANSWER_MS = 60_000;

/**
 * Connects as a person: with the token given, or with one of the data folder's issuer that holds `scope`.
 * Whatever the server refuses is a problem in its own words.
 */
export async function runServer(
  settings: Settings,
  flags: ServerFlags,
  scope: Scope,
): Promise<RunServer> {
  const { as: subject, name, tenant } = flags;
  const url =
    flags.url ?? settings.publicUrl ?? `http://${shownHost(settings.host)}:${settings.port}/`;
  if (!URL.canParse(url)) throw new CliProblem('--url: expected an absolute http or https URL.');
  if (flags.token === undefined && subject === undefined) {
    throw new CliProblem('expected --as, or a --token: who is it?');
  }
  const signing = { scope: [scope], tenant, expires: '10m', ...(name !== undefined && { name }) };
  const token =
    flags.token ??
    (await signToken(settings, { ...signing, ...(subject !== undefined && { subject }) }));
  const call = async (path: string, init: Sent): Promise<Answer> => {
    const answer = await asked(new URL(`/v1${path}`, url), token, init).catch((cause: unknown) => {
      const hint = 'check --url, and that the server runs';
      throw new CliProblem(`${url} did not answer: ${hint}.`, { cause });
    });
    if (answer.ok) return answer.body;
    throw new CliProblem(refusalText(answer.status, answer.body));
  };
  return {
    get: (path) => call(path, {}),
    post: (path, body, headers) =>
      call(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}

interface Sent extends Pick<RequestInit, 'method' | 'body'> {
  readonly headers?: Readonly<Record<string, string>>;
}

async function asked(url: URL, token: string, init: Sent) {
  const response = await fetch(url, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(ANSWER_MS),
    redirect: 'error',
  });
  return {
    ok: response.ok,
    status: response.status,
    body: (await response.json()) as Answer,
  };
}

/** A refusal by its sentence, its code, the places of what is wrong, and who decided what before. */
function refusalText(status: number, body: Answer): string {
  const { title, code, need, errors } = body;
  const said = typeof title === 'string' ? display(title).text : `status ${status}`;
  const named = typeof code === 'string' ? ` (${display(code).text})` : '';
  const needed = typeof need === 'string' ? `; it takes ${display(need).text}` : '';
  const places = (Array.isArray(errors) ? errors : []).map((error) => {
    const { pointer, message } = error as { readonly pointer?: string; readonly message?: string };
    return `\n  ${display(pointer ?? '').text}: ${display(message ?? '').text}`;
  });
  return `Refused: ${said}${named}${needed}${decidedText(body)}.${places.join('')}`;
}

function decidedText({ decided_by: who, decided_at: at, action_hash: hash }: Answer): string {
  if (typeof who !== 'object' || who === null) return '';
  if (typeof at !== 'string' || typeof hash !== 'string') return '';
  const { name = '?' } = who as { readonly name?: string };
  return ` by ${display(name).text} at ${display(at).text}, for ${display(hash).text}`;
}
