// A random history against the real service: what people and networks do, and what must hold after.
// Invariants checked after every command: I1 (locks), I2 (repeats), I6 (faults), I8 (tenants), and Q
// (questions, in ./questions.ts), and T (times: nothing that is done is told to be late, nothing twice,
// nothing left over); at the end of a history I4 (chains). Commands go to the service, except
// those of a client that can be asked: they take the whole way over the surface.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { verifyRecord } from '../../lib/core/audit.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { Fault } from '../../lib/core/fault.ts';
import type { Command, StepInput } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { Lock, Receipt, Workflow } from '../../lib/core/model/workflow.ts';
import type { Outcome } from '../../lib/core/outcome.ts';
import type { CommitResult, StorageBackend, Transaction } from '../../lib/core/ports/storage.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService, type Service } from '../../lib/core/service/service.ts';
import { soonest } from '../../lib/core/timers.ts';
import { eventBody } from '../../lib/core/events.ts';
import { person, registryOf, START_MS, valveCheck } from '../support/pure-world.ts';
import type { AskingClient, Back, Told } from './asking-client.ts';
import {
  answers,
  asks,
  back,
  sameCall,
  strayed,
  subjectOf,
  type Question,
  type QuestionMove,
} from './questions.ts';

const ASSETS = ['V-101', 'V-102'] as const;
const STEPS = ['isolated', 'inlet', 'outlet', 'leak', 'remarks'] as const;
const INPUTS: readonly StepInput[] = [
  { kind: 'confirm', confirmed: true },
  { kind: 'confirm', confirmed: false },
  { kind: 'reading', value: 4 },
  { kind: 'reading', value: 3 },
  { kind: 'reading', value: 40, unit: 'psi' },
  { kind: 'spoken_reading', text: 'three point one bar' },
  { kind: 'reading', value: 42, unit: 'bar' },
  { kind: 'choice', option: 'dry' },
  { kind: 'choice', option: 'wet' },
  { kind: 'text', text: 'one' },
  { kind: 'text', text: 'two' },
];

const REASONS = ['no time', 'not fitted'] as const;

/** The inputs that a step takes. */
function inputsOf(step: string): readonly StepInput[] {
  const kind = valveCheck.steps.find(({ id }) => id === step)?.kind ?? '';
  return INPUTS.filter((input) => input.kind.endsWith(kind));
}

/** One abstract step of a history; numbers pick from what exists when it is played. */
export type Move =
  | { readonly do: 'start'; readonly who: number; readonly asset: number; readonly keyed: boolean }
  | {
      readonly do: 'record';
      readonly who: number;
      readonly workflow: number;
      readonly step: number;
      readonly input: number;
      readonly keyed: boolean;
      readonly names: 'nothing' | 'record' | 'confirms' | 'old';
      readonly confirmed: boolean;
    }
  | {
      readonly do: 'skip';
      readonly who: number;
      readonly workflow: number;
      readonly step: number;
      readonly reason: number;
      readonly names: 'nothing' | 'record' | 'old';
      readonly keyed: boolean;
    }
  | {
      readonly do: 'resolve';
      readonly who: number;
      readonly workflow: number;
      readonly decision: number;
      readonly old: boolean;
      readonly keyed: boolean;
    }
  | {
      readonly do: 'end';
      readonly who: number;
      readonly workflow: number;
      readonly how: 'hand_over' | 'complete' | 'abandon';
      readonly to: number;
      readonly old: boolean;
      readonly keyed: boolean;
    }
  | { readonly do: 'confirm' }
  | {
      readonly do: 'progress';
      readonly who: number;
      readonly workflow: number;
      readonly keyed: boolean;
    }
  | { readonly do: 'repeat'; readonly which: number }
  | { readonly do: 'other payload'; readonly which: number }
  | { readonly do: 'foreign'; readonly which: number }
  | { readonly do: 'fault'; readonly when: 'before' | 'after' }
  | { readonly do: 'time passes'; readonly minutes: number }
  | QuestionMove;

const small = fc.noBias(fc.nat(59));
const flag = fc.boolean();

