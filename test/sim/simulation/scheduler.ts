// A simulated world: programs of several processes whose every call waits until a seed says that it is
// carried out, and how: as it should, late, twice answered or not at all. The same seed gives the same run.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../../lib/core/fault.ts';
import { keyText } from '../../../lib/core/keys.ts';
import { DeliveryError } from '../../../lib/core/ports/sink.ts';
import type { Transaction, Write } from '../../../lib/core/ports/storage.ts';
import type { History } from '../../exhaustive/invariants.ts';
import type { Table } from '../../exhaustive/items.ts';
import type { Answer, Call, Ports, Program } from '../../exhaustive/replay.ts';
import type { Actor, Judge } from '../../exhaustive/search.ts';
import { perform, type Alter, type World } from '../../exhaustive/world.ts';
import type { Draws } from './draws.ts';

/** A process: what runs in it shares its clock and what it remembers, and dies with it. */
export interface Process {
  readonly name: string;
  readonly skewMs: number;
  readonly ports: Ports;
}

/** A program that runs. */
interface Live {
  readonly actor: Actor;
  readonly process: Process;
  readonly answers: Answer[];
  readonly waiting: Waiting[];
  readonly begunAt: number;
  /** Assets that somebody held at some moment since it began. */
  readonly heldMeanwhile: Set<string>;
}

interface Waiting {
  readonly call: Call;
  readonly sentAt: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** A commit whose items others see one by one. */
  running?: boolean;
}

/** What can go wrong with one call. */
export const FAULTS = ['crash before', 'crash after', 'lost answer', 'refused', 'held up'] as const;
export type FaultName = (typeof FAULTS)[number];

/** The kinds of calls. */
export const STEPS = ['read', 'list', 'commit', 'keep', 'lease', 'deliver', 'ticket'] as const;
export type StepName = (typeof STEPS)[number];

/** The step that a call is. */
export function stepOf({ port, name }: Call): StepName {
  if (port === 'sink') return 'deliver';
  if (port === 'desk') return 'ticket';
  if (name === 'commit' || name === 'keep') return name;
  if (name === 'snapshot') return 'read';
  return name.endsWith('Lease') ? 'lease' : 'list';
}

/** A violation: what is wrong, after which step. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** How a world is built; `alter` changes every transaction, and is how bugs are planted. */
export interface SchedulerParts {
  readonly world: World;
  readonly draws: Draws;
  readonly judge: Judge<History>;
  readonly alter?: Alter;
  /** Reads items of a snapshot one by one, as of different moments. */
  readonly tornReads?: boolean;
  /** Rows that the sink never accepts. */
  readonly poisoned: (payload: unknown) => boolean;
  /** Carries out a call that no store, sink or desk knows. */
  readonly other: (call: Call) => unknown;
}

