// What runs in the scenarios: the real service, dispatcher, reconciler and worker, over ports whose every
// call is a step of the search.
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { Principal, Scope } from '../../lib/core/model/principal.ts';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { Lane } from '../../lib/core/dispatch/row.ts';
import type { NotificationSink } from '../../lib/core/ports/sink.ts';
import type { Outcome } from '../../lib/core/outcome.ts';
import type { Clock } from '../../lib/core/ports/runtime.ts';
import { starter } from '../../lib/core/runs/execution.ts';
import type { Orchestrator } from '../../lib/core/ports/orchestrator.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import type { TicketProvider } from '../../lib/core/ports/tickets.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { releaseLock } from '../../lib/core/release-lock.ts';
import type { RunCommand } from '../../lib/core/runs/commands.ts';
import { createRunService } from '../../lib/core/runs/service.ts';
import { createWorker } from '../../lib/core/runs/worker.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService, type Service } from '../../lib/core/service/service.ts';
import { principal } from '../support/harness.ts';
import { registryOf } from '../support/pure-world.ts';
import type { Ports, Program } from './replay.ts';

/** The tenant of everybody but one. */
export const TENANT = 'acme';
/** How long a command has; longer than every wait in between, shorter than one step of time. */
const COMMAND_MS = 10_000;
const SINKS = ['log'];
const secrets = secretsOf('a secret of at least thirty-two characters');

/** One step whose denial blocks, another one, and a reminder. */
const round: ProcedureInput = {
  id: 'round',
  version: 1,
  title: 'Round',
  description: 'Two questions.',
  asset: { type: 'unit', pattern: 'U-[0-9]', example: 'U-1' },
  steps: [
    {
      id: 'ready',
      kind: 'confirm',
      title: 'Ready',
      instruction: 'Say whether it is ready.',
      on_deviation: 'block',
    },
  ],
  reminder: { idle_minutes: 10, times: 1 },
  escalation: [
    { on: 'block', notify: 'supervisor' },
    { on: 'reminder', notify: 'operator' },
  ],
};
/** The same, whose block proposes to go on within the hour. */
const watched: ProcedureInput = {
  ...round,
  id: 'watched',
  approval: { on: ['deviation'], expires_minutes: 60, notify: 'approver' },
};
const registry = registryOf({ domain: 'rounds', procedures: [round, watched] });

const somebody = (name: string, scopes: readonly Scope[], tenant = TENANT): Principal =>
  principal({ tenant, subject: `dev:${name}`, name, scopes, via: 'rest' });

/** Two operators, a supervisor, two who decide on runs, one who keeps things going, and a stranger. */
export const PEOPLE = {
  ana: somebody('ana', ['procedures:run', 'runs:create']),
  ben: somebody('ben', ['procedures:run']),
  sol: somebody('sol', ['procedures:run', 'procedures:supervise']),
  cara: somebody('cara', ['approvals:decide']),
  dan: somebody('dan', ['approvals:decide']),
  olga: somebody('olga', ['ops:admin']),
  eve: somebody('eve', ['procedures:run', 'procedures:supervise'], 'other'),
} as const;

/** Somebody's name. */
export type Who = keyof typeof PEOPLE;

const storeOf = (ports: Ports): StorageBackend => ports.port<StorageBackend>('store');

/** The service of one process. */
export const serviceOn = (ports: Ports): Service => {
  const { clock, random } = ports;
  const parts = { store: storeOf(ports), registry, clock, random, secrets, sinks: SINKS };
  return createService(parts);
};

/** Says a command to a service; a question whether it is meant is answered with yes. */
export async function said(
  service: Service,
  who: Who,
  command: Command,
  clock: Pick<Clock, 'now'>,
): Promise<Outcome> {
  const say = (words: Command) => service.execute(PEOPLE[who], words, clock.now() + COMMAND_MS);
  const outcome = await say(command);
  if (outcome.code !== 'NEEDS_CONFIRMATION' || command.type !== 'record_step') return outcome;
  return say({ ...command, confirmation: outcome.state ?? '' });
}

