import { describe, expect, it } from '@jest/globals';
import type { Run } from '../../../lib/core/model/run.ts';
import { RUN_STATES, WORKING } from '../../../lib/core/model/run.ts';
import type { RunWork } from '../../../lib/core/ports/orchestrator.ts';
import { DeliveryError } from '../../../lib/core/ports/sink.ts';
import { executionName, starter, takeUp } from '../../../lib/core/runs/execution.ts';
import { RUN } from '../../../lib/core/runs/timing.ts';
import { runOf } from '../../support/runs.ts';

const NAME = /^[A-Za-z0-9-]{1,80}$/u;

describe('the name of an execution', () => {
  it.each([
    { tenant: 'acme', run: 'run-1', attempt: 1 },
    { tenant: 'a#b', run: 'run-#/%\u0000', attempt: Number.MAX_SAFE_INTEGER },
    { tenant: 't'.repeat(64), run: `run-${'é'.repeat(200)}`, attempt: 20 },
  ])('has at most 80 plain characters: %j', (work) => {
    expect(executionName(work)).toMatch(NAME);
    expect(executionName({ ...work })).toBe(executionName(work));
  });

  it('is another one for every tenant, run and attempt', () => {
    const works: RunWork[] = [
      { tenant: 'a', run: 'run-b', attempt: 1 },
      { tenant: 'a', run: 'run-b', attempt: 2 },
      { tenant: 'a', run: 'run-c', attempt: 1 },
      { tenant: 'arun-', run: 'b', attempt: 1 },
      { tenant: '', run: 'arun-b', attempt: 1 },
    ];
    expect(new Set(works.map(executionName)).size).toBe(works.length);
  });
});

describe('the lane of starts', () => {
  const deliver = async (run: Run | undefined, payload: Record<string, string | number>) => {
    const started: string[] = [];
    const target = starter(
      { snapshot: () => Promise.resolve([run] as never) },
      {
        start: (name) => {
          started.push(name);
          return Promise.resolve();
        },
        describe: () => Promise.reject(new Error('nobody asks')),
      },
    );
    await target.deliver({ id: 'o1', tenant: 'acme', payload }, 0);
    return started;
  };
  const row = (attempt: number) => ({ kind: 'run', run: 'run-1', attempt });

  it.each(RUN_STATES)('starts what works, and nothing else: %s', async (state) => {
    const started = await deliver(runOf('acme', { state, attempt: 2 }), row(2));
    expect(started).toHaveLength(WORKING.has(state) ? 1 : 0);
  });

  it.each([1, 3])('starts nothing for another attempt than the run’s: %i', async (attempt) => {
    expect(await deliver(runOf('acme', { attempt: 2 }), row(attempt))).toEqual([]);
  });

  it('starts nothing for a run that is gone', async () => {
    expect(await deliver(undefined, row(1))).toEqual([]);
  });

  it('leaves a run that is frozen in its lane', async () => {
    const frozen = { at: '2026-03-01T09:00:00.000Z', what: 'planted' };
    await expect(deliver(runOf('acme', { frozen }), row(1))).rejects.toMatchObject({
      kind: 'retryable',
    });
  });

  it('parks a row that names no run', async () => {
    await expect(deliver(runOf('acme'), { kind: 'run' })).rejects.toMatchObject({
      kind: 'terminal',
    });
  });
});

describe('work that a process has left', () => {
  const START = Date.parse('2026-03-01T09:00:00.000Z');
  const due = (id: string) => ({
    key: { kind: 'run', tenant: 'acme', id } as const,
    due_at: START,
  });
  const taken = async (runs: readonly Run[], start?: () => Promise<void>, goOn = () => true) => {
    const started: string[] = [];
    const asked: number[] = [];
    const store = {
      shards: () => Promise.resolve(2),
      // One on each page, and nothing in the other shard.
      listDue: (shard: number, { until, after }: { until: number; after?: string }) => {
        asked.push(until);
        const at = Number(after ?? 0);
        const run = shard === 0 ? runs[at] : undefined;
        const next = at + 1 < runs.length && shard === 0 ? { next: String(at + 1) } : {};
        return Promise.resolve({ items: run === undefined ? [] : [due(run.id)], ...next });
      },
      snapshot: ([key]: readonly { readonly id: string }[]) =>
        Promise.resolve([runs.find(({ id }) => id === key?.id)]),
    };
    const begin = (name: string): Promise<void> => {
      started.push(name);
      return start?.() ?? Promise.resolve();
    };
    const clock = { now: () => START };
    const count = await takeUp(store as never, { start: begin }, clock, goOn);
    return { count, started, asked };
  };

  it.each(RUN_STATES)('is begun again under its name, and nothing else is: %s', async (state) => {
    const run = runOf('acme', { state, attempt: 3 });
    const { count, started, asked } = await taken([run]);
    const name = executionName({ tenant: 'acme', run: run.id, attempt: 3 });
    expect([count, started]).toEqual(WORKING.has(state) ? [1, [name]] : [0, []]);
    // Work that was begun a moment ago is due within the time that work may take.
    expect(new Set(asked)).toEqual(new Set([START + RUN.workMs]));
  });

  it('is found on every page, frozen runs excepted', async () => {
    const runs = ['run-1', 'run-2', 'run-3'].map((id) => runOf('acme', { id }));
    const frozen = runOf('acme', { id: 'run-4', frozen: { at: '', what: 'broken' } });
    expect((await taken([...runs, frozen])).count).toBe(3);
  });

  it('is left to the reconciler where it cannot be begun', async () => {
    const runs = ['run-1', 'run-2'].map((id) => runOf('acme', { id }));
    const full = (): Promise<void> => Promise.reject(new DeliveryError('retryable', 'full'));
    const { count, started } = await taken(runs, full);
    expect([count, started.length]).toEqual([0, 2]);
    const broken = (): Promise<void> => Promise.reject(new Error('a fault of ours'));
    await expect(taken(runs, broken)).rejects.toThrow('a fault of ours');
  });

  it('is not begun by a process that is ending', async () => {
    expect((await taken([runOf('acme')], undefined, () => false)).started).toEqual([]);
  });
});
