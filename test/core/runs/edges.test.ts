// The run machine: every edge there is, and every other one refused, wherever it is tried.
import { describe, expect, it } from '@jest/globals';
import { RUN_EDGES, RUN_STATES, type RunState } from '../../../lib/core/model/run.ts';
import { changed } from '../../../lib/core/runs/change.ts';
import { compileRunPlan } from '../../../lib/core/runs/plan.ts';
import { decideWork, type WorkStep } from '../../../lib/core/runs/work.ts';
import { principal, START_MS } from '../../support/harness.ts';
import { ACTION, observed, PROPOSAL, runOf } from '../../support/runs.ts';

const EDGES = [
  'created > gathering',
  'created > failed',
  'gathering > awaiting_approval',
  'gathering > failed',
  'awaiting_approval > executing',
  'awaiting_approval > cancelled',
  'awaiting_approval > failed',
  'executing > verifying',
  'executing > failed',
  'verifying > completed',
  'verifying > failed',
  'failed > gathering',
  'failed > executing',
];
const context = { principal: principal(), now: START_MS, sinks: [] };

describe('the edges of a run', () => {
  it('are these', () => {
    const all = Object.entries(RUN_EDGES).flatMap(([from, to]) => to.map((t) => `${from} > ${t}`));
    expect(all).toEqual(EDGES);
  });

  const pairs = RUN_STATES.flatMap((from) => RUN_STATES.map((to) => [from, to] as const));
  it.each(pairs.filter(([from, to]) => from !== to))('%s > %s', (from, to) => {
    const change = () => ({ set: { state: to } });
    const run = runOf('acme', { state: from, proposal: PROPOSAL });
    const { plan } = changed(run, context, { type: 'work_restarted', data: {}, change });
    if (EDGES.includes(`${from} > ${to}`)) expect(compileRunPlan(plan).writes).toHaveLength(2);
    else expect(() => compileRunPlan(plan)).toThrow(`from ${from} to ${to}`);
  });
});

const STEPS: { readonly [D in WorkStep['do']]: WorkStep & { readonly do: D } } = {
  begin: { do: 'begin' },
  observe: { do: 'observe', observation: observed('t', 'x') },
  propose: { do: 'propose', action: ACTION },
  intend: { do: 'intend', provider: 'builtin' },
  written: { do: 'written', provider: 'builtin', reference: 'T-1' },
  verified: { do: 'verified', provider: 'builtin', reference: 'T-1' },
  fail: { do: 'fail', reason: 'EVIDENCE_FAILED', message: 'm' },
};
const TAKEN: { readonly [S in RunState]: readonly WorkStep['do'][] } = {
  created: ['begin', 'fail'],
  gathering: ['begin', 'observe', 'propose', 'fail'],
  awaiting_approval: [],
  // Without an approval even the intent of a write is refused.
  executing: ['written', 'fail'],
  verifying: ['verified', 'fail'],
  completed: [],
  failed: [],
  cancelled: [],
};

describe('the steps of a worker', () => {
  it.each(RUN_STATES)('in state %s', (state) => {
    const taken = Object.values(STEPS).filter(
      (step) => decideWork(runOf('acme', { state }), 1, step, context).kind === 'commit',
    );
    expect(taken.map((step) => step.do)).toEqual(TAKEN[state]);
  });

  it.each(Object.values(STEPS))('of another attempt do nothing: $do', (step) => {
    for (const state of RUN_STATES) {
      for (const attempt of [0, 1, 3]) {
        const decision = decideWork(runOf('acme', { state, attempt: 2 }), attempt, step, context);
        expect(decision).toMatchObject({ kind: 'refuse', outcome: { code: 'STALE_ATTEMPT' } });
      }
    }
  });
});
