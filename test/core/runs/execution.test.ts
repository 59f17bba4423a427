import { describe, expect, it } from '@jest/globals';
import type { Run } from '../../../lib/core/model/run.ts';
import { RUN_STATES, WORKING } from '../../../lib/core/model/run.ts';
import type { RunWork } from '../../../lib/core/ports/orchestrator.ts';
import { executionName, starter } from '../../../lib/core/runs/execution.ts';
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
