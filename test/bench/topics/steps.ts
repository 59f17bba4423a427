// What one person waits for: three steps in a row, a repeat of one, and the start and completion around
// them. One caller, nothing else going on.
import { join } from 'node:path';
import { complete, person, start, threeSteps } from '../support/domain.ts';
import { median, ms, spread, timed, times } from '../support/measure.ts';
import { openRaw, recording, type RowWrite } from '../support/raw-engine.ts';
import { openStore, serviceOn, withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

/** Measures workflows one after the other; the bare engine writes the same rows in turn. */
export const steps: Topic = (size, note) =>
  withFolder(async (folder) => {
    const workflows = size === 'quick' ? 150 : 1_000;
    note(`${workflows} workflows`);
    const store = await openStore(join(folder, 'service.sqlite'));
    const service = serviceOn(store);
    const rows: (readonly RowWrite[])[] = [];
    const recorder = await openStore(join(folder, 'recorded.sqlite'));
    const recorded = serviceOn(recording(recorder, rows));
    const raw = await openRaw(join(folder, 'raw.sqlite'));
    const names = [
      'start',
      'three steps',
      'one step',
      'repeat with its key',
      'repeat without a key',
      'completion',
      'whole workflow: start, three steps, completion',
      'bare engine: the rows of three steps',
    ] as const;
    const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as {
      readonly [N in (typeof names)[number]]: number[];
    };
    const warmUp = 50;
    for (let i = 0; i < workflows + warmUp; i++) {
      if (i === warmUp) for (const name of names) samples[name].length = 0;
      const who = person('tenant', `worker-${i % 50}`);
      await timed(samples['whole workflow: start, three steps, completion'], async () => {
        const started = await timed(samples['start'], () => service.ok(who, start(`VALVE-${i}`)));
        const { workflow } = started.receipt;
        await timed(samples['three steps'], async () => {
          for (const step of threeSteps(workflow)) {
            await timed(samples['one step'], () => service.ok(who, step));
          }
        });
        await timed(samples['completion'], () => service.ok(who, complete(workflow)));
      });
      const again = await service.ok(who, start(`VALVE-${100_000 + i}`));
      const [step] = threeSteps(again.receipt.workflow);
      if (step === undefined) throw new Error('there are three steps');
      await service.ok(who, step);
      const keyed = await timed(samples['repeat with its key'], () => service.ok(who, step));
      const { key: _key, ...bare } = step;
      const told = await timed(samples['repeat without a key'], () => service.ok(who, bare));
      if (!keyed.duplicate || !told.duplicate) throw new Error('a repeat took effect');

      const same = await recorded.ok(who, start(`VALVE-${i}`));
      for (const next of threeSteps(same.receipt.workflow)) await recorded.ok(who, next);
      const [begun = [], ...three] = rows.splice(0);
      raw.write(begun);
      await timed(samples['bare engine: the rows of three steps'], () => {
        for (const transaction of three) raw.write(transaction);
        return Promise.resolve();
      });
    }
    await store.close();
    await recorder.close();
    raw.close();

    const ratio =
      median(samples['bare engine: the rows of three steps']) / median(samples['three steps']);
    return {
      title: 'Three steps and a repeat',
      head: ['one caller, synchronous=FULL', 'p50', 'p99'],
      rows: names.map((name) => {
        const { p50, p99 } = spread(samples[name]);
        return [name, ms(p50), ms(p99)];
      }),
      targets: [
        {
          name: 'three steps: rate of the service to the bare engine’s',
          measured: times(ratio),
          target: 'at least 0.50×',
          met: ratio >= 0.5,
        },
      ],
    };
  });
