// A process with one store: started by sqlite-children.ts.
// `start NAME` starts a workflow, `read NAME` tells its state, `check` checks the store,
// `die NAME` kills the process in the middle of the transaction that would start the workflow.
import { createInterface } from 'node:readline';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { applyTransaction } from '../../lib/adapters/sqlite/commit.ts';
import { openDatabase } from '../../lib/adapters/sqlite/database.ts';
import { storeOn } from '../../lib/adapters/sqlite/store.ts';
import { isFault } from '../../lib/core/fault.ts';
import { startTransaction } from './plans.ts';
import type { ChildTask } from './sqlite-children.ts';

const task = JSON.parse(process.argv[2] ?? '') as ChildTask;
if (task.unprivileged === true && process.getuid?.() === 0) {
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}

const told = async (work: () => Promise<string>): Promise<void> => {
  const answer = await work().catch((error: unknown) =>
    isFault(error) ? `${error.kind} ${error.code}` : String(error),
  );
  process.stdout.write(`${answer}\n`);
};

const opening = openDatabase({
  path: task.path,
  lockTimeoutMs: task.lockTimeoutMs ?? 10_000,
  clock: systemClock,
  random: systemRandom,
  readOnly: false,
});
await told(async () => {
  await opening;
  return 'open';
});
const database = await opening.catch(() => process.exit(1));
const store = storeOn(database, false);

const obey = async (line: string): Promise<string> => {
  const [order = '', name = ''] = line.split(' ');
  const transaction = startTransaction({ tenant: 'acme', id: name, asset: name });
  const deadline = Date.now() + 30_000;
  if (order === 'start') return JSON.stringify(await store.commit(transaction, deadline));
  if (order === 'check') return store.check().then(() => 'usable');
  if (order === 'read') {
    const [item] = await store.snapshot([{ kind: 'workflow', tenant: 'acme', id: name }]);
    return item?.state ?? 'none';
  }
  return database.write(deadline, (connection) => {
    applyTransaction(connection, transaction);
    process.kill(process.pid, 'SIGKILL');
    return { keep: true, value: 'alive' };
  });
};

for await (const line of createInterface({ input: process.stdin })) await told(() => obey(line));
await store.close();
