import { expect, test } from '@jest/globals';
import { RUN_EDGES, RUN_STATES, type Run, type RunState } from '../../../lib/core/model/run.ts';
import { ACTION, runWorld } from '../../support/runs.ts';
import type { Bench, UseBench } from './bench.ts';

/** What can be tried on a run: the steps of its worker, and the commands of people. */
const TRIES = [
  'begin',
  'observe',
  'propose',
  'intend',
  'written',
  'verified',
  'fail',
  'approve',
  'deny',
  'resume',
] as const;
type Try = (typeof TRIES)[number];

/** What changes something in each state; everything else is refused, or is a repeat. */
const TAKEN: { readonly [S in RunState]: readonly Try[] } = {
  created: ['begin', 'fail'],
  gathering: ['begin', 'observe', 'propose', 'fail'],
  awaiting_approval: ['approve', 'deny'],
  executing: ['intend', 'written', 'fail'],
  verifying: ['verified', 'fail'],
  completed: [],
  failed: ['resume'],
  cancelled: [],
};

const EDGES: readonly (readonly [from: RunState, tried: Try, to: RunState])[] = [
  ['created', 'begin', 'gathering'],
  ['created', 'fail', 'failed'],
  ['gathering', 'propose', 'awaiting_approval'],
  ['gathering', 'fail', 'failed'],
  ['awaiting_approval', 'approve', 'executing'],
  ['awaiting_approval', 'deny', 'cancelled'],
  ['executing', 'written', 'verifying'],
  ['executing', 'fail', 'failed'],
  ['verifying', 'verified', 'completed'],
  ['verifying', 'fail', 'failed'],
  ['failed', 'resume', 'executing'],
];

/** Every state of a run, and whatever can be tried in it. */
export function runEdgeCases(use: UseBench): void {
  const worldOf = ({ store, clock, tenant }: Bench) => {
    const world = runWorld(store, clock, tenant);
    const { cara, dan, decide, execute, observation, ok, step, steps } = world;
    const at = { provider: 'builtin', reference: 'T-1' } as const;
    const fail = { do: 'fail', reason: 'WRITE_REFUSED', message: 'm' } as const;
    const made: { readonly [S in RunState]: () => Promise<Run> } = {
      created: () => world.created(),
      gathering: () => world.gathering(),
      awaiting_approval: () => world.proposed(),
      executing: () => world.approved(),
      verifying: () => world.written(),
      completed: async () => steps(await world.written(), { do: 'verified', ...at }),
      failed: async () => steps(await world.approved(), fail),
      cancelled: async () => (await ok(cara, decide(await world.proposed(), false))).run,
    };
    const tried: { readonly [T in Try]: (run: Run) => Promise<{ readonly code: string }> } = {
      begin: (run) => step(run, { do: 'begin' }),
      observe: (run) => step(run, observation),
      propose: (run) => step(run, { do: 'propose', action: ACTION }),
      intend: (run) => step(run, { do: 'intend', provider: 'builtin' }),
      written: (run) => step(run, { do: 'written', ...at }),
      verified: (run) => step(run, { do: 'verified', ...at }),
      fail: (run) => step(run, fail),
      approve: (run) => execute(dan, decided(run, true)),
      deny: (run) => execute(dan, decided(run, false)),
      resume: (run) => execute(world.ana, { type: 'resume_run', run: run.id }),
    };
    // Where nothing is proposed yet there is no digest; any full one stands for it.
    const decided = (run: Run, approved: boolean) => ({
      type: 'decide_approval' as const,
      run: run.id,
      approved,
      action_hash: run.proposal?.action_hash ?? 'a'.repeat(64),
    });
    return { ...world, made, tried };
  };

  /** All that is stored of a run, and of what it would write. */
  const stored = async ({ store, tenant }: Bench, { id, proposal }: Run) => {
    const key = proposal?.action.idempotency_key ?? 'none';
    return {
      items: await store.snapshot([
        { kind: 'run', tenant, id },
        { kind: 'ticket', tenant, key },
      ]),
      events: await store.listEvents(tenant, id, { after: 0, limit: 100 }),
      evidence: await store.listEvidence(tenant, id, { after: 0, limit: 100 }),
      outbox: await store.listOutbox(tenant, id, 100),
    };
  };

  test.each(RUN_STATES)(
    'in state %s whatever is not a step of it is refused, or is a repeat, and writes nothing',
    async (state) => {
      const bench = use();
      const { made, tried } = worldOf(bench);
      const run = await made[state]();
      expect(run.state).toBe(state);
      const before = await stored(bench, run);
      for (const what of TRIES.filter((one) => !TAKEN[state].includes(one))) {
        const outcome = await tried[what](run);
        expect([what, outcome]).toEqual([
          what,
          expect.objectContaining(
            outcome.code === 'OK'
              ? { duplicate: true }
              : { code: expect.stringMatching(/^(?:WRONG_STATE|ALREADY_DECIDED)$/u) },
          ),
        ]);
        expect([what, await stored(bench, run)]).toEqual([what, before]);
      }
    },
  );

  test.each(RUN_STATES)('in state %s every step of it is one event', async (state) => {
    for (const what of TAKEN[state]) {
      const bench = use();
      const { made, tried, read } = worldOf(bench);
      // The same incident attaches for ten minutes, so each gets a time of its own.
      bench.clock.advance(3_600_000);
      const run = await made[state]();
      expect([what, (await tried[what](run)).code]).toEqual([what, 'OK']);
      const after = await read(run.id);
      const edge = EDGES.find(([from, by]) => from === state && by === what);
      expect([what, after.state, after.head_seq]).toEqual([
        what,
        edge?.[2] ?? state,
        run.head_seq + 1,
      ]);
    }
  });

  test('a run that failed before its approval is resumed into gathering', async () => {
    const { created, steps, tried } = worldOf(use());
    const run = await steps(await created(), {
      do: 'fail',
      reason: 'EVIDENCE_FAILED',
      message: 'm',
    });
    expect(await tried.resume(run)).toMatchObject({ code: 'OK', run: { state: 'gathering' } });
  });

  test('there is no other edge, but for what the reconciler does to a proposal that was changed', () => {
    const all = RUN_STATES.flatMap((from) => RUN_EDGES[from].map((to) => `${from} > ${to}`));
    const here = EDGES.map(([from, , to]) => `${from} > ${to}`);
    expect(all.toSorted()).toEqual(
      [...here, 'failed > gathering', 'awaiting_approval > failed'].toSorted(),
    );
  });
}
