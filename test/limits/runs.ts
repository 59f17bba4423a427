// Limits of runs: what they take in, and how often they are begun.
import { setImmediate } from 'node:timers/promises';
import { createWorkPool } from '../../lib/adapters/runtime/work-pool.ts';
import { LIMITS } from '../../lib/core/limits.ts';
import { decideCreate, creationKey } from '../../lib/core/runs/create.ts';
import { compileRunPlan } from '../../lib/core/runs/plan.ts';
import { decideResume } from '../../lib/core/runs/resume.ts';
import { decideWork, type WorkStep } from '../../lib/core/runs/work.ts';
import { canonicalJson } from '../../lib/core/canonical.ts';
import { START_MS } from '../support/harness.ts';
import { ACTION, observed, people, runOf } from '../support/runs.ts';
import { goes, type Case } from './case.ts';

const { ana } = people('acme');
const context = { principal: ana, now: START_MS, sinks: [] };
const creates = (service: string, symptom: string): boolean => {
  const command = { type: 'create_run', service, symptom } as const;
  const keyed = creationKey('secret', ana, command);
  return decideCreate(command, { ...context, keyed }, 'r').kind === 'commit';
};
const gathering = runOf('acme', { state: 'gathering' });
const observing = (text: string): WorkStep => {
  const { length: bytes } = Buffer.from(text);
  return { do: 'observe', observation: { ...observed('t', ''), text, bytes } };
};
const proposing = (filler: number) =>
  decideWork(
    gathering,
    1,
    { do: 'propose', action: { ...ACTION, arguments: { filler: 'x'.repeat(filler) } } },
    context,
  );
const actionBytes = (filler: number): number => {
  const decision = proposing(filler);
  const plan = decision.kind === 'commit' ? decision.plan : undefined;
  const state = plan?.aggregate.op === 'update' ? plan.aggregate.change.set : {};
  return Buffer.byteLength(canonicalJson(state.proposal?.action ?? {}));
};

const WORK = { tenant: 'acme', run: 'run-1', attempt: 1 };
/** A pool whose work never ends. */
const poolOf = () => {
  let begun = 0;
  const work = (): Promise<void> => {
    begun += 1;
    return new Promise(() => undefined);
  };
  return { pool: createWorkPool({ work, onError: () => undefined }), begun: () => begun };
};
const turn = (): Promise<void> => setImmediate();

/** The cases. */
export const RUNS = {
  serviceChars: (count) => creates('é'.repeat(count), 'slow'),
  symptomChars: (count) => creates('checkout', '🔧'.repeat(count)),
  observations: (count) => {
    const evidence = Array.from({ length: count - 1 }, () => 'd'.repeat(64));
    const run = { ...gathering, evidence };
    return decideWork(run, 1, observing('one more'), context).kind === 'commit';
  },
  observationBytes: (bytes) => {
    const decision = decideWork(gathering, 1, observing('x'.repeat(bytes)), context);
    return decision.kind === 'commit';
  },
  actionBytes: (bytes) => {
    const filler = bytes - actionBytes(0);
    return goes(() => {
      const decision = proposing(filler);
      if (decision.kind === 'commit') compileRunPlan(decision.plan);
    });
  },
  localExecutions: async (count) => {
    const { pool, begun } = poolOf();
    for (let n = 0; n < count; n++) await pool.start(`e${n}`, WORK, 0);
    await turn();
    return begun() === count;
  },
  waitingExecutions: async (count) => {
    const { pool } = poolOf();
    for (let n = 0; n < LIMITS.localExecutions.max; n++) await pool.start(`e${n}`, WORK, 0);
    await turn();
    const all = Array.from({ length: count }, (_, n) => pool.start(`w${n}`, WORK, 0));
    return Promise.all(all).then(
      () => true,
      () => false,
    );
  },
  endedExecutions: async (count) => {
    const pool = createWorkPool({ work: () => Promise.resolve(), onError: () => undefined });
    for (let n = 0; n < count; n++) {
      await pool.start(`e${n}`, WORK, 0);
      await turn();
    }
    return (await pool.describe('e0', 0)) === 'ended';
  },
  runAttempts: (count) => {
    const run = runOf('acme', { state: 'failed', attempt: count - 1 });
    return decideResume(run, context).kind === 'commit';
  },
} satisfies Record<string, Case>;
