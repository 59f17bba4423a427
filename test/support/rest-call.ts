/** Calls of the REST surface of an app, as raw requests. */
import type { World } from './surface-world.ts';

/** An answer with what tests look at. */
export interface RestAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: { readonly [name: string]: never };
  readonly headers: Headers;
}

/** Sends one request below `/v1`; with a body it is a POST. Olga calls where nobody is named. */
export async function callRest(
  { app }: Pick<World, 'app'>,
  path: string,
  {
    token = 'olga',
    ...rest
  }: {
    readonly token?: string;
    readonly body?: unknown;
    readonly key?: string;
    readonly method?: string;
    readonly headers?: { readonly [name: string]: string };
  } = {},
): Promise<RestAnswer> {
  const post = 'body' in rest;
  const response = await app.request(`https://checkpoint.example.com/v1${path}`, {
    method: rest.method ?? (post ? 'POST' : 'GET'),
    headers: {
      authorization: `Bearer ${token}`,
      ...(post && { 'content-type': 'application/json' }),
      ...(rest.key !== undefined && { 'idempotency-key': rest.key }),
      ...rest.headers,
    },
    ...(post && { body: JSON.stringify(rest.body) }),
  });
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  const body = (text === '' ? {} : JSON.parse(text)) as RestAnswer['body'];
  return { status: response.status, type, body, headers: response.headers };
}
