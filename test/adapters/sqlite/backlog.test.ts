import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { systemRandom } from '../../../lib/adapters/runtime/system.ts';
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { rowKey } from '../../../lib/core/dispatch/row.ts';
import type { Message } from '../../../lib/core/ports/sink.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { create } from '../../contract/storage/bench.ts';
import { testClock, testRegistry } from '../../support/harness.ts';
import { outboxOf } from '../../support/plans.ts';
import { sqliteFiles } from '../../support/sqlite-files.ts';

const ROWS = 10_000;
const MOST_GROWTH_MIB = 16;

test('ten thousand due rows are drained in order, each once, and memory does not grow with them', async () => {
  const files = sqliteFiles();
  try {
    const store = await files.open();
    const clock = testClock();
    for (let from = 0; from < ROWS; from += 100) {
      const writes = Array.from({ length: 100 }, (_, n) => {
        const id = `w${(from + n) % 1_000}`;
        const head_seq = from + n + 1;
        const payload = { kind: 'block', workflow: id, head_seq, note: 'x'.repeat(500) };
        const names = { tenant: 'plant', id };
        const row = outboxOf(names, { seq: from + n + 1, payload, due_at: clock.now() });
        return create(rowKey(row), row);
      });
      await store.commit({ writes }, clock.now() + 9_000);
    }
    // What is left after a collection says more than what happens to lie around.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapMiB = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1_048_576;
    };
    const heapAt = new Map<number, number>([[0, heapMiB()]]);
    const last = new Map<string, number>();
    let delivered = 0;
    let disordered = 0;
    const sink = {
      name: 'log',
      deliver: ({ payload }: Pick<Message, 'payload'>) => {
        delivered += 1;
        const { workflow, head_seq } = payload as { workflow: string; head_seq: number };
        if ((last.get(workflow) ?? 0) >= head_seq) disordered += 1;
        last.set(workflow, head_seq);
        if (delivered === ROWS / 10 || delivered === ROWS) heapAt.set(delivered, heapMiB());
        return Promise.resolve();
      },
    };
    const random = systemRandom;
    const dispatcher = createDispatcher({ store, clock, random, sinks: [sink] });
    const parts = { store, clock, random, dispatcher, registry: testRegistry(), sinks: ['log'] };
    const begun = performance.now();
    const report = await createSweeper(parts).sweep(0, { goOn: () => true });
    const ms = Math.round(performance.now() - begun);
    const heap = (rows: number): number => heapAt.get(rows) ?? Number.NaN;
    const told = [...heapAt].map(([rows, mib]) => `${mib.toFixed(1)} MiB at ${rows}`);
    process.stdout.write(`${ROWS} due rows: ${ms} ms; heap ${told.join(', ')}\n`);
    expect(report).toMatchObject({ end: 'done', delivered: { delivered: ROWS, failed: 0 } });
    expect([delivered, disordered]).toEqual([ROWS, 0]);
    expect(await store.listTenantOutbox('plant', 1)).toEqual([]);
    expect(heap(ROWS) - heap(ROWS / 10)).toBeLessThan(MOST_GROWTH_MIB);
    await store.close();
  } finally {
    await files.remove();
  }
}, 120_000);