/** Arbitrary moves: repeats, late ones included, are as frequent as new commands. */
export const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      who: small,
      asset: small,
      keyed: flag,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('record' as const),
      who: small,
      workflow: small,
      step: small,
      input: small,
      keyed: flag,
      names: fc.constantFrom('nothing', 'nothing', 'record', 'confirms', 'old'),
      confirmed: flag,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('skip' as const),
      who: small,
      workflow: small,
      step: small,
      reason: small,
      names: fc.constantFrom('nothing', 'nothing', 'record', 'old'),
      keyed: flag,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      who: small,
      workflow: small,
      decision: small,
      old: flag,
      keyed: flag,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      who: small,
      workflow: small,
      how: fc.constantFrom('hand_over', 'hand_over', 'complete', 'abandon'),
      to: small,
      old: flag,
      keyed: flag,
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'confirm' as const }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('progress' as const),
      who: fc.constant(0),
      workflow: small,
      keyed: flag,
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('repeat' as const), which: small }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('other payload' as const), which: small }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign' as const), which: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      when: fc.constantFrom('before', 'after'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('time passes' as const),
      minutes: fc.constantFrom(1, 5, 25, 60),
    }),
  },
  { weight: 6, arbitrary: asks },
  { weight: 8, arbitrary: answers },
) as fc.Arbitrary<Move>;

/** A command as it was sent, with what became of it. */
interface Sent {
  readonly principal: Principal;
  readonly command: Command;
  receipt: Receipt | undefined;
}

/** Changes what is committed, or what is asked for; how the planted bugs get in. */
export interface Tamper {
  readonly transaction?: (transaction: Transaction) => Transaction;
  readonly command?: (command: Command) => Command;
}

/** The valve check with a time for everything; short ones, so that a history meets them. */
const timedCheck: ProcedureInput = {
  ...valveCheck,
  steps: valveCheck.steps.map((step) => {
    if (step.id === 'inlet') return { ...step, deadline: { minutes: 30 } };
    if (step.id !== 'outlet') return step;
    return { ...step, deadline: { minutes: 60, on_overdue: 'block' as const } };
  }),
  deadline: { minutes: 90 },
  reminder: { idle_minutes: 20, times: 2 },
  escalation: [
    ...(valveCheck.escalation ?? []),
    { on: 'block', notify: 'manager', after_minutes: 25, times: 2 },
    { on: 'overdue', notify: 'shift' },
    { on: 'reminder', notify: 'operator' },
  ],
};

/** The domain of the histories. */
export const registry = registryOf({ domain: 'valves', procedures: [timedCheck] });

/** Plays one history in a tenant of its own and throws where an invariant does not hold. */
export class History {
  readonly #store: StorageBackend;
  readonly #service: Service;
  readonly #people: readonly Principal[];
  readonly #stranger: Principal;
  readonly #sent: Sent[] = [];
  readonly #workflows: string[] = [];
  readonly #tokens = new Map<string, string>();
  /** How often each result was committed or repeated, and each refusal given. */
  readonly counts: Record<string, number> = {};
  readonly #client: AskingClient;
  readonly #questions: Question[] = [];
  #asked: Sent | undefined;
  #nowMs = START_MS;
  #fault: 'before' | 'after' | undefined;
  #keys = 0;
  #drawn = 0;

