// One simulated run: what people, machines and accidents do, drawn from a seed; then rest, in which
// everything that is due has to come to its end.
import { sha256Hex } from '../../lib/core/canonical.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import { WORKING } from '../../lib/core/model/run.ts';
import { holdsAsset, type OutboxRow, type Workflow } from '../../lib/core/model/workflow.ts';
import type { Orchestrator, RunWork } from '../../lib/core/ports/orchestrator.ts';
import type { Transaction } from '../../lib/core/ports/storage.ts';
import type { RunCommand } from '../../lib/core/runs/commands.ts';
import { RUN } from '../../lib/core/runs/timing.ts';
import type { Service } from '../../lib/core/service/service.ts';
import { START_MS } from '../support/harness.ts';
import { invariants } from '../exhaustive/invariants.ts';
import { itemsOf } from '../exhaustive/items.ts';
import type { Actor } from '../exhaustive/search.ts';
import {
  asks,
  delivers,
  PEOPLE,
  releases,
  said,
  serviceOn,
  sweepsWith,
  works,
  type Who,
} from '../exhaustive/programs.ts';
import type { Call, Ports, Program } from '../exhaustive/replay.ts';
import { eventsOf, type World } from '../exhaustive/world.ts';
import { drawsOf, type Draws } from './draws.ts';
import { NEXT, THIS, TOO_EARLY, type Release } from './releases.ts';
import { Scheduler, Violation, type Process } from './scheduler.ts';

/** What is done in one run, at most. */
const MOVES = 45;
const STEPS = 2_500;
const MINUTE = 60_000;
/** After so many sweeps at rest, what waited at its beginning has left. */
const PATIENT = 8;
const ASSETS = ['U-1', 'U-2'];
const SKEWS = [0, 0, 25_000, -25_000];

/** A bug that is planted. Each changes what a part of the product is given, never its code. */
export interface Bug {
  readonly alter?: (transaction: Transaction) => Transaction;
  /** Wraps every program, by what it is. */
  readonly wrap?: (what: string, program: Program) => Program;
  readonly tornReads?: boolean;
  readonly anyFormat?: boolean;
  /** Replaces the service of a process. */
  readonly service?: (service: Service) => Service;
}

/** How a run is made. */
export interface RunOptions {
  readonly bug?: Bug;
  /** Fewer moves than there would be: how a failure is made shorter. */
  readonly moves?: number;
}

/** What became of a run. */
export interface RunReport {
  readonly seed: number;
  readonly steps: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly ends: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
  readonly violation?: string;
}

/** Makes the run of a seed. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<RunReport> {
  const run = new Run(seed, options);
  let violation: string | undefined;
  try {
    await run.play();
  } catch (error) {
    violation = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Violation)) violation = `an error of the program: ${violation}`;
  }
  const { steps, faults, ends, trace } = run.scheduler;
  return { seed, steps, faults, ends, trace, ...(violation !== undefined && { violation }) };
}

/** The fewest moves of a seed that still fail. */
export async function shortest(
  seed: number,
  options: RunOptions = {},
): Promise<{ readonly moves: number; readonly report: RunReport }> {
  for (let moves = 1; moves < MOVES; moves++) {
    const report = await simulate(seed, { ...options, moves });
    if (report.violation !== undefined) return { moves, report };
  }
  return { moves: MOVES, report: await simulate(seed, options) };
}

interface Saying {
  readonly command: string | undefined;
  readonly knownForMs?: number;
  readonly tenant: string;
  readonly what: string;
  readonly program: Program | ((service: Service) => Program);
  readonly viaService: boolean;
  readonly until: number;
}

