/** Calls of the REST surface of a running server. */

/** What was answered. */
export interface RestReply {
  readonly status: number;
  readonly body: { readonly [name: string]: unknown };
}

/** Sends one request below `/v1` of the server whose MCP endpoint is `url`; with a body it is a POST. */
export async function rest(
  { url, token }: { readonly url: string; readonly token: string },
  path: string,
  body?: object,
): Promise<RestReply> {
  const response = await fetch(new URL(`/v1${path}`, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as RestReply['body'] };
}

/** Reads a run until its status is one of those named. */
export async function runUntil(
  by: { readonly url: string; readonly token: string },
  id: string,
  statuses: readonly string[],
  withinMs = 60_000,
): Promise<RestReply['body']> {
  for (const until = Date.now() + withinMs; ;) {
    const { body } = await rest(by, `/runs/${id}`);
    if (statuses.includes(String(body['status']))) return body;
    if (Date.now() > until) throw new Error(`the run is still ${String(body['status'])}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
