import { beforeAll, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { eventsIn } from '../support/trail.ts';
import { meaningOf, toldBy } from '../support/history/crew.ts';
import { Recorder } from '../support/history/history.ts';
import type { Ask, Told } from '../support/history/asset.ts';
import { faultsOf } from '../support/history/judge.ts';
import { tool } from '../support/wire.ts';

const KILLS = 20;
const STEPS = [
  { step: 'guards_check', confirmed: true },
  { step: 'suction_pressure', reading: 2.1 },
  { step: 'discharge_pressure', reading: 7.2 },
  { step: 'bearing_temperature', reading: 61.5 },
  { step: 'vibration', reading: 2.2 },
  { step: 'seal_condition', choice: 'damp' },
  { step: 'motor_current', reading: 90.5 },
  { step: 'operator_remarks', text: 'nothing to report' },
];

/** A command that was answered in the end. */
interface Answered {
  readonly ask: Ask;
  readonly name: string;
  readonly args: { readonly [name: string]: unknown };
}

const history = new Recorder<Ask, Told>();
let folder: string;
let token: string;
let server: ServedChild;
let kills = 0;
let restarted: Promise<void> = Promise.resolve();

beforeAll(async () => {
  // Only a process that ends by itself leaves its compiled modules to those that follow.
  await runScript(ENTRY, ['--version']);
  folder = await dataFolder();
  token = await tokenFor(folder, 'ana', 'procedures:run');
  server = await serveInChild(folder);
});

/** Kills the server so many milliseconds from now, and starts it again on the same data. */
function killSoon(delayMs: number): void {
  restarted = new Promise<void>((resolve) => {
    setTimeout(resolve, delayMs);
  }).then(async () => {
    server.signal('SIGKILL');
    expect(await server.exited).toBeNull();
    kills++;
    server = await serveInChild(folder);
  });
}

/** Sends a command with one key until it is answered. */
async function insist(ask: Ask, name: string, args: Answered['args']): Promise<Answered> {
  for (let n = 0; n < 50; n++) {
    const send = async () => toldBy(await tool({ url: server.url, token }, name, args));
    const { end, told } = await history.call('ana', ask, send, meaningOf);
    if (told === undefined) await restarted;
    if (end === 'unknown') continue;
    expect(told?.code).toBe('OK');
    return { ask, name, args };
  }
  throw new Error(`${name} was never answered`);
}

test('a server that is killed at any moment leaves one effect per key and trails that verify', async () => {
  const answered: Answered[] = [];
  let untilKill = 3;
  const send = async (ask: Ask, name: string, args: Answered['args']): Promise<void> => {
    if (--untilKill === 0) {
      await restarted;
      // A command takes a few milliseconds: the kill comes before, within or after it.
      killSoon(Math.random() * 8);
      untilKill = 1 + Math.ceil(Math.random() * 5);
    }
    answered.push(await insist(ask, name, args));
  };

  for (let pump = 1; kills < KILLS && pump < 100; pump++) {
    const asset = `PUMP-${String(pump).padStart(2, '0')}`;
    const key = `${asset} start`;
    await send({ asset, do: 'start', key }, 'start_workflow', {
      procedure: 'pump-inspection',
      asset,
      idempotency_key: key,
    });
    const { workflow = '' } = eventsIn(folder).find(({ data }) => data['asset'] === asset) ?? {};
    for (const { step, ...said } of STEPS) {
      const idempotency_key = `${asset} ${step}`;
      const [value] = Object.values(said);
      await send(
        { asset, do: 'record', key: idempotency_key, workflow, step, value },
        'record_step',
        { workflow_id: workflow, step, ...said, idempotency_key },
      );
    }
  }
  await restarted;
  expect(kills).toBeGreaterThanOrEqual(KILLS);

  // Every event is the effect of one key, and every key is answered with it once more.
  const events = eventsIn(folder);
  expect(events).toHaveLength(answered.length);
  expect(new Set(answered.map(({ args }) => args['idempotency_key'])).size).toBe(answered.length);
  for (const { ask, name, args } of answered) await insist(ask, name, args);
  expect(eventsIn(folder)).toEqual(events);

  const byWorkflow = Map.groupBy(events, ({ workflow }) => workflow);
  const heads = [...byWorkflow].map(([workflow, all]) => ({ workflow, events: all.length }));
  expect(faultsOf(history.operations, heads)).toEqual([]);

  const trails = byWorkflow.size;
  const values = events.filter(({ data }) => data['commitment'] !== undefined).length;
  expect(await inProcess(['audit', 'verify', '--data', folder])).toEqual({
    code: 0,
    out: `${trails} trails, ${events.length} events, ${values} sensitive values: every one verifies.\n`,
    err: '',
  });
}, 90_000);
