/** Runs for tests: a service over a store, people, and runs brought to a state by its own commands. */
import { observationOf, type Observation } from '../../lib/core/evidence/observation.ts';
import { LIMITS } from '../../lib/core/limits.ts';
import { runIdFrom } from '../../lib/core/model/aggregate.ts';
import type { Action, Proposal, Run } from '../../lib/core/model/run.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { actionHash } from '../../lib/core/runs/action.ts';
import type { RunCommand } from '../../lib/core/runs/commands.ts';
import type { RunCommitted, RunOutcome, StepOutcome } from '../../lib/core/runs/outcome.ts';
import { createRunService, type RunServiceParts } from '../../lib/core/runs/service.ts';
import type { WorkStep } from '../../lib/core/runs/work.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { principal, START_MS, testRandom, type TestClock } from './harness.ts';

/** People of a tenant: who asks, and two who decide. */
export const people = (tenant: string) => ({
  ana: principal({ tenant, via: 'rest', scopes: ['runs:create'] }),
  cara: principal({
    tenant,
    via: 'rest',
    subject: 'dev:cara',
    name: 'Cara',
    scopes: ['approvals:decide', 'runs:create'],
  }),
  dan: principal({
    tenant,
    via: 'rest',
    subject: 'dev:dan',
    name: 'Dan',
    scopes: ['approvals:decide'],
  }),
});

/** An action as a planner proposes it. */
export const ACTION = {
  type: 'ticket.create',
  target: 'payments',
  arguments: { summary: 'Checkout fails', severity: 'high' },
  policy_version: 'incident-tickets@1',
} as const;

const proposedAction: Action = {
  ...ACTION,
  evidence: [],
  idempotency_key: 'k1',
  requester: 'dev:ana',
  expires_at: new Date(START_MS + 3_600_000).toISOString(),
  not_after: new Date(START_MS + 4_500_000).toISOString(),
};

/** The action as it is proposed an hour before it expires. */
export const PROPOSAL: Proposal = {
  action: proposedAction,
  action_hash: actionHash(proposedAction),
  seq: 4,
  at: new Date(START_MS).toISOString(),
};

/** What a tool answered, as the gathering makes it. */
export function observed(tool: string, text: string): Observation {
  const args = { service: 'checkout' };
  const called = { server: 'bundled', tool, arguments: args, definition: 'd', is_error: false };
  return observationOf(called, text, LIMITS.observationBytes.max);
}

let seeds = 0;

/** Runs on a store. */
export function runWorld(
  store: StorageBackend,
  clock: TestClock,
  tenant: string,
  part: Partial<RunServiceParts> = {},
) {
  const random = testRandom(`runs ${seeds++}`);
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const service = createRunService({ store, clock, random, secrets, sinks: ['log'], ...part });
  const { ana, cara, dan } = people(tenant);
  const execute = (who: typeof ana, command: RunCommand): Promise<RunOutcome> =>
    service.execute(who, command, clock.now() + 10_000);
  const ok = async (who: typeof ana, command: RunCommand): Promise<RunCommitted> => {
    const outcome = await execute(who, command);
    if (outcome.code !== 'OK') throw new Error(`refused: ${JSON.stringify(outcome)}`);
    return outcome;
  };
  const step = (run: Run, what: WorkStep, attempt = run.attempt): Promise<StepOutcome> =>
    service.advance({ tenant, run: run.id, attempt }, what, clock.now() + 10_000);
  const steps = async (run: Run, ...all: readonly WorkStep[]): Promise<Run> => {
    let now = run;
    for (const one of all) {
      const outcome = await step(now, one);
      if (outcome.code !== 'OK') throw new Error(`refused: ${JSON.stringify(outcome)}`);
      now = outcome.run;
    }
    return now;
  };
  const created = async (symptom = 'payments time out'): Promise<Run> =>
    (await ok(ana, { type: 'create_run', service: 'checkout', symptom })).run;
  const gathering = async (symptom?: string): Promise<Run> =>
    steps(await created(symptom), { do: 'begin' });
  const observation: WorkStep = {
    do: 'observe',
    observation: observed('service_status', 'checkout: degraded'),
  };
  const proposed = async (symptom?: string): Promise<Run> =>
    steps(await gathering(symptom), observation, { do: 'propose', action: ACTION });
  const decide = (run: Run, approved: boolean, key?: string): RunCommand => ({
    type: 'decide_approval',
    run: run.id,
    approved,
    action_hash: run.proposal?.action_hash ?? '',
    ...(key !== undefined && { key }),
  });
  const approved = async (symptom?: string): Promise<Run> => {
    const run = await proposed(symptom);
    return (await ok(cara, decide(run, true))).run;
  };
  const written = async (symptom?: string): Promise<Run> =>
    steps(
      await approved(symptom),
      { do: 'intend', provider: 'builtin' },
      { do: 'written', provider: 'builtin', reference: 'T-1' },
    );
  const read = async (id: string): Promise<Run> => {
    const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    return run;
  };
  const made = { created, gathering, proposed, approved, written };
  return { service, ana, cara, dan, execute, ok, step, steps, decide, read, observation, ...made };
}

/** A run as it is stored when it has just been created, built without a store; `part` replaces attributes. */
export function runOf(tenant: string, part: Partial<Run> = {}): Run {
  const at = new Date(START_MS).toISOString();
  return {
    format: 1,
    tenant,
    id: runIdFrom('1'),
    version: 1,
    state: 'created',
    service: 'checkout',
    symptom: 'payments time out',
    requester: { subject: 'dev:ana', name: 'Ana' },
    people: ['dev:ana'],
    attempt: 1,
    observations: 0,
    evidence: [],
    head_seq: 1,
    head_hash: 'a'.repeat(64),
    created_at: at,
    updated_at: at,
    work_by: START_MS + 300_000,
    due_at: START_MS + 300_000,
    ...part,
  };
}
