// One person's calls of the REST surface, as the transcript takes them.
import type { Assistant } from './assistant.ts';

/** Calls as a person; a call is named by method and path, such as `POST /v1/runs`. */
export function restPerson(name: string, base: () => string, token: string): Assistant {
  return {
    name,
    call: async (call, args) => {
      const [method = 'GET', path = ''] = call.split(' ');
      const response = await fetch(new URL(path, base()), {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          // A machine that is busy takes its time to start an evidence server.
          ...(method === 'POST' && { 'content-type': 'application/json', prefer: 'wait=20' }),
        },
        ...(method === 'POST' && { body: JSON.stringify(args) }),
      });
      const body = (await response.json()) as { readonly [name: string]: unknown };
      const { title, status, receipt } = body;
      const { result } = (receipt ?? {}) as { readonly result?: unknown };
      const text = [title, result, status].find((said) => typeof said === 'string');
      return {
        isError: !response.ok,
        text: typeof text === 'string' ? text : `${response.status}`,
        fields: { ...body, http: response.status },
      };
    },
    close: () => Promise.resolve(),
  };
}
