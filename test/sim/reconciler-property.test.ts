// Random histories of work, time that passes, forced releases, drift, deliveries and sweeps, each able to
// happen in the middle of another, by processes whose clocks differ; and what must hold after every one of them.
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openSqliteStore } from '../../lib/adapters/sqlite/store.ts';
import { verifyAll } from '../../lib/core/audit.ts';
import { createDispatcher } from '../../lib/core/dispatch/dispatcher.ts';
import { commandLine } from '../../lib/core/erase.ts';
import { eventBody } from '../../lib/core/events.ts';
import type { Command, StepInput } from '../../lib/core/model/commands.ts';
import { holdsAsset, type Workflow } from '../../lib/core/model/workflow.ts';
import { DeliveryError } from '../../lib/core/ports/sink.ts';
import type { StorageBackend, Write } from '../../lib/core/ports/storage.ts';
import { createSweeper } from '../../lib/core/reconcile/sweep.ts';
import { RECONCILE } from '../../lib/core/reconcile/timing.ts';
import { releaseLock } from '../../lib/core/release-lock.ts';
import { soonest } from '../../lib/core/timers.ts';
import {
  makeService,
  principal,
  testClock,
  testRandom,
  testRegistry,
  type TestClock,
} from '../support/harness.ts';
import { everyPage } from '../support/invariants.ts';
import { beforeFirstCommit } from '../support/store-hooks.ts';
import { tempFolder } from '../support/temp-folder.ts';

const RUNS = 60;
const TENANT = 'acme';
const ASSETS = ['UNIT-1', 'UNIT-2'];
const PEOPLE = ['ana', 'ben'].map((name) =>
  principal({
    subject: `dev:${name}`,
    name,
    scopes: ['procedures:run', 'procedures:supervise'],
  }),
);
const STEPS: readonly (readonly [string, StepInput])[] = [
  ['ready', { kind: 'confirm', confirmed: true }],
  ['ready', { kind: 'confirm', confirmed: false }],
  ['outlet', { kind: 'reading', value: 9 }],
  ['mode', { kind: 'choice', option: 'auto' }],
  ['mode', { kind: 'choice', option: 'off' }],
  ['ready', { kind: 'confirm', confirmed: true }],
  ['level', { kind: 'reading', value: 40 }],
  ['check', { kind: 'confirm', confirmed: true }],
];
/** Half a minute more than the clocks of two well-kept machines ever differ. */
const SKEWS = [0, 90_000, -90_000];
// prettier-ignore
const DOES = [
  'start', 'record', 'record', 'hand_over', 'abandon', 'resolve', 'resolve', 'release',
  'sweep', 'sweep', 'overtaken', 'drift', 'drift', 'time passes', 'time passes',
] as const;
const DRIFTS = ['freed', 'fence', 'ended', 'pointer'] as const;

interface Act {
  readonly do: (typeof DOES)[number];
  readonly pick: number;
}
interface Move extends Act {
  readonly meanwhile: Act | undefined;
}

const act = { do: fc.constantFrom(...DOES), pick: fc.nat(999) };
const moves = fc.array(
  fc.record({ ...act, meanwhile: fc.option(fc.record(act), { nil: undefined }) }),
  { minLength: 20, maxLength: 30 },
);

class World {
  readonly #store: StorageBackend;
  readonly #clock: TestClock = testClock();
  readonly #created = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #fences = new Map<string, number>();
  readonly #drifted = new Set<string>();
  readonly counts: Record<string, number> = {};
  #seed = 0;