class Run {
  readonly scheduler: Scheduler;
  readonly #draws: Draws;
  readonly #options: RunOptions;
  readonly #processes: { process: Process; service: Service }[] = [];
  /** What was said so far: each may come again, late. */
  readonly #sayings: Saying[] = [];
  readonly #executions = new Map<string, 'running' | 'ended'>();
  readonly #toStart: RunWork[] = [];
  readonly #poisoned: string;
  /** What is done in this world: some see more of runs, or of repairs, than any mixture of all would. */
  readonly #kinds: readonly Kind[];
  /** What processes are replaced by, one after the other. */
  readonly #rolledOut: Release;
  #begun = 0;
  #lives = 0;

  constructor(seed: number, options: RunOptions) {
    this.#draws = drawsOf(seed);
    this.#options = options;
    this.#poisoned = this.#draws.chance(0.2) ? this.#draws.pick(ASSETS) : '';
    const seldom = this.#draws.pick(SELDOM);
    this.#kinds = MOVES_BY_WEIGHT.filter((kind) => !seldom.includes(kind));
    const { alter, tornReads, anyFormat } = options.bug ?? {};
    const world: World = {
      table: new Map(),
      lease: undefined,
      now: START_MS,
      outside: { accepted: new Map(), tickets: new Map() },
    };
    this.scheduler = new Scheduler({
      world,
      draws: this.#draws,
      judge: invariants(),
      poisoned: (payload) => (payload as { asset?: string }).asset === this.#poisoned,
      other: (call) => this.#orchestrate(call),
      ...(alter !== undefined && { alter }),
      ...(tornReads !== undefined && { tornReads }),
      ...(anyFormat !== undefined && { anyFormat }),
    });
    this.#rolledOut = this.#draws.chance(0.4) ? this.#draws.pick([NEXT, NEXT, TOO_EARLY]) : THIS;
    for (let i = 0; i < 3; i++) {
      const release = i === 0 ? this.#rolledOut : THIS;
      this.#processes.push(this.#born(`p${i}`, this.#draws.pick(SKEWS), release));
    }
  }

  async play(): Promise<void> {
    const { moves = MOVES } = this.#options;
    for (const { tenant, subject, name } of Object.values(PEOPLE)) {
      await this.scheduler.know({ tenant, subject, name: name ?? subject });
    }
    for (let made = 0, steps = 0; made < moves && steps < STEPS; steps++) {
      if (!this.scheduler.busy || this.#draws.chance(0.12)) {
        made += 1;
        await this.#move();
      } else await this.scheduler.step(true);
      await this.#startWork();
    }
    await this.#rest();
  }

  #born(name: string, skewMs: number, release: Release): { process: Process; service: Service } {
    const process = this.scheduler.process(name, skewMs, this.#lives++, release);
    const service = serviceOn(process.ports);
    return { process, service: this.#options.bug?.service?.(service) ?? service };
  }

  async #move(): Promise<void> {
    const kind = this.#draws.pick(this.#kinds);
    switch (kind) {
      case 'time':
        this.scheduler.passTime(
          this.#draws.pick([1_000, MINUTE, 6 * MINUTE, 20 * MINUTE, 50 * MINUTE]),
        );
        return;
      case 'kill': {
        const at = Math.floor(this.#draws.fraction() * this.#processes.length);
        const old = this.#processes[at];
        if (old === undefined) return;
        this.scheduler.kill(old.process);
        this.scheduler.trace.push(`${old.process.name} dies`);
        const release = this.#draws.pick([THIS, this.#rolledOut]);
        this.#processes[at] = this.#born(old.process.name, old.process.skewMs, release);
        return;
      }
      case 'again': {
        const fresh = this.#sayings.filter(({ until }) => until > this.scheduler.world.now);
        if (fresh.length > 0) await this.#say(this.#draws.pick(fresh));
        return;
      }
      case 'sweep':
        return this.#run('sweep', sweepsWith(this.#orchestrator));
      case 'deliver':
        return this.#deliver();
      default: {
        const saying = this.#saying(kind);
        // Where there is nothing to say it about, what is there goes on instead.
        if (saying === undefined) return this.#deliver();
        this.#sayings.push(saying);
        await this.#say(saying);
        if (this.#draws.chance(0.25)) await this.#say(saying);
      }
    }
  }

  async #deliver(): Promise<void> {
    const rows = itemsOf(this.scheduler.world.table, 'outbox');
    if (rows.length === 0) return;
    await this.#run('delivery', delivers(this.#draws.pick(rows), this.#orchestrator));
  }

  async #run(
    what: string,
    program: Program,
    of: Pick<Actor, 'command' | 'knownForMs' | 'tenant'> = {},
  ): Promise<void> {
    const { process } = this.#draws.pick(this.#processes);
    const by = `${process.name} ${(this.#begun += 1)} ${what}`;
    const wrapped = this.#options.bug?.wrap?.(what, program) ?? program;
    await this.scheduler.begin(process, { by, ...of }, wrapped);
  }

