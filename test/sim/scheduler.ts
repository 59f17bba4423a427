// A simulated world: programs of several processes whose every call waits until a seed says that it is
// carried out, and how: as it should, late, twice answered or not at all. The same seed gives the same run.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../lib/core/fault.ts';
import { keyText } from '../../lib/core/keys.ts';
import { DeliveryError } from '../../lib/core/ports/sink.ts';
import { FORMAT, type Profile } from '../../lib/core/model/workflow.ts';
import type {
  ItemKey,
  Lease,
  StorageBackend,
  Transaction,
  Write,
} from '../../lib/core/ports/storage.ts';
import type { History } from '../exhaustive/invariants.ts';
import type { Attributes, Table } from '../exhaustive/items.ts';
import type { Answer, Call, Ports, Program } from '../exhaustive/replay.ts';
import type { Actor, Judge } from '../exhaustive/search.ts';
import { perform, type Alter, type World } from '../exhaustive/world.ts';
import { sentBy, wrongChange, type Release } from './releases.ts';
import { createMemoryStore, type MemoryStore } from './memory-store/store.ts';
import type { Draws } from './draws.ts';

/** A process: what runs in it shares its clock and what it remembers, and dies with it. */
export interface Process {
  readonly name: string;
  readonly skewMs: number;
  readonly release: Release;
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
  /** Reads items of a snapshot as plain reads would see them. */
  readonly tornReads?: boolean;
  /** Reads an item whatever its format is. */
  readonly anyFormat?: boolean;
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
  readonly #memory: MemoryStore;
  readonly #opened = new Map<number, StorageBackend>();
  /** Running transactions that wait to show their next item, and changes that the indexes do not show yet. */
  readonly #pauses: (() => void)[] = [];
  readonly #lagging: (() => void)[] = [];
  /** Reads that wait for a transaction. */
  readonly #watching: (() => void)[] = [];
  #wrote: readonly Write[] = [];
  #broken: Error | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.world = parts.world;
    this.history = parts.judge.begin(parts.world);
    this.#memory = createMemoryStore(
      { now: () => this.world.now },
      {
        item: () => new Promise((resolve) => this.#pauses.push(resolve)),
        shown: () => new Promise((resolve) => this.#watching.push(resolve)),
        later: (change) => this.#lagging.push(change),
        wrote: (writes) => {
          this.#happened(writes);
        },
      },
    );
  }

  /** Makes a person known to their tenant. */
  know(profile: Profile): Promise<void> {
    return this.#open(FORMAT).noteProfile(profile);
  }

  /** A process of this world. Two of one name never draw the same id: `life` counts its restarts. */
  process(name: string, skewMs: number, life: number, release: Release): Process {
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
    return { name, skewMs, release, ports };
  }

