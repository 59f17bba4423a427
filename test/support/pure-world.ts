// A world without storage: decisions are made and their plans applied to plain objects, so that the
// core is tested as the pure function it is.
import { decide } from '../../lib/core/decide/decide.ts';
import type { DecideContext, Decision } from '../../lib/core/decide/decision.ts';
import { historyOf } from '../../lib/core/decide/history.ts';
import { decideStart } from '../../lib/core/decide/start.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { Command, WorkflowCommand } from '../../lib/core/model/commands.ts';
import type { Principal, PrincipalKind, Scope } from '../../lib/core/model/principal.ts';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type {
  EventBody,
  Lock,
  OutboxRow,
  Profile,
  VaultRow,
  Workflow,
} from '../../lib/core/model/workflow.ts';
import { aggregateAfter, compilePlan, type CommitPlan } from '../../lib/core/plan.ts';
import type { DomainPolicy } from '../../lib/core/ports/policy.ts';
import { buildRegistry, type ProcedureRegistry } from '../../lib/core/procedures.ts';

/** A procedure with one step of every kind and every property that decisions look at. */
export const valveCheck: ProcedureInput = {
  id: 'valve-check',
  version: 3,
  title: 'Valve check',
  description: 'A procedure for tests.',
  asset: { type: 'valve', pattern: 'V-[0-9]{3}', example: 'V-101' },
  steps: [
    {
      id: 'isolated',
      title: 'isolation',
      instruction: 'Confirm that the valve is isolated.',
      kind: 'confirm',
      on_deviation: 'block',
      second_person: true,
    },
    {
      id: 'inlet',
      title: 'inlet pressure',
      instruction: 'Read the inlet gauge.',
      kind: 'reading',
      requires: ['isolated'],
      unit: { symbol: 'bar', spoken: 'bar', aliases: ['bars'] },
      decimals: 1,
      bounds: { min: 0, max: 12 },
      warning: { min: 1, max: 10 },
      expected: { min: 2, max: 6 },
      on_deviation: 'retake',
    },
    {
      id: 'outlet',
      title: 'outlet pressure',
      instruction: 'Read the outlet gauge.',
      kind: 'reading',
      requires: ['isolated'],
      unit: {
        symbol: 'bar',
        spoken: 'bar',
        conversions: [{ symbol: 'psi', spoken: 'psi', aliases: ['pounds'], factor: 0.0689476 }],
      },
      decimals: 1,
      bounds: { min: 0, max: 12 },
      expected: { min: 2, max: 6 },
      on_deviation: 'block',
    },
    {
      id: 'leak',
      title: 'leak',
      instruction: 'Look for leaks.',
      kind: 'choice',
      options: [
        { id: 'dry', title: 'dry' },
        { id: 'wet', title: 'dripping', deviates: true },
      ],
    },
    {
      id: 'remarks',
      title: 'remarks',
      instruction: 'Say what you noticed.',
      kind: 'text',
      optional: true,
      max_chars: 20,
      sensitive: true,
    },
  ],
  rules: [
    {
      id: 'falls',
      kind: 'less_than',
      step: 'outlet',
      than: 'inlet',
      margin: 0.2,
      message: 'the outlet must be below the inlet',
      on_deviation: 'block',
    },
  ],
  escalation: [
    { on: 'warning', notify: 'shift' },
    { on: 'deviation', notify: 'shift' },
    { on: 'block', notify: 'supervisor' },
  ],
};

/** Midnight, the time at which every pure world begins. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** Builds the registry of some domains; a fault fails the test. */
export function registryOf(...policies: readonly DomainPolicy[]): ProcedureRegistry {
  const built = buildRegistry(policies);
  if (!built.ok) throw new Error(JSON.stringify(built.faults));
  return built.registry;
}

/** A person of tenant `acme` with both procedure scopes unless told otherwise. */
export function person(
  name: string,
  scopes: readonly Scope[] = ['procedures:run'],
  kind: PrincipalKind = 'person',
): Principal {
  const subject = `dev:${name.toLowerCase()}`;
  return { tenant: 'acme', subject, name, kind, scopes: new Set(scopes), via: 'mcp' };
}

