// Whether this process can serve: its store answers, or it does not.
import type { StorageBackend } from '../core/ports/storage.ts';
import { problem } from './reply.ts';
import type { Log } from './request-line.ts';

/** What health looks at. */
export interface HealthParts {
  readonly store: Pick<StorageBackend, 'check'>;
  readonly serverVersion: string;
  readonly log: Log;
}

/** 200 while the store can be used, otherwise 503 with `Retry-After`. Tells nothing of the cause. */
export async function health({ store, serverVersion, log }: HealthParts): Promise<Response> {
  try {
    await store.check();
    return Response.json(
      { status: 'ok', version: serverVersion },
      { headers: { 'cache-control': 'no-store' } },
    );
  } catch (error) {
    log({ level: 'warn', msg: 'the store cannot be used', err: error });
    return problem(503, 'BACKEND_UNAVAILABLE', 'the store cannot be used now', {
      headers: { 'retry-after': '5' },
    });
  }
}