  /** Whether anything still waits to happen. */
  get busy(): boolean {
    return this.#live.size + this.#pauses.length + this.#lagging.length > 0;
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

  /** Lets one thing happen that waits; `faulty` lets something go wrong with a call. */
  async step(faulty: boolean): Promise<void> {
    const { draws } = this.#parts;
    const calls = [...this.#live].flatMap((live) => live.waiting.map((one) => ({ live, one })));
    // Items of running transactions show one by one, and the indexes show them later still.
    const shows = [...this.#pauses.slice(0, 1), ...this.#lagging.slice(0, 1)];
    if (shows.length > 0 && (calls.length === 0 || draws.chance(0.35))) {
      const show = draws.pick(shows);
      if (this.#pauses[0] === show) this.#pauses.shift();
      else this.#lagging.shift();
      show();
      await setImmediate();
      for (const see of this.#watching.splice(0)) see();
      return this.#settle();
    }
    if (calls.length === 0) return;
    const { live, one } = draws.pick(calls);
    this.steps += 1;
    const { call } = one;
    const step = stepOf(call);
    // The rarest calls go wrong most often, so that every cell of the table is reached.
    const rare = step === 'ticket' ? 0.5 : live.actor.by.endsWith('worker') ? 0.25 : undefined;
    const likely = rare ?? 0.12;
    const fault = faulty && draws.chance(likely) ? draws.pick(FAULTS) : undefined;
    if (fault !== undefined) this.#count(fault, step);
    if (fault === 'held up') {
      this.passTime(draws.pick([15_000, 100_000, 300_000, 1_000_000]));
      return;
    }
    live.waiting.splice(live.waiting.indexOf(one), 1);
    if (fault === 'crash before') {
      this.#crash(live, call);
      return;
    }
    if (fault === 'refused') {
      this.trace.push(`${live.actor.by}: ${call.name} refused`);
      one.reject(errorFor(step, 'retryable'));
      return this.#settle();
    }
    const result = this.#perform(live, one);
    if (fault === 'crash after') this.#crash(live, call);
    if (fault === 'lost answer') one.reject(errorFor(step, 'unknown'));
    const lost = fault === 'crash after' || fault === 'lost answer';
    result.then(
      (value) => {
        if (lost) return;
        live.answers.push({ kind: 'value', value });
        one.resolve(value);
      },
      (error: unknown) => {
        if (!lost) one.reject(error as Error);
      },
    );
    await this.#settle();
  }

  /** Carries out a call; what it wrote is judged at the moment at which it happened. */
  #perform(live: Live, one: Waiting): Promise<unknown> {
    const { call, sentAt } = one;
    const { judge, poisoned, other } = this.#parts;
    if (call.port === 'orchestrator') return Promise.resolve(other(call));
    if (call.port === 'sink' && poisoned((call.args[0] as { payload: unknown }).payload)) {
      return Promise.reject(errorFor('deliver', 'retryable'));
    }
    const before = this.world;
    this.#wrote = [];
    const result =
      call.port === 'store' ? this.#store(call, live.process.release) : this.#outside(call);
    const wrote = this.#wrote;
    const words = wrote.map(({ op, key }) => `${op} ${key.kind}`).join(', ');
    this.trace.push(`${live.actor.by}: ${call.name} ${words}`.trimEnd());
    const done = { world: this.world, answer: { kind: 'value', value: undefined }, wrote } as const;
    const judged = { actor: live.actor, call, answers: live.answers, sentAt, before, done };
    const next = judge.step(this.history, judged);
    if (typeof next === 'string') throw new Violation(next);
    this.history = next;
    const strange = tenantsOf(call).find((tenant) => tenant !== (live.actor.tenant ?? tenant));
    if (strange !== undefined) throw new Violation(`I8: ${live.actor.by} asked for ${strange}`);
    for (const write of wrote) {
      const [was, is] = [before, this.world].map(
        ({ table }) => table.get(keyText(write.key))?.item,
      );
      const lost = wrongChange(live.process.release, write, was, is);
      if (lost !== undefined) throw new Violation(`${lost}: ${live.actor.by}`);
    }
    const wrong = judge.world(this.history, this.world);
    if (wrong !== undefined) throw new Violation(wrong);
    const held = heldAssets(this.world.table);
    for (const each of this.#live) for (const asset of held) each.heldMeanwhile.add(asset);
    return result;
  }

  /** What was sent in time may happen after its deadline. */
  #open(reads: number): StorageBackend {
    const opened = this.#opened.get(reads) ?? this.#memory.open({ now: () => 0 }, reads);
    this.#opened.set(reads, opened);
    return opened;
  }

  #outside(call: Call): Promise<unknown> {
    const { world, answer } = perform(this.world, call, (sent) => sent);
    this.world = world;
    return Promise.resolve(answer.kind === 'value' ? answer.value : undefined);
  }

  async #store({ name, args }: Call, release: Release): Promise<unknown> {
    const { alter = (sent: Transaction) => sent, tornReads, anyFormat } = this.#parts;
    const asSent = (sent: Transaction): Transaction => {
      const altered = alter(sent);
      return { ...altered, writes: altered.writes.map((write) => sentBy(release, write)) };
    };
    const { rows } = this.#memory;
    if (name === 'snapshot' && tornReads === true) {
      return (args[0] as readonly ItemKey[]).map((key) => rows.read(key, 'plain'));
    }
    const [first, ...rest] = args;
    const sent =
      name === 'commit'
        ? asSent(first as Transaction)
        : name === 'keep'
          ? alter({ writes: [first as Write] }).writes[0]
          : first;
    const store = this.#open(anyFormat === true ? FORMAT + 1 : release.reads);
    const methods = store as unknown as Record<string, (...all: unknown[]) => unknown>;
    const answer = await methods[name]?.(sent, ...rest);
    if (name === 'takeLease' && answer !== undefined) {
      this.world = { ...this.world, lease: answer as Lease };
    }
    return answer;
  }

  /** What a transaction wrote, at its moment. */
  #happened(writes: readonly Write[]): void {
    this.#wrote = writes;
    const table = new Map(this.world.table);
    for (const { key } of writes) {
      const item = this.#memory.rows.find(key)?.views.now;
      if (item === undefined) table.delete(keyText(key));
      else table.set(keyText(key), { key, item: item as unknown as Attributes });
    }
    this.world = { ...this.world, table };
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

/** The tenants whose items a call is about. */
function tenantsOf({ port, name, args }: Call): readonly string[] {
  if (port !== 'store') return [];
  const keys =
    name === 'snapshot'
      ? (args[0] as readonly ItemKey[])
      : name === 'commit'
        ? (args[0] as Transaction).writes.map(({ key }) => key)
        : name === 'keep'
          ? [(args[0] as Write).key]
          : [];
  const [tenant] = args;
  if (typeof tenant === 'string' && name !== 'registerProcedure') return [tenant];
  return keys.flatMap((key) => ('tenant' in key ? key.tenant : []));
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