  constructor(
    store: StorageBackend,
    client: AskingClient,
    tenant: string,
    { transaction: wrong = (same) => same, command: wrongly = (same) => same }: Tamper = {},
  ) {
    this.#store = store;
    this.#client = client;
    const both = ['procedures:run', 'procedures:supervise'] as const;
    this.#people = [person('Ana'), person('Ben'), person('Cara', both), person('Dan', both)].map(
      (who) => ({ ...who, tenant }),
    );
    this.#stranger = { ...person('Ana', both), tenant: `${tenant}-other` };
    const service = createService({
      store: {
        ...store,
        commit: (transaction, deadlineMs) => this.#commit(wrong(transaction), deadlineMs),
      },
      registry,
      clock: { now: () => this.#nowMs, sleep: () => Promise.resolve() },
      random: {
        id: () => `${tenant}-${++this.#drawn}`,
        key: () => 'ab'.repeat(32),
        fraction: () => 0,
      },
      secrets: secretsOf('a secret of the deployment, 32 or more'),
      sinks: ['log'],
    });
    this.#service = {
      execute: (principal, command, ...rest) =>
        service.execute(principal, wrongly(command), ...rest),
    };
  }

  /** Makes everybody known to the tenant, so that work can be handed over: two are called Ben. */
  async meet(): Promise<void> {
    const { tenant } = this.#stranger;
    const namesake = {
      tenant: tenant.slice(0, -'-other'.length),
      subject: 'dev:ben-2',
      name: 'Ben',
    };
    for (const { tenant: own, subject, name } of [...this.#people, namesake]) {
      await this.#store.noteProfile({ tenant: own, subject, name });
    }
  }

  /** Plays one move and checks what must hold after it. */
  async play(move: Move): Promise<void> {
    if (move.do === 'fault') {
      this.#fault = move.when;
      return;
    }
    if (move.do === 'time passes') {
      this.#nowMs += move.minutes * 60_000;
      await this.#tick();
      return;
    }
    const before = await this.#look();
    if (move.do === 'repeat') await this.#repeat(this.#pick(move.which), before);
    else if (move.do === 'other payload') await this.#otherPayload(this.#pick(move.which), before);
    else if (move.do === 'confirm') {
      if (this.#asked !== undefined)
        await this.#send(this.#asked.principal, this.#asked.command, before);
    } else if (move.do === 'foreign') await this.#foreign(this.#pick(move.which), before);
    else if (move.do === 'ask') await this.#ask(move, before);
    else if (move.do === 'answer') await this.#answer(move, before);
    else {
      const command = this.#command(move, before);
      if (command !== undefined)
        await this.#send(this.#actor(move, command, before), command, before);
    }
    const after = await this.#look();
    this.#checkLocks(after);
    after.workflows.forEach((workflow) => this.#checkTimes(workflow));
  }

  /** A sweep of the history's own work: what is due is told, to whom it concerns, and once (T). */
  async #tick(): Promise<void> {
    const before = await this.#look();
    const swept = await this.#sweep(before);
    const after = await this.#look();
    for (const was of before.workflows) {
      const now = after.workflows.find(({ id }) => id === was.id);
      if (now === undefined) throw new Error('a sweep deletes no work');
      const { tenant, id, head_seq } = was;
      const events = await this.#store.listEvents(tenant, id, { after: head_seq, limit: 100 });
      for (const { type, data } of events.map(eventBody)) {
        this.#count(`tick: ${type}${data['follows'] === 'block' ? ' and blocks' : ''}`);
        const late = (data['steps'] ?? []) as readonly string[];
        const open = late.every((step) => timesOf(was).includes(step));
        hold('T', open, { what: 'told of a step that is not open', was, late });
      }
      const blocks = events.some((event) => eventBody(event).data['follows'] === 'block');
      hold('T', blocks === (now.state !== was.state), { what: 'a state changed', was, now });
      hold('T', isDeepStrictEqual(now.steps, was.steps), { what: 'a record changed', was, now });
      this.#checkTimes(now);
      const pending = soonest(Number.MAX_SAFE_INTEGER, now.timers, now.block);
      hold('T', now.state === 'COMPLETED' || pending > this.#nowMs, { what: 'left over', now });
    }
    const again = await this.#sweep(after);
    hold('T', again === 0, { what: 'told again', swept, again });
    hold('T', isDeepStrictEqual(await this.#look(), after), { what: 'changed again', after });
    this.#checkLocks(after);
  }

  /** Answers how much was found. */
  async #sweep({ workflows }: World): Promise<number> {
    const clock = { now: () => this.#nowMs, sleep: () => Promise.resolve() };
    const random = { id: () => `sweep-${++this.#drawn}`, key: () => '', fraction: () => 0 };
    const own = workflows.map(({ tenant, id, due_at = 0 }) => ({
      key: { kind: 'workflow', tenant, id } as const,
      due_at,
    }));
    const store: StorageBackend = {
      ...this.#store,
      listDue: (_shard, { after }) => Promise.resolve({ items: after === undefined ? own : [] }),
    };
    const dispatcher = createDispatcher({ store, clock, random, sinks: [] });
    const parts = { store, registry, dispatcher, clock, random, sinks: ['log'] };
    const { end, findings, counts } = await createSweeper(parts).sweep(0, {
      goOn: () => true,
      rules: ['R6'],
    });
    hold('T', end === 'done' || (end === 'idle' && own.length === 0), { end, findings });
    hold(
      'T',
      findings.every(({ repaired }) => repaired),
      { findings },
    );
    return counts.R6 ?? 0;
  }

  /** The times in the record are those that its state asks for, and no look is later than they are (T). */
  #checkTimes(workflow: Workflow): void {
    const { timers, state, block, due_at = 0 } = workflow;
    hold('T', (timers === undefined) === (state === 'COMPLETED'), { workflow });
    if (timers === undefined) return;
    const expected = state === 'BLOCKED' ? [] : timesOf(workflow);
    hold('T', isDeepStrictEqual(Object.keys(timers.steps).toSorted(), expected), { workflow });
    hold('T', (timers.reminder === undefined) === (state === 'BLOCKED'), { workflow });
    hold('T', timers.escalation?.block === block?.seq, { workflow });
    const pending = soonest(Number.MAX_SAFE_INTEGER, timers, block);
    hold('T', due_at <= Math.max(pending, this.#nowMs), { workflow });
  }

  /** Verifies every chain of the history (I4). */
  async finish(): Promise<void> {
    for (const workflow of (await this.#look()).workflows) {
      const report = await verifyRecord(this.#store, workflow);
      hold('I4', report.faults.length === 0, report);
    }
  }

  async #send(principal: Principal, command: Command, before: World): Promise<void> {
    const sent: Sent = { principal, command, receipt: undefined };
    this.#sent.push(sent);
    this.#learn(sent, await this.#execute(sent, before));
  }

  #learn(sent: Sent, outcome: Outcome): void {
    if (outcome.code === 'OK') {
      sent.receipt ??= outcome.receipt;
      const { workflow } = outcome.receipt;
      if (!this.#workflows.includes(workflow)) this.#workflows.push(workflow);
    }
    if (outcome.code === 'NEEDS_CONFIRMATION' && outcome.confirmation !== undefined) {
      this.#tokens.set(tokenKey(sent.command), outcome.confirmation);
      this.#asked = {
        ...sent,
        command: { ...sent.command, confirmation: outcome.confirmation } as Command,
      };
    }
  }

  #directly({ principal, command }: Sent): Promise<Outcome> {
    return this.#service.execute(principal, command, this.#nowMs + 60_000);
  }

  /** Executes a command; a fault or a refusal must leave every state as it was (I6). */
  async #execute(
    sent: Sent,
    before: World,
    way = (): Promise<Outcome> => this.#directly(sent),
  ): Promise<Outcome> {
    const fault = this.#fault;
    const outcome = await way();
    const struck = fault !== undefined && this.#fault === undefined;
    const wrote = outcome.code === 'OK' && !outcome.duplicate;
    const told =
      outcome.code === 'OK'
        ? `${outcome.receipt.result}${outcome.duplicate ? ' again' : ''}`
        : outcome.code === 'NEEDS_CONFIRMATION'
          ? outcome.reason
          : outcome.code;
    this.#count(told);
    hold('I6', (outcome.code === 'BACKEND_UNAVAILABLE') === struck, { outcome, fault });
    if (!wrote && !(struck && fault === 'after')) {
      hold('I6', isDeepStrictEqual(await this.#look(), before), { outcome, command: sent.command });
    }
    return outcome;
  }

  /** A repeat of what took effect answers the first receipt and changes nothing (I2). */
  async #repeat(sent: Sent | undefined, before: World): Promise<void> {
    if (sent === undefined) return;
    const first = sent.receipt;
    const fault = this.#fault;
    const outcome = await this.#execute(sent, before);
    if (outcome.code === 'BACKEND_UNAVAILABLE' && fault !== undefined) return;
    // A start without a key, once its workflow has ended, is a new start by all that can be known.
    const { command } = sent;
    const anew = command.type === 'start_workflow' && command.key === undefined;
    if (first !== undefined && !anew) {
      const unchanged = isDeepStrictEqual(await this.#look(), before);
      hold('I2', unchanged, { what: 'a repeat changed something', command, outcome });
      if (outcome.code === 'OK') {
        const same =
          isDeepStrictEqual(outcome.receipt, first) ||
          recordedAnew(command, outcome.receipt, first) ||
          assignedAnew(command, outcome.receipt, first);
        hold('I2', outcome.duplicate && same, { first, outcome });
      }
      const must = command.key !== undefined;
      hold('I2', outcome.code === 'OK' || !must, { what: 'a key was forgotten', command, outcome });
    }
    this.#learn(sent, outcome);
  }

  async #otherPayload(sent: Sent | undefined, before: World): Promise<void> {
    if (sent?.receipt === undefined || sent.command.key === undefined) return;
    this.#fault = undefined;
    const { key } = sent.command;
    const command: Command = {
      type: 'start_workflow',
      procedure: 'valve-check',
      asset: 'V-999',
      key,
    };
    const outcome = await this.#execute({ ...sent, command }, before);
    hold('I2', outcome.code === 'IDEMPOTENCY_CONFLICT', { outcome });
  }

  /** The same words with another tenant's token find nothing (I8). */
  async #foreign(sent: Sent | undefined, before: World): Promise<void> {
    if (sent === undefined || sent.command.type === 'start_workflow') return;
    this.#fault = undefined;
    const outcome = await this.#execute({ ...sent, principal: this.#stranger }, before);
    hold('I8', ['NOT_FOUND', 'AMBIGUOUS'].includes(outcome.code), { outcome });
    if (outcome.code === 'AMBIGUOUS') hold('I8', outcome.total === 0, { outcome });
  }

  /** A call of a client that can be asked; a question that comes back is kept. */
  async #ask(move: Extract<QuestionMove, { do: 'ask' }>, before: World): Promise<void> {
    const command = this.#askable(move, before);
    if (command === undefined) return;
    const sent: Sent = {
      principal: this.#actor(move, command, before, move.what === 'witness'),
      command,
      receipt: undefined,
    };
    this.#sent.push(sent);
    const outcome = await this.#overSurface(sent, before);
    if (outcome !== undefined) this.#learn(sent, outcome);
  }

  /** What comes back to a question: a yes counts as Q says, and nothing else writes anything. */
  async #answer(move: Extract<QuestionMove, { do: 'answer' }>, before: World): Promise<void> {
    const { way, n } = move;
    const recent = this.#questions.slice(-4);
    const question = recent[move.which % Math.max(1, recent.length)];
    if (question === undefined) return;
    if (way === 'late') this.#nowMs += TEN_MINUTES_MS;
    const given = back(question, way, n);
    const other = this.#questions.find((one) => !sameCall(one, question));
    if (way === 'of another call' && other === undefined) return;
    const asker = this.#people.find(({ subject }) => subject !== question.principal.subject);
    const sent: Sent = {
      principal: way === 'of another person' && asker ? asker : question.principal,
      command: way === 'of another call' && other ? other.command : question.command,
      receipt: undefined,
    };
    const outcome = await this.#overSurface(sent, before, given);
    const wrote = outcome?.code === 'OK' && !outcome.duplicate;
    const told = outcome === undefined ? 'unheard' : wrote ? 'written' : 'not written';
    this.#count(`${way}: ${told}`);
    if (way !== 'yes') {
      const unchanged = isDeepStrictEqual(await this.#look(), before);
      hold('Q', !wrote && unchanged, { what: 'it was no yes', way, question, outcome });
      return;
    }
    if (outcome?.code !== 'OK') return;
    const { receipt } = outcome;
    if (question.receipt !== undefined) {
      const again = isDeepStrictEqual(receipt, question.receipt);
      const anew = recordedAnew(question.command, receipt, question.receipt);
      hold('Q', !wrote && (again || anew), { what: 'a yes counted twice', question, outcome });
    }
    question.receipt ??= receipt;
    if (!wrote) return;
    const { workflow, seq } = receipt;
    const { tenant } = question.principal;
    const [event] = await this.#store.listEvents(tenant, workflow, { after: seq - 1, limit: 1 });
    const wrong =
      event === undefined ? ['event'] : strayed(question, given, receipt, eventBody(event));
    hold('Q', wrong.length === 0, { what: 'another occasion', wrong, question, outcome });
  }

  /** Calls over the surface; undefined where the core did not hear of it. */
  async #overSurface(sent: Sent, before: World, given?: Back): Promise<Outcome | undefined> {
    const { principal, command } = sent;
    const turn = { principal, service: this.#service, nowMs: this.#nowMs };
    let told: Told | undefined;
    const call = async (): Promise<Outcome> => {
      told = await this.#client.call(turn, command, given);
      return told.outcome ?? DECLINED;
    };
    const outcome = await this.#execute(sent, before, call);
    if (told?.question !== undefined) {
      const { state, options } = told.question;
      const question: Question = { principal, command, state, options, receipt: undefined };
      this.#questions.push(question);
      this.#count(`asked: ${subjectOf(question)}`);
    }
    if (outcome === DECLINED) {
      hold('Q', told?.code === 'DECLINED', { what: 'unheard', told, sent });
      return undefined;
    }
    return outcome;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #askable(move: Extract<QuestionMove, { do: 'ask' }>, world: World): Command | undefined {
    const active = world.workflows.filter(({ state }) => state !== 'COMPLETED');
    const workflow = active[move.workflow % Math.max(1, active.length)];
    if (workflow === undefined) return undefined;
    const key = move.keyed ? { key: `k-${++this.#keys}` } : {};
    const about = { ...(!move.bare && { workflow: workflow.id }), ...key };
    const to = this.#who(move.input);
    switch (move.what) {
      case 'record': {
        const open = STEPS.find((id) => workflow.steps[id]?.status !== 'done');
        const step =
          (move.step < 40 ? open : undefined) ?? STEPS[move.step % STEPS.length] ?? 'leak';
        const fitting = inputsOf(step);
        const input = fitting[move.input % fitting.length] as StepInput;
        return { type: 'record_step', ...about, step, input };
      }
      case 'witness': {
        const step = STEPS.find((id) => workflow.steps[id]?.status === 'awaiting_second');
        const input = step === undefined ? undefined : inputsOf(step)[0];
        if (step === undefined || input === undefined) return undefined;
        return { type: 'record_step', ...about, workflow: workflow.id, step, input };
      }
      case 'hand_over':
        return { type: 'hand_over', ...about, to: to.subject };
      case 'hand_over to a name':
        return { type: 'hand_over', ...about, to: to.name };
      case 'abandon':
        return { type: 'abandon_workflow', ...about, reason: 'r' };
      case 'complete':
        return { type: 'complete_workflow', ...about };
    }
  }

  #commit = async (transaction: Transaction, deadlineMs: number): Promise<CommitResult> => {
    const fault = this.#fault;
    if (fault === 'before') {
      this.#fault = undefined;
      throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'struck before the commit');
    }
    const result = await this.#store.commit(transaction, deadlineMs);
    if (fault === 'after' && result.ok) {
      this.#fault = undefined;
      throw new Fault('unknown', 'BACKEND_UNAVAILABLE', 'the answer of the commit was lost');
    }
    return result;
  };

  #command(
    move: Exclude<Extract<Move, { who: number }>, QuestionMove>,
    world: World,
  ): Command | undefined {
    const key = move.keyed ? { key: `k-${++this.#keys}` } : {};
    if (move.do === 'start') {
      const asset = ASSETS[move.asset % ASSETS.length] ?? 'V-101';
      return { type: 'start_workflow', procedure: 'valve-check', asset, ...key };
    }
    const active = world.workflows.filter(({ state }) => state !== 'COMPLETED');
    const among = move.workflow < 48 && active.length > 0 ? active : world.workflows;
    const workflow = among[move.workflow % Math.max(1, among.length)];
    if (workflow === undefined) return undefined;
    if (move.do === 'progress') return progress(workflow, key, move.workflow >= 42);
    if (move.do === 'record') return this.#record(move, workflow, key);
    if (move.do === 'skip') return skipping(move, workflow, key);
    if (move.do === 'resolve') {
      const decision = (['continue', 'retake', 'abandon'] as const)[move.decision % 3] ?? 'retake';
      const block = (move.old ? 4 : workflow.block?.seq) ?? 4;
      return { type: 'resolve_block', workflow: workflow.id, block, decision, reason: 'r', ...key };
    }
    const tenure = move.old ? 1 : workflow.tenure;
    const to = this.#who(move.to).subject;
    if (move.how === 'hand_over')
      return { type: 'hand_over', workflow: workflow.id, to, tenure, ...key };
    if (move.how === 'complete')
      return { type: 'complete_workflow', workflow: workflow.id, ...key };
    return { type: 'abandon_workflow', workflow: workflow.id, tenure, reason: 'r', ...key };
  }

  #record(
    move: Extract<Move, { do: 'record' }>,
    workflow: Workflow,
    key: { readonly key?: string },
  ): Command {
    const open = STEPS.find((id) => workflow.steps[id]?.status !== 'done');
    const step = (move.step < 40 ? open : undefined) ?? STEPS[move.step % STEPS.length] ?? 'leak';
    const fitting = inputsOf(step);
    const input = fitting[move.input < 35 ? 0 : move.input % fitting.length] as StepInput;
    const slot = workflow.steps[step];
    const basic = { type: 'record_step', workflow: workflow.id, step, input, ...key } as const;
    const seq = move.names === 'old' ? 2 : slot?.seq;
    const confirms =
      move.names === 'confirms' || (move.step < 40 && slot?.status === 'awaiting_second');
    const command: Command =
      seq === undefined || (move.names === 'nothing' && !confirms)
        ? basic
        : confirms
          ? { ...basic, confirms: seq }
          : { ...basic, type: 'correct_step', replaces: seq };
    const token = this.#tokens.get(tokenKey(command));
    return move.confirmed && token !== undefined ? { ...command, confirmation: token } : command;
  }

  /** At most one workflow holds an asset, and lock and state agree about which one (I1). */
  #checkLocks({ workflows, locks }: World): void {
    for (const asset of ASSETS) {
      const holding = workflows.filter((one) => one.asset === asset && one.state !== 'COMPLETED');
      const lock = locks.find((one) => one.asset === asset);
      hold('I1', holding.length <= 1, { asset, holding });
      hold('I1', (lock?.held ?? false) === (holding.length === 1), { asset, lock, holding });
      const [one] = holding;
      if (one === undefined || lock === undefined) continue;
      const same = lock.workflow === one.id && lock.fence === one.fence;
      hold('I1', same && lock.subject === one.holder.subject, { lock, one });
    }
  }

  async #look(): Promise<World> {
    const { tenant } = this.#people[0] as Principal;
    const items = await this.#store.snapshot([
      ...ASSETS.map((asset) => ({ kind: 'lock' as const, tenant, asset })),
      ...this.#workflows.map((id) => ({ kind: 'workflow' as const, tenant, id })),
    ]);
    const locks = items.slice(0, ASSETS.length).filter((one) => one !== undefined) as Lock[];
    const workflows = items.slice(ASSETS.length).filter((one) => one !== undefined) as Workflow[];
    // A start whose answer was lost is known by its lock alone.
    for (const { workflow } of locks) {
      if (workflow !== undefined && !this.#workflows.includes(workflow)) {
        this.#workflows.push(workflow);
        return this.#look();
      }
    }
    return { locks, workflows };
  }

  /** Who sends a command: mostly the person it is assigned to, otherwise anybody. */
  #actor(
    move: { readonly who: number },
    command: Command,
    world: World,
    second = 'confirms' in command,
  ): Principal {
    if (command.type === 'start_workflow' || move.who >= 40) return this.#who(move.who);
    const workflow = world.workflows.find(({ id }) => id === command.workflow);
    const supervising = command.type === 'resolve_block';
    const fits = ({ subject, scopes }: Principal): boolean =>
      supervising
        ? scopes.has('procedures:supervise') && subject !== workflow?.holder.subject
        : (subject === workflow?.holder.subject) !== second;
    return this.#people.find(fits) ?? this.#who(move.who);
  }

  #who(n: number): Principal {
    return this.#people[n % this.#people.length] as Principal;
  }

  #pick(n: number): Sent | undefined {
    return this.#sent[n % Math.max(1, this.#sent.length)];
  }
}