/** The simulated world. */
export class Scheduler {
  world: World;
  history: History;
  /** How often each fault happened at each step. */
  readonly faults = new Map<string, number>();
  readonly trace: string[] = [];
  readonly ends = new Map<string, number>();
  steps = 0;
  readonly #parts: SchedulerParts;
  readonly #live = new Set<Live>();
  readonly #current = new AsyncLocalStorage<Live>();
  readonly #tables: Table[] = [];
  #broken: Error | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.world = parts.world;
    this.history = parts.judge.begin(parts.world);
  }

  /** A process of this world. Two of one name never draw the same id: `life` counts its restarts. */
  process(name: string, skewMs: number, life: number): Process {
    let drawn = 0;
    const ports: Ports = {
      clock: { now: () => this.world.now + skewMs, sleep: () => Promise.resolve() },
      random: {
        id: () => `${this.#current.getStore()?.actor.by ?? name}-${life}-${(drawn += 1)}`,
        key: () => String((drawn += 1)).padStart(64, '0'),
        fraction: () => this.#parts.draws.fraction(),
      },
      port: <T extends object>(port: string): T =>
        new Proxy({} as T, {
          get: (_, method) =>
            typeof method === 'string' && method !== 'then'
              ? (...args: unknown[]) => this.#called({ port, name: method, args })
              : undefined,
        }),
    };
    return { name, skewMs, ports };
  }

  get busy(): boolean {
    return this.#live.size > 0;
  }

  /** Begins a program in a process. */
  async begin(process: Process, actor: Omit<Actor, 'program'>, program: Program): Promise<void> {
    const live: Live = {
      actor: { ...actor, program },
      process,
      answers: [],
      waiting: [],
      begunAt: this.world.now + process.skewMs,
      heldMeanwhile: new Set(heldAssets(this.world.table)),
    };
    this.#live.add(live);
    this.#current.run(live, () => {
      program(process.ports, actor.by).then(
        (value) => this.#ended(live, value),
        (error: unknown) => this.#failed(live, error),
      );
    });
    await this.#settle();
  }

  /** Ends a process where it stands. */
  kill(process: Process): void {
    for (const live of this.#live) if (live.process === process) this.#live.delete(live);
  }

  passTime(ms: number): void {
    this.world = { ...this.world, now: this.world.now + ms };
    this.trace.push(`${ms} ms pass`);
  }

  /** Carries out one waiting call; `faulty` lets something go wrong with it. */
  async step(faulty: boolean): Promise<void> {
    const waiting = [...this.#live].flatMap((live) => live.waiting.map((one) => ({ live, one })));
    const free = waiting.filter(({ one }) => !this.#blocked(one));
    if (free.length === 0) return;
    const { live, one } = this.#parts.draws.pick(free);
    this.steps += 1;
    const { call } = one;
    const step = stepOf(call);
    const fault = faulty && this.#parts.draws.chance(0.12) ? this.#parts.draws.pick(FAULTS) : '';
    if (fault === 'held up') {
      this.#count(fault, step);
      this.passTime(this.#parts.draws.pick([15_000, 100_000, 300_000, 1_000_000]));
      return;
    }
    if (step === 'commit' && one.running !== true && this.#parts.draws.chance(0.3)) {
      // From now on plain reads may see some of its items and not others.
      one.running = true;
      this.trace.push(`${live.actor.by}: a commit is running`);
      return;
    }
    live.waiting.splice(live.waiting.indexOf(one), 1);
    if (fault !== '') this.#count(fault, step);
    if (fault === 'crash before') return this.#crash(live, call);
    if (fault === 'refused') {
      this.trace.push(`${live.actor.by}: ${call.name} refused`);
      one.reject(errorFor(step, 'retryable'));
      return this.#settle();
    }
    const answer = this.#perform(live, one);
    if (fault === 'crash after') return this.#crash(live, call);
    if (fault === 'lost answer') one.reject(errorFor(step, 'unknown'));
    else if (answer.kind === 'error') one.reject(answer.error as Error);
    else if (answer.kind === 'value') {
      live.answers.push(answer);
      one.resolve(answer.value);
    }
    await this.#settle();
  }

  #blocked({ call, running }: Waiting): boolean {
    const { name, args } = call;
    if (running === true || (name !== 'snapshot' && name !== 'keep')) return false;
    const named = name === 'keep' ? [(args[0] as Write).key] : (args[0] as readonly Write['key'][]);
    const keys = new Set(named.map(keyText));
    return this.#running().some(({ key }) => keys.has(keyText(key)));
  }

  #running(except?: Waiting): readonly Write[] {
    return [...this.#live].flatMap(({ waiting }) =>
      waiting.flatMap((one) =>
        one.running === true && one !== except ? (one.call.args[0] as Transaction).writes : [],
      ),
    );
  }

  #perform(live: Live, one: Waiting): Answer {
    const { call, sentAt } = one;
    const { alter = (sent: Transaction) => sent, judge, poisoned, other, tornReads } = this.#parts;
    const step = stepOf(call);
    if (call.port === 'orchestrator') return { kind: 'value', value: other(call) };
    if (step === 'deliver' && poisoned((call.args[0] as { payload: unknown }).payload)) {
      return { kind: 'error', error: errorFor(step, 'retryable') };
    }
    if (step === 'commit' && one.running !== true) {
      const own = new Set((call.args[0] as Transaction).writes.map(({ key }) => keyText(key)));
      if (this.#running(one).some(({ key }) => own.has(keyText(key)))) {
        this.trace.push(`${live.actor.by}: commit contended`);
        return { kind: 'value', value: { ok: false, failed: [], contended: true } };
      }
    }
    const before = this.world;
    const table =
      step === 'list'
        ? this.#seenBy(call)
        : step === 'read' && tornReads === true
          ? this.#old()
          : before.table;
    const done = perform({ ...before, table }, call, alter);
    if (step === 'list' || step === 'read') {
      this.trace.push(`${live.actor.by}: ${call.name}`);
      return done.answer;
    }
    this.world = done.world;
    if (done.world.table !== before.table) this.#remember(before.table);
    const wrote = done.wrote.map(({ op, key }) => `${op} ${key.kind}`).join(', ');
    this.trace.push(`${live.actor.by}: ${call.name} ${wrote || JSON.stringify(done.answer)}`);
    const judged = { actor: live.actor, call, answers: live.answers, sentAt, before, done };
    const next = judge.step(this.history, judged);
    if (typeof next === 'string') throw new Violation(next);
    this.history = next;
    const wrong = judge.world(this.history, this.world);
    if (wrong !== undefined) throw new Violation(wrong);
    const held = heldAssets(this.world.table);
    for (const each of this.#live) for (const asset of held) each.heldMeanwhile.add(asset);
    return done.answer;
  }

  /** A list shows an index that may lag, or rows of running transactions one by one. */
  #seenBy({ name }: Call): Table {
    const { draws } = this.#parts;
    if (name === 'listDue' || name === 'listParked')
      return draws.chance(0.3) ? this.#old() : this.world.table;
    const running = this.#running();
    if (running.length === 0) return this.world.table;
    const table = new Map(this.world.table);
    for (const write of running) {
      if (write.op !== 'create' || table.has(keyText(write.key)) || draws.chance(0.5)) continue;
      table.set(keyText(write.key), { key: write.key, item: write.item as never });
    }
    return table;
  }

  #old(): Table {
    const { draws } = this.#parts;
    return this.#tables.length === 0 ? this.world.table : draws.pick(this.#tables);
  }

  #remember(table: Table): void {
    this.#tables.push(table);
    if (this.#tables.length > 4) this.#tables.shift();
  }

  #called(call: Call): Promise<unknown> {
    const live = this.#current.getStore();
    if (live === undefined) throw new Error(`${call.name} outside of a program`);
    const sentAt = this.world.now + live.process.skewMs;
    return new Promise((resolve, reject) => {
      if (this.#live.has(live)) live.waiting.push({ call, sentAt, resolve, reject });
    });
  }

  #crash(live: Live, { name }: Call): void {
    this.trace.push(`${live.actor.by}: dies at ${name}`);
    this.#live.delete(live);
  }

  #ended(live: Live, value: unknown): void {
    if (!this.#live.delete(live)) return;
    const { code, end } = (value ?? {}) as { code?: string; end?: string };
    const told = code ?? end ?? 'done';
    this.trace.push(`${live.actor.by}: ${told}`);
    const kind = `${live.actor.by.replace(/^\S+ \d+ /, '')} ${told}`;
    this.ends.set(kind, (this.ends.get(kind) ?? 0) + 1);
    const asset = (value as { asset?: string } | undefined)?.asset;
    if (code === 'ASSET_BUSY' && asset !== undefined && !live.heldMeanwhile.has(asset)) {
      this.#broken ??= new Violation(`a refusal from memory: nobody held ${asset} meanwhile`);
    }
    const next = this.#parts.judge.end(this.history, live.actor, value);
    if (typeof next === 'string') this.#broken ??= new Violation(next);
    else this.history = next;
  }

  #failed(live: Live, error: unknown): void {
    this.#live.delete(live);
    const expected =
      error instanceof Error &&
      (error.name === 'CheckpointFault' || error.name === 'DeliveryError');
    this.trace.push(`${live.actor.by}: ${error instanceof Error ? error.message : String(error)}`);
    if (!expected) this.#broken ??= error as Error;
  }

  async #settle(): Promise<void> {
    await setImmediate();
    if (this.#broken !== undefined) throw this.#broken;
  }

  #count(fault: FaultName, step: StepName): void {
    const name = `${fault} × ${step}`;
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }
}

function heldAssets(table: Table): readonly string[] {
  return [...table.values()].flatMap(({ key, item }) =>
    key.kind === 'lock' && item['held'] === true ? [key.asset] : [],
  );
}

/** What a port throws that could not do its work: `unknown` where it may have. */
function errorFor(step: StepName, kind: 'retryable' | 'unknown'): Error {
  return step === 'deliver' || step === 'ticket'
    ? new DeliveryError(kind, 'cut off')
    : new Fault(kind === 'unknown' ? 'unknown' : 'retryable', 'BACKEND_UNAVAILABLE', 'cut off');
}