/** A command of a person to a process that remembers nothing. */
export const commands =
  (who: Who, command: Command): Program =>
  (ports) =>
    said(serviceOn(ports), who, command, ports.clock);

/** A command on a run. */
export const asks =
  (who: Who, command: RunCommand): Program =>
  ({ clock, random, ...ports }) => {
    const store = ports.port<StorageBackend>('store');
    const service = createRunService({ store, clock, random, secrets, sinks: SINKS });
    return service.execute(PEOPLE[who], command, clock.now() + COMMAND_MS);
  };

/** Takes the lock of an asset away. */
export const releases =
  (asset: string, key: string): Program =>
  (ports) =>
    releaseLock(
      { store: storeOf(ports), registry, clock: ports.clock, sinks: SINKS },
      {
        principal: PEOPLE.olga,
        deadlineMs: ports.clock.now() + COMMAND_MS,
        key: { text: key, secrets: secrets(TENANT) },
      },
      { asset, reason: 'fire' },
    );

const dispatcherOf = (ports: Ports, orchestrator?: Orchestrator) => {
  const { clock, random } = ports;
  const sink = ports.port<NotificationSink>('sink');
  const log: NotificationSink = {
    name: 'log',
    deliver: (message, deadlineMs) => sink.deliver(message, deadlineMs),
  };
  const store = storeOf(ports);
  const more = orchestrator === undefined ? {} : { starter: starter(store, orchestrator) };
  return createDispatcher({ store, clock, random, sinks: [log], ...more });
};

/** Delivers what waits in a lane. */
export const delivers =
  (lane: Lane, orchestratorOf?: (ports: Ports) => Orchestrator): Program =>
  (ports) =>
    dispatcherOf(ports, orchestratorOf?.(ports)).drainLane(lane, () => true);

const deskOf = (ports: Ports): TicketProvider => {
  const desk = ports.port<TicketProvider>('desk');
  return {
    name: 'desk',
    idempotency: 'always',
    settlesInMs: 0,
    create: (order, deadlineMs) => desk.create(order, deadlineMs),
    find: (tenant, key, deadlineMs) => desk.find(tenant, key, deadlineMs),
  };
};

/** An orchestrator that has forgotten everything: the reconciler may begin each attempt again. */
const forgetful: Orchestrator = {
  start: () => Promise.resolve(),
  describe: () => Promise.resolve('absent'),
};

/** One sweep by every rule, with an orchestrator that also starts the work of runs. */
export const sweepsWith =
  (orchestratorOf?: (ports: Ports) => Orchestrator): Program =>
  (ports) => {
    const { clock, random } = ports;
    const orchestrator = orchestratorOf?.(ports);
    const runPorts = { orchestrator: orchestrator ?? forgetful, tickets: deskOf(ports) };
    const dispatcher = dispatcherOf(ports, orchestrator);
    const parts = { store: storeOf(ports), registry, clock, random, dispatcher, sinks: SINKS };
    return createSweeper({ ...parts, runPorts }).sweep(0, { goOn: () => true });
  };

/** One sweep by every rule; nobody starts work of runs. */
export const sweeps: Program = sweepsWith();

/** The work of one attempt, by a planner that needs no evidence. */
export const works =
  (run: string, attempt: number): Program =>
  (ports) => {
    const { clock, random } = ports;
    const store = storeOf(ports);
    const service = createRunService({ store, clock, random, secrets, sinks: SINKS });
    const worker = createWorker({
      store,
      service,
      clock,
      tickets: deskOf(ports),
      planner: { name: 'at once', plan: () => Promise.resolve(AT_ONCE) },
      evidence: {
        source: ports.port('evidence'),
        allowlist: [],
        bounds: { steps: 1, callTimeoutMs: 1_000, outputBytes: 1_000 },
        clock,
      },
    });
    return worker({ tenant: TENANT, run, attempt });
  };

const AT_ONCE = {
  next: 'propose',
  action: {
    type: 'ticket.create',
    target: 'payments',
    arguments: { summary: 'Checkout fails' },
    policy_version: 'p@1',
  },
} as const;