/**
 * Without a key or a named record, a first reading cannot be told from the same value recorded
 * again after a correction: the receipt is then the one of the value that is on record.
 */
function recordedAnew(command: Command, now: Receipt, first: Receipt): boolean {
  const bare = command.type === 'record_step' && command.key === undefined;
  return bare && now.step === first.step && now.value === first.value && now.seq > first.seq;
}

/**
 * A hand-over that names no assignment changes nothing but by the answer to its question: to whoever has
 * the work already, it is told the assignment that stands, which is another one after a way there and back.
 */
function assignedAnew(command: Command, now: Receipt, first: Receipt): boolean {
  if (command.type !== 'hand_over' || command.key !== undefined) return false;
  return command.tenure === undefined && now.workflow === first.workflow && now.seq > first.seq;
}

/** The next sensible command for a workflow: what people who do their work well would send. */
function progress(workflow: Workflow, key: { readonly key?: string }, deviating: boolean): Command {
  const about = { workflow: workflow.id, ...key };
  if (workflow.block !== undefined) {
    const { reason, seq } = workflow.block;
    const decision = reason === 'overdue' || seq % 2 === 0 ? 'continue' : 'retake';
    return { type: 'resolve_block', ...about, block: workflow.block.seq, decision, reason: 'r' };
  }
  const step = STEPS.find((id) => id !== 'remarks' && workflow.steps[id]?.status !== 'done');
  if (step === undefined) return { type: 'complete_workflow', ...about };
  const fitting = inputsOf(step);
  const sound = step === 'outlet' ? 1 : 0;
  const input = fitting[deviating ? fitting.length - 1 : sound] as StepInput;
  const record = { type: 'record_step', ...about, step, input } as const;
  const slot = workflow.steps[step];
  if (slot === undefined) return record;
  return slot.status === 'awaiting_second'
    ? { ...record, confirms: slot.seq }
    : { ...record, type: 'correct_step', replaces: slot.seq };
}

