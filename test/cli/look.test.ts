import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder } from '../support/e2e.ts';
import { inspected, SECRET, talked } from '../support/talked.ts';
import { onDataFile } from '../support/trail.ts';

let folder: string;
let workflow: string;
beforeAll(async () => {
  folder = await dataFolder();
  workflow = await inspected(folder);
  await talked(folder, 'ben', ['start pump-inspection PUMP-08', 'no', 'yes']);
  await talked(folder, 'zoe', ['start instrument-calibration BAL-001'], ['--tenant', 'other']);
});

const run = (...args: string[]) => inProcess([...args, '--data', folder]);

function expectNarrow(out: string): void {
  for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
}

describe('checkpoint status', () => {
  test('shows every tenant: states, locks, blocked work and what waits', async () => {
    const { code, out, err } = await runScript(ENTRY, ['status', '--data', folder]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^tenant local, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
    expect(out).toContain('  CREATED 0   RUNNING 1   BLOCKED 1   COMPLETED 0\n');
    expect(out).toMatch(
      new RegExp(`^    PUMP-07  held by ana  for \\d+ s  pump-inspection  ${workflow}$`, 'm'),
    );
    expect(out).toMatch(
      /^ {4}PUMP-08 {2}with ben {2}for \d+ s {2}guards check is not confirmed {2}\w{26}$/m,
    );
    expect(out).toMatch(/^ {4}notify:log {2}block {2}due in \d+ s {2}0 attempts {2}\w{26}$/m);
    expect(out).toMatch(
      /^ {2}deadlines, earliest first\n {4}PUMP-07 {2}with ana {2}RUNNING {2}all due in 7 h 59 min {2}\w{26}\n {4}PUMP-08 {2}with ben {2}BLOCKED {2}all due/m,
    );
    expect(out).toContain('\n\ntenant other, ');
    expect(out).not.toContain(SECRET);
    expectNarrow(out);
  });

  test('shows one tenant, and one without any work', async () => {
    const other = await run('status', '--tenant', 'other');
    expect(other.out).toMatch(/^tenant other,/);
    expect(other.out).not.toContain('PUMP');
    expect(other.out).toContain('  blocked: none\n  outbox: none\n');
    const nobody = await run('status', '--tenant', 'nobody');
    expect(nobody.out).toContain(
      '  CREATED 0   RUNNING 0   BLOCKED 0   COMPLETED 0\n  locks: none\n',
    );
  });

  test('says where there is nothing, or no data at all', async () => {
    const empty = await dataFolder();
    const missing = await inProcess(['status', '--data', empty]);
    expect(missing).toEqual({
      code: 1,
      out: '',
      err: `There is no data file ${join(empty, 'checkpoint.sqlite')}: check --data.\n`,
    });
    await talked(empty, 'ana', ['mine']);
    expect((await inProcess(['status', '--data', empty])).out).toBe(
      'There is no workflow and no run yet.\n',
    );
  });
});

describe('checkpoint why', () => {
  test('tells the story of a workflow by its asset', async () => {
    const { code, out, err } = await runScript(ENTRY, ['why', 'pump-07', '--data', folder]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n');
    expect(lines.slice(0, 2)).toEqual([
      `workflow   ${workflow} (tenant local)`,
      'procedure  pump-inspection@2 on PUMP-07',
    ]);
    expect(lines[2]).toMatch(/^state {6}RUNNING, last change /);
    expect(lines[3]).toBe('holder     ana (dev:ana)');
    expect(lines[4]).toMatch(/^lock {7}PUMP-07 is held by this workflow for \d+ s, fence 1$/);
    expect(lines[5]).toMatch(/^times {6}all due in 7 h 59 min; reminded 0 times, again in 29 min$/);
    expect(lines[6]).toMatch(/^trail {6}7 events, every one verifies; head 7 [0-9a-f]{16}…$/);
    const story = lines.slice(8).map((line) => line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'T'));
    expect(story.slice(0, 8)).toEqual([
      '    1  T  ana             started pump-inspection@2 on PUMP-07',
      '    2  T  ana             guards_check: yes, recorded',
      '    3  T  ana             suction_pressure: 2.1 bar, recorded',
      '    4  T  ana             discharge_pressure: 42 bar, blocked',
      '                                              deviates: bounds',
      '                                              discharge pressure is beyond the upper limit',
      '    5  T  cara            block 4 at discharge_pressure resolved: reopened',
      '                                              reason: it was read wrongly',
    ]);
    expect(out).toContain('operator_remarks: (kept apart), recorded');
    expect(out).toContain('outbox\n  notify:log  for event 4  block  due in ');
    expect(out).not.toContain(SECRET);
    expectNarrow(out);
  });

  test('tells it by id, with the requests behind the events, and as JSON', async () => {
    const { out } = await run('why', workflow, '--requests');
    expect(out.match(/request [0-9a-f-]{36}$/gm)).toHaveLength(7);
    const json = (await run('why', workflow, '--json')).out;
    expect(json).not.toContain(SECRET);
    const story = JSON.parse(json) as { events: { seq: number; sensitive?: string }[] };
    expect(story).toMatchObject({
      workflow: { id: workflow, state: 'RUNNING' },
      lock: { asset: 'PUMP-07', held: true, fence: 1 },
      outbox: [{ lane: 'notify:log', seq: 4 }],
      verification: { events: 7 },
    });
    expect(story.events.at(-1)).toMatchObject({ seq: 7, sensitive: 'kept' });
  });

  test('an asset of the past is found where one workflow was on it, and asked about where several were', async () => {
    const past = await dataFolder();
    const end = ['start pump-inspection PUMP-01', 'abandon because it rains', 'yes'];
    await talked(past, 'ana', end);
    const once = await inProcess(['why', 'PUMP-01', '--data', past]);
    expect(once.out).toContain('state      COMPLETED (abandoned)');
    expect(once.out).toContain('lock       PUMP-01 is free, fence 1');
    await talked(past, 'ana', end);
    const twice = await inProcess(['why', 'PUMP-01', '--data', past]);
    expect(twice.err).toMatch(/^2 workflows fit PUMP-01; name one by its id: \w{26}, \w{26}\.\n$/);
    await talked(past, 'ana', ['start pump-inspection PUMP-01'], ['--tenant', 'x']);
    await talked(past, 'ana', ['start pump-inspection PUMP-01']);
    const both = await inProcess(['why', 'PUMP-01', '--data', past]);
    expect(both.err).toMatch(/^2 workflows fit PUMP-01; name one with --tenant: /);
    const one = await inProcess(['why', 'PUMP-01', '--tenant', 'x', '--data', past]);
    expect(one.code).toBe(0);
  });

  test('what is not there is one sentence', async () => {
    expect(await run('why', 'PUMP-99')).toEqual({
      code: 1,
      out: '',
      err: 'There is no workflow PUMP-99, and none on an asset of that name.\n',
    });
  });

  test('a broken trail is told, and what can be read of it is shown', async () => {
    const broken = await dataFolder();
    await talked(broken, 'ana', ['start pump-inspection PUMP-02', 'yes', '2.1']);
    onDataFile(broken, (db) =>
      db.prepare(`UPDATE events SET body = replace(body, '2.1', '3.1') WHERE seq = 3`).run(),
    );
    const { code, out } = await inProcess(['why', 'PUMP-02', '--data', broken]);
    expect(code).toBe(0);
    expect(out).toContain('BROKEN: event 3 does not match its hash');
    expect(out).toContain('suction_pressure: 3.1 bar');
  });

  test('control characters of people never reach the terminal', async () => {
    const odd = await dataFolder();
    const lines = ['start pump-inspection PUMP-03', 'no', 'yes'];
    await talked(odd, 'eve', lines, ['--name', 'Eve']);
    const said = ['resolve abandon because \u001b[2Jred \u202eflags'];
    await talked(odd, 'cara', said, ['--scope', 'procedures:supervise']);
    onDataFile(odd, (db) =>
      db.prepare(`UPDATE workflows SET body = replace(body, '"Eve"', '"E\\u001b[31mve"')`).run(),
    );
    for (const command of [['status'], ['why', 'PUMP-03']]) {
      const { out } = await inProcess([...command, '--data', odd]);
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });
});
