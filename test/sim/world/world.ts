// One simulated deployment: people of two tenants, processes with warm caches, a dispatcher in each, sweeps,
// and a sink, over the store in memory. One seed gives one run.
import { createDispatcher } from '../../../lib/core/dispatch/dispatcher.ts';
import { Fault } from '../../../lib/core/fault.ts';
import type { Command, StepInput } from '../../../lib/core/model/commands.ts';
import type { Outcome } from '../../../lib/core/outcome.ts';
import { DeliveryError } from '../../../lib/core/ports/sink.ts';
import type { Clock } from '../../../lib/core/ports/runtime.ts';
import type { StorageBackend, Transaction } from '../../../lib/core/ports/storage.ts';
import { createSweeper } from '../../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../../lib/core/reconcile/timing.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService, type Service } from '../../../lib/core/service/service.ts';
import { principal, START_MS, testRandom, testRegistry } from '../../support/harness.ts';
import { storeAround } from '../memory-store/around.ts';
import { createMemoryStore, type MemoryStore } from '../memory-store/store.ts';
import { breachesNow, tornTrails } from './checks.ts';
import { Scheduler } from './scheduler.ts';

const TENANTS = ['acme', 'bolt'];
const SCOPES = ['procedures:run', 'procedures:supervise'];
const PEOPLE = TENANTS.flatMap((tenant) =>
  ['ana', 'ben'].map((name) => principal({ tenant, subject: `dev:${name}`, name, scopes: SCOPES })),
);
const PROCESSES = 3;
const SKEWS = [0, 20_000, -20_000];
const DEADLINE_MS = 8_000;
const STEPS: readonly (readonly [string, StepInput])[] = [
  ['ready', { kind: 'confirm', confirmed: true }],
  ['ready', { kind: 'confirm', confirmed: false }],
  ['outlet', { kind: 'reading', value: 9 }],
  ['mode', { kind: 'choice', option: 'off' }],
];
const registry = testRegistry();
const secrets = secretsOf('a secret of at least thirty-two characters');

/** Changes what is written or where it goes, to plant a bug. */
export interface Plant {
  readonly transaction?: (transaction: Transaction) => Transaction;
  /** Whether a row that was refused by its sink counts as delivered. */
  readonly believesSink?: boolean;
}

interface Process {
  readonly name: string;
  readonly clock: Clock;
  readonly store: StorageBackend;
  readonly service: Service;
}

/** What a run came to. */
export interface Report {
  readonly breaches: readonly string[];
  readonly trace: readonly string[];
  /** How often each fault happened at each step, as `fault × step`. */
  readonly faults: ReadonlyMap<string, number>;
  readonly answers: ReadonlyMap<string, number>;
}

/** Runs `moves` moves of a seed and lets the world come to rest. */
export async function simulate(seed: number, moves: number, plant: Plant = {}): Promise<Report> {
  const world = new World(seed, plant);
  return world.run(moves);
}

class World {
  readonly #scheduler: Scheduler;
  readonly #memory: MemoryStore;
  readonly #plant: Plant;
  readonly #seed: number;
  readonly #processes: Process[];
  readonly #created = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #receipts = new Map<string, string>();
  readonly #keyed: (readonly [(typeof PEOPLE)[number], Command])[] = [];
  readonly #breaches = new Set<string>();
  readonly #faults = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  #born = 0;
  #changed = true;
  #calm = false;

