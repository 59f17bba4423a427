// Opens the DynamoDB backend in a process that ends itself by SIGKILL shortly after a commit has left.
import { writeSync } from 'node:fs';
import { createDynamoClient } from '../../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../../lib/adapters/dynamodb/store.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import type { OpenStoreOptions } from './open-store.ts';

/** When the process ends. */
export interface KilledOptions extends OpenStoreOptions {
  /** Which commit it is, counted from 1. */
  readonly commit: number;
  readonly delayMs: number;
}

/** What the process says before its end, on standard error. */
export const UNANSWERED = 'killed before the answer';

interface Handler {
  handle(
    request: { readonly headers: Readonly<Record<string, string>> },
    options?: object,
  ): Promise<unknown>;
}

/** Opens a store on a table. */
export function openStore(options: KilledOptions): Promise<StorageBackend> {
  const { tableName, commit, delayMs } = options;
  const client = createDynamoClient(options.client);
  const handler = client.config.requestHandler as unknown as Handler;
  const handle = handler.handle.bind(handler);
  let sent = 0;
  handler.handle = async (request, more) => {
    const isCommit = request.headers['x-amz-target']?.endsWith('.TransactWriteItems') === true;
    if (!isCommit || ++sent !== commit) return handle(request, more);
    let answered = false;
    setTimeout(() => {
      writeSync(2, answered ? 'killed after the answer\n' : `${UNANSWERED}\n`);
      process.kill(process.pid, 'SIGKILL');
    }, delayMs);
    const answer = await handle(request, more);
    answered = true;
    return answer;
  };
  const parts = { client, tableName, clock: systemClock, random: systemRandom };
  return Promise.resolve(createDynamoStore(parts));
}
