import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { openSqliteStore } from '../../lib/adapters/sqlite/store.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { START_MS } from '../support/pure-world.ts';
import { occasionOf } from '../../lib/core/confirmation.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import { AskingClient } from './asking-client.ts';
import { History, moves, registry, type Tamper } from './model.ts';

const RUNS = 1_000;
const MOVES = 40;

/** Every answer that a history can come to; one that is never reached proves nothing. */
const REACHED = `
  started, recorded, awaiting_second_person, confirmed, retake_required, blocked
  deviation_recorded, continued, reopened, handed_over, completed, abandoned
  started again, recorded again, confirmed again, blocked again, continued again, reopened again
  handed_over again, completed again, abandoned again, out_of_bounds, rule_broken, not_confirmed
  deviating_choice, already_recorded, second_person, BACKEND_UNAVAILABLE, IDEMPOTENCY_CONFLICT, NOT_FOUND
  ASSET_BUSY, NOT_ASSIGNED, STALE_REFERENCE, WORKFLOW_COMPLETED, WORKFLOW_BLOCKED, SECOND_PERSON_REQUIRED
  STEP_NOT_READY, STEPS_MISSING, NOT_SKIPPABLE, skipped, skipped again, was_skipped, already_skipped
  asked: value, asked: replace, asked: witness, asked: end, asked: workflow, asked: person
  yes: written, yes: not written, no: unheard, decline: unheard, cancel: unheard, altered: not written
  of another call: not written, of another person: not written, late: not written
  tick: deadline_passed, tick: deadline_passed and blocks, tick: reminder_sent, tick: block_escalated
`
  .split(/[,\n]/)
  .map((answer) => answer.trim())
  .filter((answer) => answer !== '');

let folder: string;
let store: StorageBackend;
let client: AskingClient;
let histories = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'checkpoint-sim-'));
  store = await openSqliteStore({
    path: join(folder, 'sim.sqlite'),
    lockTimeoutMs: 1_000,
    clock: { now: () => START_MS, sleep: (ms) => systemClock.sleep(ms) },
    random: systemRandom,
  });
  client = new AskingClient(store, registry);
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const property = (tamper?: Tamper, total?: Record<string, number>) =>
  fc.asyncProperty(fc.array(moves, { minLength: MOVES, maxLength: MOVES }), async (history) => {
    const world = new History(store, client, `t${++histories}`, tamper);
    await world.meet();
    await world.play({ do: 'start', who: 0, asset: 0, keyed: true });
    await world.play({ do: 'start', who: 2, asset: 1, keyed: false });
    for (const move of history) await world.play(move);
    await world.finish();
    if (total === undefined) return;
    for (const [name, count] of Object.entries(world.counts))
      total[name] = (total[name] ?? 0) + count;
  });

/** Takes an answer for what its state says, whoever signed it, for whom and for what. */
function believed(command: Command): Command {
  const said = occasionOf(command.answer?.state ?? '');
  if (said === undefined || command.type === 'start_workflow') return command;
  const { answer: _answer, ...bare } = command;
  const workflow = command.workflow ?? said.workflow;
  const { question, basis } = said;
  if (question === 'end') return { ...bare, workflow, tenure: basis } as Command;
  if (question === 'witness') return { ...bare, workflow, confirms: basis } as Command;
  if (question !== 'replace') return command;
  return { ...bare, workflow, type: 'correct_step', replaces: basis } as Command;
}

describe('the service on SQLite', () => {
  it(`keeps I1, I2, I4, I6, I8, Q and T over ${RUNS} histories of ${MOVES} commands, repeats, faults and answers`, async () => {
    const total: Record<string, number> = {};
    await fc.assert(property(undefined, total), { numRuns: RUNS });
    // A history that commits nothing would prove nothing.
    const sorted = Object.fromEntries(Object.entries(total).sort(([, a], [, b]) => b - a));
    console.log('answers', sorted);
    for (const answer of REACHED) expect([answer, sorted[answer] ?? 0]).not.toEqual([answer, 0]);
  }, 1_200_000);

  it.each([
    [
      'a ledger row that is dropped from the plan',
      'I2',
      {
        transaction: ({ writes }) => ({
          writes: writes.filter(({ key }) => key.kind !== 'ledger' || writes.length === 1),
        }),
      },
    ],
    [
      'a lock that is released without the state',
      'I1',
      {
        transaction: ({ writes }) => ({
          writes: writes.map((write) =>
            write.op === 'update' &&
            write.key.kind === 'workflow' &&
            write.set['state'] === 'COMPLETED'
              ? { ...write, set: { ...write.set, state: 'RUNNING' } }
              : write,
          ),
        }),
      },
    ],
    [
      'a lock that is not released with the state',
      'I1',
      {
        transaction: ({ writes }) => ({
          writes: writes.filter(({ op, key }) => op !== 'update' || key.kind !== 'lock'),
        }),
      },
    ],
    [
      'an event that is dropped from the plan',
      'I',
      {
        transaction: ({ writes }) => ({
          writes: writes.filter(({ key }) => key.kind !== 'event' || key.seq % 3 !== 0),
        }),
      },
    ],
    [
      'times that a command leaves as they were',
      'T',
      {
        transaction: ({ writes }) => ({
          writes: writes.map((write) => {
            if (write.op !== 'update' || write.key.kind !== 'workflow') return write;
            const { timers: _timers, ...set } = write.set;
            return { ...write, set };
          }),
        }),
      },
    ],
    ['an answer whose state is believed unverified', 'Q', { command: believed }],
  ] as [string, string, Tamper][])(
    'finds %s',
    async (_name, invariant, tamper) => {
      const details = await fc.check(property(tamper), { numRuns: RUNS, endOnFailure: true });
      expect(details.failed).toBe(true);
      expect(String(details.errorInstance)).toContain(invariant);
    },
    120_000,
  );
});
