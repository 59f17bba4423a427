// A process that writes to a store: started by writers.ts, reports one line of JSON per answer.
import { once } from 'node:events';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { doWriterTask } from './writer-work.ts';
import type { StoreOpener, WriterTask } from './writers.ts';

interface Opener {
  readonly openStore: (options: unknown) => Promise<StorageBackend>;
}

const { opener, task } = JSON.parse(process.argv[2] ?? '') as {
  readonly opener: StoreOpener;
  readonly task: WriterTask;
};
const { openStore } = (await import(opener.module)) as Opener;
const store = await openStore(opener.options);

process.stdout.write('ready\n');
await once(process.stdin, 'data');
await doWriterTask(task, {
  store,
  clock: systemClock,
  random: systemRandom,
  // Microseconds by the clock that all processes of a machine share.
  now: () => Number(process.hrtime.bigint() / 1000n),
  say: (line) => {
    process.stdout.write(`${JSON.stringify(line)}\n`);
  },
});
await store.close();
