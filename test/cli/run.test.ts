import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { runLines } from '../../lib/cli/run/lines.ts';
import { inProcess } from '../support/command-line.ts';
import { dataFolder, serve, type Served } from '../support/e2e.ts';
import { runUntil } from '../support/rest-client.ts';
import { tokenFor } from '../support/e2e.ts';

jest.setTimeout(120_000);

let server: Served;
beforeAll(async () => {
  server = await serve(await dataFolder());
});

const cli = (...args: readonly string[]) =>
  inProcess(['run', ...args, '--data', server.dataFolder, '--url', server.url]);
const look = (...args: readonly string[]) => inProcess([...args, '--data', server.dataFolder]);

const proposed = async (symptom: string) => {
  const created = await cli('create', '--service', 'payments', '--symptom', symptom, '--wait');
  expect(created.code).toBe(0);
  const id = /^run\s+(run-\S+)$/m.exec(created.out)?.[1] ?? '';
  const hash = /^ {2}action_hash ([0-9a-f]{64})$/m.exec(created.out)?.[1] ?? '';
  return { id, hash, out: created.out };
};

describe('checkpoint run', () => {
  test('creates, shows, approves and tells the trail of a run', async () => {
    const { id, hash, out } = await proposed('card payments time out');
    expect(out).toMatch(/^status\s+awaiting_approval$/m);
    expect(out).toContain('What tools answered (untrusted)\n  bundled/service_status');
    expect(out).toMatch(/^ {2}\/type\s+ticket\.create$/m);
    expect(out).toMatch(/^ {2}\/arguments\/severity\s+high$/m);
    const status = (await look('status')).out;
    expect(status).toMatch(/^ {2}runs: 1 awaiting_approval$/m);
    expect(status).toMatch(
      new RegExp(`^ {4}run {2}payments {2}to be decided within .* {2}${id}$`, 'm'),
    );

    const own = await cli('approve', id, '--hash', hash, '--as', 'ana');
    expect(own).toMatchObject({ code: 1, out: '' });
    expect(own.err).toContain('does not decide on it (FORBIDDEN)');

    const approved = await cli('approve', id, '--hash', hash, '--as', 'cara');
    expect([approved.code, approved.err]).toEqual([0, '']);
    expect(approved.out).toMatch(/^decision\s+approved by cara \(dev:cara\) at/m);

    const token = await tokenFor(server.dataFolder, 'ana', 'runs:create');
    await runUntil({ url: server.url, token }, id, ['completed']);
    expect((await cli('show', id)).out).toMatch(/^ticket\s+ticket-\w+ \(built-in\), verified$/m);

    const late = await cli('deny', id, '--hash', hash, '--as', 'dan');
    expect(late.err).toMatch(/it was approved before \(ALREADY_DECIDED\) by cara at .*, for /);

    const events = await cli('events', id);
    expect(events.out).toMatch(/^ +1 {2}[-\d]+ [:\d]+ {2}run_created by ana \(dev:ana\)$/m);
    expect(events.out).toMatch(/observation_recorded \(untrusted\) by/);
    expect(events.out).toMatch(/^ +10 {2}.* {2}run_completed by system:worker/m);

    const why = await look('why', id);
    expect(why.out).toContain('trail: 10 events, every one verifies; head 10 ');
    expect(JSON.parse((await look('why', id, '--json')).out)).toMatchObject({
      run: { id, state: 'completed' },
      verification: { events: 10, faults: [] },
    });
  });

  test('denies, and a run that is over is not resumed', async () => {
    const { id, hash } = await proposed('checkout is slow');
    const denied = await cli('deny', id, '--hash', hash, '--as', 'cara', '--json');
    expect(JSON.parse(denied.out)).toMatchObject({ run_id: id, status: 'cancelled' });
    const resumed = await cli('resume', id);
    expect(resumed).toMatchObject({
      code: 1,
      err: 'Refused: the run is cancelled (WRONG_STATE).\n',
    });
  });

  test.each<readonly [string, readonly string[], string]>([
    ['no run', ['show', 'run-00000000000000000000000000'], 'there is no such run (NOT_FOUND)'],
    ['no id of a run', ['show', '7'], 'expected the id of a run, such as'],
    ['a short digest', ['approve', 'run-1', '--hash', 'abc', '--as', 'cara'], 'expected the full'],
    [
      'nobody who decides',
      ['approve', 'run-1', '--hash', 'a'.repeat(64)],
      'expected --as, or a --token: who is it?',
    ],
    [
      'an empty symptom',
      ['create', '--service', 'x', '--symptom', ' '],
      '/symptom: expected a text that is not empty',
    ],
    ['no service', ['create', '--symptom', 'x'], "required option '--service <service>'"],
    ['a token of nobody', ['show', 'run-1', '--token', 'x'], 'Refused: '],
  ])('says what is wrong with %s', async (_title, args, problem) => {
    const { code, out, err } = await cli(...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(problem);
  });

  test('says so where no server answers', async () => {
    const { code, err } = await inProcess([
      'run',
      'show',
      'run-1',
      '--url',
      'http://127.0.0.1:1/mcp',
      '--data',
      server.dataFolder,
    ]);
    expect([code, err]).toEqual([
      1,
      'http://127.0.0.1:1/mcp did not answer: check --url, and that the server runs.\n',
    ]);
  });

  test('finds no run that is not there', async () => {
    const { code, err } = await look('why', 'run-00000000000000000000000000');
    expect([code, err]).toEqual([1, 'There is no run run-00000000000000000000000000.\n']);
  });
});

test('what others wrote is shown by the one display function, and never cut', () => {
  const summary = `\u202Eapprove\u001b[2K${'x'.repeat(200)}`;
  const lines = runLines({
    run_id: 'run-1',
    symptom: 'a\u200Bb\nc',
    action_hash: 'a'.repeat(64),
    proposed_action: { type: 'ticket.create', arguments: { summary } },
  });
  const text = lines.join('\n');
  expect(text).toContain('a\\u{200B}b\\nc');
  expect(text).toContain('\\u{202E}approve\\u{001B}[2K');
  expect(text.replaceAll(/\s/g, '')).toContain('x'.repeat(200));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});