  constructor(seed: number, plant: Plant) {
    this.#seed = seed;
    this.#plant = plant;
    this.#scheduler = new Scheduler(testRandom(`simulation ${seed}`), START_MS);
    const scheduler = this.#scheduler;
    this.#memory = createMemoryStore(scheduler, {
      item: () => scheduler.pause('store', 'item'),
      later: (change) => {
        void scheduler.pause('store', 'index', scheduler.pick(2_000)).then(change);
      },
    });
    this.#processes = Array.from({ length: PROCESSES }, (_, i) => this.#process(i));
  }

  async run(moves: number): Promise<Report> {
    const players = Promise.all(Array.from({ length: 3 }, (_, i) => this.#player(i, moves)));
    await this.#scheduler.run(() => this.#check());
    await players;
    this.#calm = true;
    const rest = this.#rest();
    await this.#scheduler.run(() => this.#check());
    await rest;
    this.#checkRest();
    return {
      breaches: [...this.#breaches],
      trace: this.#scheduler.trace,
      faults: this.#faults,
      answers: this.#answers,
    };
  }

  #count(counts: Map<string, number>, name: string): void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  #process(i: number): Process {
    const scheduler = this.#scheduler;
    const name = `p${++this.#born}`;
    const skew = SKEWS[i % SKEWS.length] ?? 0;
    const clock: Clock = {
      now: () => scheduler.now() + skew,
      sleep: (ms) => scheduler.pause(name, 'sleep', ms),
    };
    const store = storeAround(this.#memory.open(clock), (call, send) =>
      this.#call(name, call, send),
    );
    const planted: StorageBackend = {
      ...store,
      commit: async (sent, deadlineMs) => {
        const transaction = this.#plant.transaction?.(sent) ?? sent;
        return store.commit(transaction, deadlineMs);
      },
    };
    const random = testRandom(`${this.#seed} ${name}`);
    const service = createService({
      store: planted,
      registry,
      clock,
      random,
      secrets,
      sinks: ['log'],
    });
    return { name, clock, store: planted, service };
  }

  /** A call is sent at one step and answered at another, and may be held up or lose its answer. */
  async #call(process: string, name: string, send: () => Promise<unknown>): Promise<unknown> {
    const late = !this.#calm && this.#scheduler.pick(40) === 0;
    if (late) this.#count(this.#faults, `held up × ${name}`);
    await this.#scheduler.pause(process, `${name} sent`, late ? DEADLINE_MS + 1_000 : 1);
    const answer = await send();
    this.#changed = true;
    await this.#scheduler.pause(process, `${name} answered`);
    if (!this.#calm && this.#scheduler.pick(25) === 0) {
      this.#count(this.#faults, `lost reply × ${name}`);
      throw new Fault('unknown', 'BACKEND_UNAVAILABLE', 'the answer was lost');
    }
    return answer;
  }

  async #player(n: number, moves: number): Promise<void> {
    const scheduler = this.#scheduler;
    for (let move = n; move < moves; move += 3) {
      await scheduler.pause('world', `move ${move}`, scheduler.pick(3_000));
      const i = scheduler.pick(this.#processes.length);
      const process = this.#processes[i];
      if (process === undefined) throw new Error('there are processes');
      const what = scheduler.pick(12);
      if (what === 0) {
        for (const at of scheduler.crash(process.name)) {
          this.#count(this.#faults, `crash × ${at}`);
        }
        this.#processes[i] = this.#process(i);
      } else if (what === 1) {
        await scheduler.pause('world', 'time passes', RECONCILE.checkMs);
      } else if (what < 4) void this.#sweep(process);
      else void this.#command(process);
    }
  }

  async #command({ service, clock, name }: Process): Promise<void> {
    const [who, command] = this.#pickCommand();
    this.#scheduler.trace.push(`${name} ${who.tenant} ${who.subject} ${JSON.stringify(command)}`);
    const asked = await service.execute(who, command, clock.now() + DEADLINE_MS);
    const state = asked.code === 'NEEDS_CONFIRMATION' ? asked.state : undefined;
    const outcome =
      state !== undefined && command.type === 'record_step'
        ? await service.execute(who, { ...command, confirmation: state }, clock.now() + DEADLINE_MS)
        : asked;
    this.#count(this.#answers, `${command.type} ${outcome.code}`);
    this.#checkAnswer(who, command, outcome);
  }

  #pickCommand(): readonly [(typeof PEOPLE)[number], Command] {
    const scheduler = this.#scheduler;
    const again = this.#keyed[scheduler.pick(this.#keyed.length * 3)];
    if (again !== undefined) {
      this.#count(this.#faults, 'repeat × command');
      return again;
    }
    const who = PEOPLE[scheduler.pick(PEOPLE.length)];
    if (who === undefined) throw new Error('there are people');
    const key = `k${this.#keyed.length}`;
    const work = [...this.#memory.rows.shown('workflow', 'now')]
      .map(([, one]) => one)
      .filter(({ tenant, state }) => tenant === who.tenant && state !== 'COMPLETED');
    const own = work.filter(({ holder }) => holder.subject === who.subject);
    const mine = own.length > 0 && scheduler.pick(5) > 0 ? own : work;
    const one = mine[scheduler.pick(mine.length * 4 + 1) % (mine.length + 1)];
    const [step, input] = STEPS[scheduler.pick(STEPS.length)] ?? [];
    let command: Command;
    if (one === undefined) {
      const asset = `UNIT-${scheduler.pick(2) + 1}`;
      command = { type: 'start_workflow', procedure: 'sample', asset, key };
    } else if (one.block !== undefined) {
      const { seq: block } = one.block;
      const decision = scheduler.pick(2) === 0 ? 'continue' : 'abandon';
      const workflow = one.id;
      command = { type: 'resolve_block', workflow, block, decision, reason: 'seen', key };
    } else if (scheduler.pick(6) === 0 || step === undefined || input === undefined) {
      const { id: workflow, tenure } = one;
      command = { type: 'abandon_workflow', workflow, tenure, reason: 'over', key };
    } else command = { type: 'record_step', workflow: one.id, step, input, key };
    this.#keyed.push([who, command]);
    return [who, command];
  }

  /** I2 and I8: each answer carries the first receipt, and none is of another tenant. */
  #checkAnswer(who: (typeof PEOPLE)[number], command: Command, outcome: Outcome): void {
    if (outcome.code !== 'OK') return;
    const key = JSON.stringify([who.tenant, who.subject, command.key]);
    const receipt = JSON.stringify(outcome.receipt);
    const first = this.#receipts.get(key) ?? receipt;
    this.#receipts.set(key, first);
    if (first !== receipt) this.#breaches.add(`I2: ${key} was answered ${first}, then ${receipt}`);
    const { workflow: id } = outcome.receipt;
    if (this.#memory.rows.read({ kind: 'workflow', tenant: who.tenant, id }) === undefined) {
      this.#breaches.add(`I8: ${key} was told of ${id}`);
    }
  }

  async #sweep({ store, clock, name }: Process): Promise<void> {
    const random = testRandom(`${this.#seed} sweep ${++this.#born}`);
    const deliver = async ({ id }: { readonly id: string }): Promise<void> => {
      await this.#scheduler.pause(name, 'deliver');
      if (!this.#calm && this.#scheduler.pick(5) === 0) {
        this.#count(this.#faults, 'refused × deliver');
        if (this.#plant.believesSink === true) return;
        throw new DeliveryError('retryable', 'busy');
      }
      this.#accepted.add(id);
      if (this.#calm || this.#scheduler.pick(5) > 0) return;
      this.#count(this.#faults, 'lost reply × deliver');
      throw new DeliveryError('unknown', 'cut off');
    };
    const sinks = [{ name: 'log', deliver }];
    const dispatcher = createDispatcher({ store, clock, random, sinks });
    const parts = { store, clock, random, dispatcher, registry, sinks: ['log'] };
    try {
      await createSweeper(parts).sweep(0, { goOn: () => true });
    } catch (error) {
      // A sweep that meets a fault ends, and the next one goes on.
      if (!(error instanceof Fault)) throw error;
    }
  }

  async #rest(): Promise<void> {
    for (let n = 0; n < 4; n++) {
      await this.#scheduler.pause('world', 'rest', RECONCILE.checkMs);
      const [process] = this.#processes;
      if (process !== undefined) await this.#sweep(process);
    }
  }

  #check(): void {
    if (!this.#changed) return;
    this.#changed = false;
    const { rows } = this.#memory;
    // A row is a command's where the event that caused it stands beside it.
    for (const [, row] of rows.shown('outbox', 'now')) {
      const { tenant, workflow } = row;
      const key = { kind: 'event', tenant, workflow, seq: row.seq } as const;
      if (rows.read(key) !== undefined) this.#created.add(row.id);
    }
    for (const one of breachesNow(rows, this.#created, this.#accepted)) this.#breaches.add(one);
  }

  #checkRest(): void {
    const { rows } = this.#memory;
    for (const one of tornTrails(rows)) this.#breaches.add(one);
    for (const [, { id, parked_at }] of rows.shown('outbox', 'now')) {
      if (parked_at === undefined) this.#breaches.add(`I3: ${id} is neither delivered nor parked`);
    }
  }
}
