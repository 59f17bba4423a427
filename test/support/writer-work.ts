/** What a writer does with its store, and what it says of it, in whatever process it runs. */
import type { Command } from '../../lib/core/model/commands.ts';
import type { Clock, Random } from '../../lib/core/ports/runtime.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService } from '../../lib/core/service/service.ts';
import { principal, testRegistry } from './harness.ts';
import type { WriterBeginning, WriterLine, WriterTask } from './writers.ts';

/** What a writer works with. */
export interface WriterParts {
  readonly store: StorageBackend;
  readonly clock: Clock;
  readonly random: Random;
  /** Microseconds by a clock that all writers share. */
  readonly now: () => number;
  readonly say: (line: WriterLine | WriterBeginning) => void;
}

/** Does the task to its end. */
export async function doWriterTask(task: WriterTask, parts: WriterParts): Promise<void> {
  const { store, clock, random, now, say } = parts;
  const registry = testRegistry();
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const service = createService({ store, registry, clock, random, secrets, sinks: ['log'] });
  const who = principal({ tenant: task.tenant, subject: `dev:${task.name}`, name: task.name });
  let calls = 0;

  const tell = async (asset: string, command: Command): Promise<string | undefined> => {
    const call = calls++;
    const { type, key = '' } = command;
    const workflow = 'workflow' in command ? command.workflow : undefined;
    const named = workflow === undefined ? {} : { workflow };
    say({ begins: call, asset, command: type, key, ...named, at: now() });
    const outcome = await service.execute(who, command, clock.now() + 20_000);
    const answer =
      outcome.code === 'OK'
        ? {
            duplicate: outcome.duplicate,
            workflow: outcome.receipt.workflow,
            seq: outcome.receipt.seq,
          }
        : {};
    say({ call, asset, command: type, code: outcome.code, ...answer, at: now() });
    return 'workflow' in answer ? answer.workflow : undefined;
  };

  const work = async (asset: string): Promise<void> => {
    const key = `${task.name} ${asset}`;
    const workflow = await tell(asset, { type: 'start_workflow', procedure: 'short', asset, key });
    if (task.mode === 'race' || workflow === undefined) return;
    const input = { kind: 'confirm', confirmed: true } as const;
    await tell(asset, { type: 'record_step', workflow, step: 'done', input, key: `${key} done` });
    await tell(asset, { type: 'complete_workflow', workflow, key: `${key} end` });
  };

  const lanes = task.lanes ?? 1;
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (const asset of task.assets.filter((_asset, i) => i % lanes === lane)) await work(asset);
    }),
  );
}
