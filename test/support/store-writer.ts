// A process that writes to a store: started by writers.ts, reports one line of JSON per answer.
import { once } from 'node:events';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService } from '../../lib/core/service/service.ts';
import { principal, testRegistry } from './harness.ts';
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
const service = createService({
  store,
  registry: testRegistry(),
  clock: systemClock,
  random: systemRandom,
  secrets: secretsOf('a secret of at least thirty-two characters'),
  sinks: ['log'],
});
const who = principal({ tenant: task.tenant, subject: `dev:${task.name}`, name: task.name });

/** Microseconds by the clock that all processes of a machine share. */
const now = (): number => Number(process.hrtime.bigint() / 1000n);
let calls = 0;

const say = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

async function tell(asset: string, command: Command): Promise<string | undefined> {
  const call = calls++;
  const { type, key = '' } = command;
  const workflow = 'workflow' in command ? command.workflow : undefined;
  say({ begins: call, asset, command: type, key, workflow, at: now() });
  const outcome = await service.execute(who, command, Date.now() + 20_000);
  const answer =
    outcome.code === 'OK'
      ? {
          duplicate: outcome.duplicate,
          workflow: outcome.receipt.workflow,
          seq: outcome.receipt.seq,
        }
      : {};
  say({ call, asset, command: type, code: outcome.code, ...answer, at: now() });
  return answer.workflow;
}

async function work(asset: string): Promise<void> {
  const key = `${task.name} ${asset}`;
  const workflow = await tell(asset, { type: 'start_workflow', procedure: 'short', asset, key });
  if (task.mode === 'race' || workflow === undefined) return;
  const input = { kind: 'confirm', confirmed: true } as const;
  await tell(asset, { type: 'record_step', workflow, step: 'done', input, key: `${key} done` });
  await tell(asset, { type: 'complete_workflow', workflow, key: `${key} end` });
}

process.stdout.write('ready\n');
await once(process.stdin, 'data');
const lanes = task.lanes ?? 1;
await Promise.all(
  Array.from({ length: lanes }, async (_, lane) => {
    for (const asset of task.assets.filter((_asset, i) => i % lanes === lane)) await work(asset);
  }),
);
await store.close();