  constructor(store: StorageBackend) {
    this.#store = {
      ...store,
      commit: async (transaction, deadlineMs) => {
        const result = await store.commit(transaction, deadlineMs);
        for (const write of result.ok ? transaction.writes : []) {
          if (write.op === 'create' && write.key.kind === 'outbox') {
            this.#created.add(String((write.item as { id: string }).id));
          }
        }
        return result;
      },
    };
  }

  async play({ meanwhile, ...move }: Move): Promise<void> {
    const store =
      meanwhile === undefined
        ? this.#store
        : beforeFirstCommit(this.#store, () => this.#act(this.#store, meanwhile));
    await this.#act(store, move);
    await this.#check();
  }

  /** All drift is put right by two looks, all times have passed after six, and then nothing is found. */
  async finish(): Promise<void> {
    for (let n = 0; n < 6; n++) {
      this.#clock.advance(RECONCILE.checkMs + 2 * RECONCILE.leaseMs);
      await this.#sweep(this.#store, 0);
    }
    this.#clock.advance(RECONCILE.checkMs + 2 * RECONCILE.leaseMs);
    expect((await this.#sweep(this.#store, 0)).findings).toEqual([]);
    this.#drifted.clear();
    await this.#check();
    const work = await this.#work();
    for (const { subject } of PEOPLE) {
      const own = work.filter((one) => one.state !== 'COMPLETED' && one.holder.subject === subject);
      const pointers = await this.#store.listPointers(TENANT, subject, 100);
      expect(pointers.map(({ workflow }) => workflow).toSorted()).toEqual(
        own.map(({ id }) => id).toSorted(),
      );
    }
    for (const { state, due_at } of work) expect(due_at === undefined).toBe(state === 'COMPLETED');
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  #clockOf(pick: number): TestClock {
    const skew = SKEWS[Math.floor(pick / 5) % SKEWS.length] ?? 0;
    return { ...this.#clock, now: () => this.#clock.now() + skew };
  }

  #work(): Promise<Workflow[]> {
    return everyPage((at) => this.#store.scanWorkflows(at));
  }

  async #act(store: StorageBackend, { do: what, pick }: Act): Promise<void> {
    if (what === 'time passes') {
      this.#clock.advance(1 + (pick % 5) * 900_000);
      return;
    }
    if (pick % 3 > 0 && ['sweep', 'overtaken'].includes(what)) {
      this.#clock.advance(RECONCILE.checkMs + RECONCILE.leaseMs);
    }
    if (what === 'sweep') {
      for (const { rule, repaired } of (await this.#sweep(store, pick)).findings) {
        this.#count(`${rule} ${repaired ? 'repaired' : 'found'}`);
      }
      return;
    }
    if (what === 'overtaken') return this.#overtaken(store, pick);
    const asset = ASSETS[pick % ASSETS.length] ?? '';
    if (what === 'release') {
      const clock = this.#clockOf(pick);
      const parts = { store, clock, registry: testRegistry(), sinks: ['log'] };
      const command = { asset, reason: 'fire' };
      const { code } = await releaseLock(
        parts,
        { principal: commandLine(TENANT), deadlineMs: clock.now() + 9_000 },
        command,
      );
      this.#count(`release ${code}`);
      return;
    }
    const work = await this.#work();
    const workflow = work.filter(({ state }) => state !== 'COMPLETED')[pick % 3];
    if (what === 'drift') {
      if (workflow !== undefined)
        await this.#drift(workflow, DRIFTS[Math.floor(pick / 3) % DRIFTS.length]);
      return;
    }
    const command = commandFor(what, pick, asset, workflow);
    const who = PEOPLE[Math.floor(pick / 11) % PEOPLE.length];
    if (command === undefined || who === undefined) return;
    const parts = { clock: this.#clockOf(pick), seed: `service ${this.#seed++}` };
    const { execute } = makeService(store, parts);
    const asked = await execute(who, command);
    const outcome =
      asked.code === 'NEEDS_CONFIRMATION' && command.type === 'record_step'
        ? await execute(who, { ...command, confirmation: asked.state ?? '' })
        : asked;
    this.#count(`${what} ${outcome.code}`);
  }

  #sweep(store: StorageBackend, pick: number) {
    const clock = this.#clockOf(pick);
    const random = testRandom(`sweeper ${this.#seed++}`);
    const deliver = ({ id }: { readonly id: string }): Promise<void> => {
      // A sink that fails after it has accepted.
      this.#accepted.add(id);
      return pick % 4 === 3
        ? Promise.reject(new DeliveryError('unknown', 'cut off'))
        : Promise.resolve();
    };
    const dispatcher = createDispatcher({
      store,
      clock,
      random,
      sinks: [{ name: 'log', deliver }],
    });
    const parts = { store, clock, random, dispatcher, registry: testRegistry(), sinks: ['log'] };
    return createSweeper(parts).sweep(0, { goOn: () => true });
  }

  /** I5: whoever was overtaken between a decision and its commit changes nothing. */
  async #overtaken(store: StorageBackend, pick: number): Promise<void> {
    let tried = 0;
    const slow: StorageBackend = {
      ...store,
      commit: async (transaction, deadlineMs) => {
        if (transaction.lease === undefined) return store.commit(transaction, deadlineMs);
        const now = transaction.lease.until + 1;
        await store.takeLease(0, 'other', { now, until: now });
        const result = await store.commit(transaction, deadlineMs + 10 * RECONCILE.leaseMs);
        expect(result.ok).toBe(false);
        tried += 1;
        return result;
      },
    };
    const { end, findings } = await this.#sweep(slow, pick);
    if (tried > 0) this.#count('overtaken');
    if (tried > 0) expect({ end, findings }).toEqual({ end: 'lost', findings: [] });
  }

  async #drift(workflow: Workflow, kind: (typeof DRIFTS)[number] | undefined): Promise<void> {
    const { tenant, id, asset, version, fence, holder } = workflow;
    const lock = { kind: 'lock', tenant, asset } as const;
    const remove = ['workflow', 'procedure', 'subject', 'name', 'since'];
    const expected = { held: true, workflow: id };
    const ended = { state: 'COMPLETED', result: 'completed', version: version + 1 };
    const key = { kind: 'workflow', tenant, id } as const;
    const pointer = { kind: 'pointer', tenant, subject: holder.subject, workflow: id } as const;
    const writes: { readonly [K in (typeof DRIFTS)[number]]: Write } = {
      freed: { op: 'update', key: lock, expect: expected, set: { held: false }, remove },
      fence: { op: 'update', key: lock, expect: expected, set: { fence: fence + 3 } },
      ended: { op: 'update', key, expect: { version }, set: ended, remove: ['block'] },
      pointer: { op: 'delete', key: pointer, expect: {} },
    };
    const write = writes[kind ?? 'pointer'];
    const result = await this.#store.commit({ writes: [write] }, this.#clock.now() + 9_000);
    if (result.ok && write.op === 'update') this.#drifted.add(asset);
  }

  /** Nothing is told twice: no level of a block, no reminder of one standstill, no end of the whole time. */
  async #checkTicks(id: string): Promise<void> {
    const told: string[] = [];
    let work = 0;
    for (let after = 0; ;) {
      const events = (await this.#store.listEvents(TENANT, id, { after, limit: 100 })).map(
        eventBody,
      );
      after = events.at(-1)?.seq ?? 0;
      if (events.length === 0) break;
      for (const { type, data } of events) {
        if ('command' in data) work += 1;
        if (type === 'reminder_sent') told.push(`reminder ${work} ${Number(data['reminder'])}`);
        if (type === 'block_escalated') {
          told.push(`block ${Number(data['block'])} ${Number(data['level'])}`);
        }
        if (type === 'deadline_passed' && data['whole'] === true) told.push('all of it');
      }
    }
    expect(new Set(told).size).toBe(told.length);
  }

  async #check(): Promise<void> {
    const work = await this.#work();
    const locks = await everyPage((at) => this.#store.listLocks(TENANT, at));
    const names = (what: readonly { asset: string; fence: number; holder: string }[]) =>
      what
        .filter(({ asset }) => !this.#drifted.has(asset))
        .map(({ asset, holder, fence }) => `${asset} ${holder} ${fence}`)
        .toSorted();
    // I1: what holds its asset and what is held are the same.
    expect(names(locks.map((lock) => ({ ...lock, holder: lock.workflow ?? '' })))).toEqual(
      names(work.filter(holdsAsset).map((one) => ({ ...one, holder: one.id }))),
    );
    // I4: every trail verifies.
    for await (const report of verifyAll(this.#store)) expect(report.faults).toEqual([]);
    // I3: what was written is waiting or was accepted, and nothing else is.
    const rows = await this.#store.listTenantOutbox(TENANT, 100);
    const waiting = new Set(rows.map(({ id }) => id));
    const known = new Set([...waiting, ...this.#accepted]);
    expect([...this.#created].filter((id) => !known.has(id))).toEqual([]);
    expect([...known].filter((id) => !this.#created.has(id))).toEqual([]);
    for (const { id, timers, block, due_at = 0 } of work) {
      await this.#checkTicks(id);
      // Whatever is pending is found: no look is put off beyond it, or beyond the next try.
      const soon = this.#clock.now() + RECONCILE.laterMs + Math.max(...SKEWS);
      expect(due_at).toBeLessThanOrEqual(
        Math.max(soon, soonest(Number.MAX_SAFE_INTEGER, timers, block)),
      );
    }
    // A fence only grows.
    for (const asset of ASSETS) {
      const [lock] = await this.#store.snapshot([{ kind: 'lock', tenant: TENANT, asset }]);
      const fence = lock?.fence ?? 0;
      expect(fence).toBeGreaterThanOrEqual(this.#fences.get(asset) ?? 0);
      this.#fences.set(asset, fence);
    }
  }
}

function commandFor(
  what: string,
  pick: number,
  asset: string,
  workflow: Workflow | undefined,
): Command | undefined {
  if (what === 'start') {
    const procedure = Math.floor(pick / 2) % 3 === 0 ? 'sample' : 'timed';
    return { type: 'start_workflow', procedure, asset };
  }
  if (workflow === undefined) return undefined;
  const { id, tenure, block } = workflow;
  const to = PEOPLE[Math.floor(pick / 13) % PEOPLE.length]?.subject ?? '';
  const [step, input] = STEPS[Math.floor(pick / 17) % STEPS.length] ?? [];
  switch (what) {
    case 'record':
      if (step === undefined || input === undefined) return undefined;
      return { type: 'record_step', workflow: id, step, input };
    case 'hand_over':
      return { type: 'hand_over', workflow: id, to, tenure };
    case 'abandon':
      return { type: 'abandon_workflow', workflow: id, tenure, reason: 'over' };
    default: {
      if (block === undefined) return undefined;
      const decision = (['continue', 'abandon', 'retake', 'continue'] as const)[
        Math.floor(pick / 7) % 4
      ];
      if (decision === undefined) return undefined;
      return { type: 'resolve_block', workflow: id, block: block.seq, decision, reason: 'x' };
    }
  }
}

test(`I1, I3, I4 and I5 hold over ${RUNS} histories of work, releases, drift and overtaken sweeps`, async () => {
  const total: Record<string, number> = {};
  const folder = await tempFolder();
  let files = 0;
  await fc.assert(
    fc.asyncProperty(moves, async (history) => {
      const store = await openSqliteStore({
        path: join(folder, `${files++}.sqlite`),
        lockTimeoutMs: 1_000,
        clock: testClock(0),
        random: testRandom(`file ${files}`),
      });
      try {
        for (const { subject, name } of PEOPLE) {
          await store.noteProfile({ tenant: TENANT, subject, name: name ?? '' });
        }
        const world = new World(store);
        await world.play({ do: 'start', pick: 0, meanwhile: undefined });
        for (const move of history) await world.play(move);
        await world.finish();
        for (const [name, n] of Object.entries(world.counts)) total[name] = (total[name] ?? 0) + n;
      } finally {
        await store.close();
      }
    }),
    { numRuns: RUNS },
  );
  console.log('reached', total);
  const reached = [
    'R4 repaired',
    'R5 repaired',
    'R6 repaired',
    'R8 repaired',
    'release RELEASED',
    'overtaken',
  ];
  for (const name of [...reached, 'start OK', 'resolve OK', 'hand_over OK', 'abandon OK']) {
    expect([name, total[name] ?? 0]).not.toEqual([name, 0]);
  }
}, 600_000);