const valveDomain = { domain: 'valves', procedures: [valveCheck] };
const valves = registryOf(valveDomain);

/** One workflow on one asset, driven by decisions alone. */
export class PureWorld {
  workflow: Workflow | undefined;
  lock: Lock | undefined;
  readonly events: EventBody[] = [];
  readonly vault: VaultRow[] = [];
  readonly outbox: OutboxRow[] = [];
  plan: CommitPlan | undefined;
  nowMs = START_MS;
  /** What decisions look at besides, such as a key or a request. */
  more: Partial<DecideContext> = {};
  readonly #registry: ProcedureRegistry;
  #drawn = 0;

  constructor(...policies: readonly DomainPolicy[]) {
    this.#registry = policies.length === 0 ? valves : registryOf(valveDomain, ...policies);
  }

  /** Decides a command and applies its plan. */
  run(principal: Principal, command: Command, to?: Profile): Decision {
    const decision = this.decide(principal, command, to);
    if (decision.kind === 'commit') this.apply(decision.plan);
    return decision;
  }

  /** Decides a command without applying anything. */
  decide(principal: Principal, command: Command, to?: Profile): Decision {
    const n = String(++this.#drawn);
    const context: DecideContext = {
      principal,
      now: this.nowMs,
      registry: this.#registry,
      confirmationSecret: 'confirmation secret of the tests',
      sinks: ['log'],
      fresh: { workflow: `w${n.padStart(3, '0')}`, vaultKey: n.padStart(64, '0') },
      ...this.more,
    };
    if (command.type === 'start_workflow') {
      return decideStart({ lock: this.lock, holding: this.workflow }, command, context);
    }
    return this.#decide(command, context, to);
  }

  #decide(command: WorkflowCommand, context: DecideContext, to: Profile | undefined): Decision {
    const { workflow } = this;
    if (workflow === undefined) throw new Error('start first');
    const procedure = this.#registry.find(workflow.procedure, workflow.procedure_version);
    if (procedure === undefined) throw new Error('unknown procedure');
    const seq = 'step' in command ? workflow.steps[command.step]?.seq : undefined;
    const vault = this.vault.find((row) => row.seq === seq);
    const history = historyOf(this.events);
    return decide({ workflow, procedure, vault, lock: this.lock, to, history }, command, context);
  }

  /** Applies a plan as a store would. */
  apply(plan: CommitPlan): void {
    compilePlan(plan);
    this.plan = plan;
    this.workflow = aggregateAfter(plan);
    this.events.push(...plan.events.map(eventBody));
    this.vault.push(...plan.vault);
    this.outbox.push(...plan.outbox);
    for (const change of plan.locks) {
      const last = change.op === 'release' ? (change.last ?? this.lock?.last) : this.lock?.last;
      const kept = last === undefined ? {} : { last };
      if (change.op === 'take') this.lock = { ...kept, ...change.lock };
      else if (change.op === 'hand_over') {
        this.lock = { ...(this.lock as Lock), subject: change.subject, name: change.name };
      } else {
        const { format, tenant, asset, fence } = this.lock as Lock;
        this.lock = { format, tenant, asset, fence, held: false, ...kept };
      }
    }
  }

  /** The stored aggregate; fails the test before a start. */
  get state(): Workflow {
    if (this.workflow === undefined) throw new Error('start first');
    return this.workflow;
  }
}

/** The outcome of a decision that wrote nothing. */
export function refusalOf(decision: Decision) {
  if (decision.kind === 'refuse') return decision.outcome;
  if (decision.kind === 'search') return decision.otherwise;
  throw new Error(`expected a refusal, not ${decision.kind}`);
}

/** The events that a search finds, none of them sensitive. */
export function eventsFound(
  world: PureWorld,
  { matches, holds }: Extract<Decision, { kind: 'search' }>,
): readonly EventBody[] {
  return world.events.filter((event) => {
    const vault = world.vault.find(({ seq }) => seq === event.seq);
    return matches(event) && (holds?.(event, vault) ?? true);
  });
}