/** The steps with a deadline that can be done now. */
function timesOf({ steps, state }: Workflow): readonly string[] {
  if (state === 'BLOCKED' || steps['isolated']?.status !== 'done') return [];
  return ['inlet', 'outlet'].filter((id) => steps[id]?.status !== 'done');
}

/** Skips a step, mostly the optional one. */
function skipping(
  move: Extract<Move, { do: 'skip' }>,
  workflow: Workflow,
  key: { readonly key?: string },
): Command {
  const step = move.step < 48 ? 'remarks' : (STEPS[move.step % STEPS.length] ?? 'remarks');
  const reason = REASONS[move.reason % REASONS.length] ?? 'no time';
  const input = { kind: 'skip', reason } as const;
  const about = { workflow: workflow.id, step, input, ...key } as const;
  const replaces = move.names === 'old' ? 2 : workflow.steps[step]?.seq;
  return replaces === undefined || move.names === 'nothing'
    ? { type: 'record_step', ...about }
    : { type: 'correct_step', ...about, replaces };
}

/** Longer than any question is good for. */
const TEN_MINUTES_MS = 600_000;

/** Stands for a no, of which the core never hears. */
const DECLINED = { code: 'NOT_FOUND', what: 'workflow', name: 'declined' } as const;

interface World {
  readonly locks: readonly Lock[];
  readonly workflows: readonly Workflow[];
}

function tokenKey(command: Command): string {
  const { key: _key, ...rest } = command;
  return JSON.stringify({ ...rest, confirmation: undefined });
}

function hold(invariant: string, holds: boolean, detail: unknown): void {
  if (!holds) throw new Error(`${invariant} does not hold: ${JSON.stringify(detail)}`);
}