  async #say({ what, command, knownForMs, tenant, program, viaService }: Saying): Promise<void> {
    const of = {
      tenant,
      ...(command !== undefined && { command }),
      ...(knownForMs !== undefined && { knownForMs }),
    };
    if (!viaService) return this.#run(what, program as Program, of);
    const { process, service } = this.#draws.pick(this.#processes);
    const by = `${process.name} ${(this.#begun += 1)} ${what}`;
    const own = (program as (service: Service) => Program)(service);
    await this.scheduler.begin(process, { by, ...of }, own);
  }

  /** Somebody says something about what there is. */
  #saying(
    kind: Exclude<Kind, 'time' | 'kill' | 'again' | 'sweep' | 'deliver'>,
  ): Saying | undefined {
    const { table, now } = this.scheduler.world;
    const n = this.#sayings.length;
    const keyed = this.#draws.chance(0.6);
    const work = itemsOf(table, 'workflow').filter(({ state }) => state !== 'COMPLETED');
    const workflow = work.length === 0 ? undefined : this.#draws.pick(work);
    const long = now + 20 * DAY;
    const person = (who: Who, command: Command, tagged = keyed): Saying => ({
      what: `${who} ${command.type}`,
      tenant: PEOPLE[who].tenant,
      command: tagged ? `${who} ${n}` : undefined,
      viaService: true,
      program: (service: Service) => (ports: Ports) => said(service, who, command, ports.clock),
      until: long,
    });
    const key = keyed ? { key: `k${n}` } : {};
    if (kind === 'start') {
      const who = this.#draws.pick(['ana', 'ben', 'sol', 'eve'] as const);
      const asset = this.#draws.pick(ASSETS);
      // Every second one proposes to go on where it blocks.
      const procedure = n % 2 === 0 ? 'round' : 'watched';
      return person(who, { type: 'start_workflow', procedure, asset, ...key });
    }
    if (kind === 'report') {
      const incident = { service: 'checkout', symptom: this.#draws.pick(['slow', 'down']) };
      const said = { type: 'create_run', ...incident, ...key } as const;
      const until = keyed ? long : now + 5 * MINUTE;
      const program = asks('ana', said);
      const known = keyed ? {} : { knownForMs: RUN.attachMs };
      const command = `report ${n}`;
      return {
        what: 'ana create_run',
        tenant: PEOPLE.ana.tenant,
        command,
        ...known,
        viaService: false,
        program,
        until,
      };
    }
    if (kind === 'decide' || kind === 'resume') {
      const proposing = work.filter((one) => one.block?.proposal !== undefined);
      const about = kind === 'decide' && proposing.length > 0 && this.#draws.chance(0.5);
      if (!about) return this.#onRun(kind, n, long);
      const { id, block } = this.#draws.pick(proposing);
      const decider = this.#draws.pick(['cara', 'dan', 'ana', 'ben'] as const);
      const action_hash = block?.proposal?.action_hash ?? '';
      const approved = this.#draws.chance(0.6);
      const decision = { workflow: id, approved, action_hash } as const;
      return person(decider, { type: 'decide_approval', ...decision, key: `p${n}` }, true);
    }
    if (workflow === undefined) return undefined;
    const { id, holder, tenure, block } = workflow;
    const who = this.#draws.chance(0.8) ? whoIs(holder.subject) : this.#draws.pick(CREW);
    switch (kind) {
      case 'record': {
        const input = { kind: 'confirm', confirmed: this.#draws.chance(0.5) } as const;
        return person(who, { type: 'record_step', workflow: id, step: 'ready', input, ...key });
      }
      case 'complete':
        return person(who, { type: 'complete_workflow', workflow: id, ...key });
      case 'abandon': {
        const command = { type: 'abandon_workflow', workflow: id, tenure, reason: 'over' } as const;
        return person(who, { ...command, ...key }, true);
      }
      case 'hand_over': {
        const to = PEOPLE[this.#draws.pick(['ana', 'ben'] as const)].subject;
        return person(who, { type: 'hand_over', workflow: id, tenure, to, ...key });
      }
      case 'resolve': {
        if (block === undefined) return undefined;
        const decision = this.#draws.pick(['continue', 'retake', 'abandon'] as const);
        const named = { workflow: id, block: block.seq, decision, reason: 'seen' };
        return person('sol', { type: 'resolve_block', ...named, ...key }, true);
      }
      case 'release': {
        const program = releases(workflow.asset, `r${n}`);
        return {
          what: 'release',
          tenant: PEOPLE.sol.tenant,
          command: `release ${n}`,
          viaService: false,
          program,
          until: long,
        };
      }
    }
  }

  #onRun(kind: 'decide' | 'resume', n: number, until: number): Saying | undefined {
    const wanted = kind === 'decide' ? 'awaiting_approval' : 'failed';
    const runs = itemsOf(this.scheduler.world.table, 'run').filter(({ state }) => state === wanted);
    if (runs.length === 0) return undefined;
    const { id: run, proposal } = this.#draws.pick(runs);
    const approved = this.#draws.chance(0.8);
    const who: Who = this.#draws.pick(['cara', 'cara', 'dan', 'dan', 'ana'] as const);
    const action_hash = proposal?.action_hash ?? '';
    const command: RunCommand =
      kind === 'decide'
        ? { type: 'decide_approval', run, approved, action_hash, key: `d${n}` }
        : { type: 'resume_run', run, key: `d${n}` };
    const program = asks(kind === 'decide' ? who : 'cara', command);
    const { tenant } = PEOPLE[who];
    const what = `${who} ${kind}`;
    return { what, tenant, command: `run ${n}`, viaService: false, program, until };
  }

  readonly #orchestrator = (ports: Ports): Orchestrator => {
    const port = ports.port<Orchestrator>('orchestrator');
    return {
      start: (name, work, deadlineMs) => port.start(name, work, deadlineMs),
      describe: (name, deadlineMs) => port.describe(name, deadlineMs),
    };
  };

  #orchestrate({ name, args }: Call): unknown {
    const [execution, work] = args as [string, RunWork];
    if (name === 'describe') return this.#executions.get(execution) ?? 'absent';
    if (!this.#executions.has(execution)) this.#toStart.push(work);
    // Whatever becomes of it, an orchestrator does not know what its work has done.
    this.#executions.set(execution, 'ended');
    return undefined;
  }

  async #startWork(): Promise<void> {
    for (const { run, attempt } of this.#toStart.splice(0)) {
      await this.#run('worker', works(run, attempt));
    }
  }

  /** Nothing goes wrong any more: what is due comes to its end. */
  async #rest(): Promise<void> {
    const { scheduler } = this;
    const drain = async (): Promise<void> => {
      for (let steps = 0; scheduler.busy; steps++) {
        await scheduler.step(false);
        await this.#startWork();
        if (steps > 20_000) throw new Violation('rest: programs never end');
      }
    };
    await drain();
    // A rollout comes to its end, too.
    for (const [at, { process }] of this.#processes.entries()) {
      this.#processes[at] = this.#born(process.name, process.skewMs, this.#rolledOut);
    }
    const waiting = new Set(this.#waiting().map(({ id }) => id));
    for (let round = 0; round < 60 && (round < 4 || this.#unsettled() !== undefined); round++) {
      const heldUp =
        round === PATIENT ? this.#waiting().find(({ id }) => waiting.has(id)) : undefined;
      if (heldUp !== undefined) throw new Violation(`rest: ${heldUp.id} is held up`);
      scheduler.passTime(31 * MINUTE);
      await this.#run('sweep', sweepsWith(this.#orchestrator));
      await drain();
    }
    const left = this.#unsettled() ?? this.#broken();
    if (left !== undefined) throw new Violation(`rest: ${left}`);
  }

  /** Rows that nothing is in the way of. */
  #waiting(): readonly OutboxRow[] {
    return itemsOf(this.scheduler.world.table, 'outbox').filter(
      ({ payload, parked_at }) => payload['asset'] !== this.#poisoned && parked_at === undefined,
    );
  }

  #unsettled(): string | undefined {
    const { table } = this.scheduler.world;
    const [row] = this.#waiting();
    if (row !== undefined) return `${row.id} never left`;
    const run = itemsOf(table, 'run').find(({ state }) => WORKING.has(state));
    return run && `${run.id} stays ${run.state}`;
  }

  /** What only the whole of a world at rest shows: pointers, and every hash. */
  #broken(): string | undefined {
    const { table } = this.scheduler.world;
    const work = itemsOf(table, 'workflow');
    const active = work.filter(({ state }) => state !== 'COMPLETED');
    const name = ({ tenant, holder, id }: Workflow): string => `${tenant} ${holder.subject} ${id}`;
    const pointers = itemsOf(table, 'pointer').map(
      ({ tenant, subject, workflow }) => `${tenant} ${subject} ${workflow}`,
    );
    if (pointers.toSorted().join() !== active.map(name).toSorted().join()) return 'pointers differ';
    for (const { tenant, id } of [...work, ...itemsOf(table, 'run')]) {
      const wrong = eventsOf(table, tenant, id).find(({ text, hash }) => sha256Hex(text) !== hash);
      if (wrong !== undefined) return `event ${wrong.seq} of ${id} does not match its hash`;
    }
    const lock = itemsOf(table, 'lock').find(({ held, tenant, workflow }) => {
      const holder = work.find((one) => one.tenant === tenant && one.id === workflow);
      return held && (holder === undefined || !holdsAsset(holder));
    });
    return lock && `the lock of ${lock.asset} is an orphan`;
  }
}

const DAY = 24 * 60 * MINUTE;
const CREW = ['ana', 'ben', 'sol'] as const;
const whoIs = (subject: string): Who =>
  (Object.keys(PEOPLE) as Who[]).find((who) => PEOPLE[who].subject === subject) ?? 'ana';

const MOVES_BY_WEIGHT = [
  'start', 'start', 'start', 'record', 'record', 'record', 'record', 'complete', 'complete',
  'abandon', 'hand_over', 'resolve', 'resolve', 'resolve', 'release', 'report', 'report', 'decide', 'decide', 'decide',
  'decide', 'decide', 'decide',
  'resume', 'again', 'again', 'again', 'again', 'sweep', 'sweep', 'sweep', 'deliver', 'deliver', 'deliver',
  'time', 'time', 'kill',
] as const; // prettier-ignore
/** What is left out of a world. */
const SELDOM: readonly (readonly Kind[])[] = [
  [],
  [],
  ['report', 'decide', 'resume'],
  ['start', 'record', 'complete', 'abandon', 'hand_over', 'resolve', 'release'],
  ['time', 'again', 'deliver', 'complete', 'abandon'],
];
type Kind = (typeof MOVES_BY_WEIGHT)[number];
