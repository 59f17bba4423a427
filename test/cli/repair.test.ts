import { beforeAll, describe, expect, test } from '@jest/globals';
import { inProcess } from '../support/command-line.ts';
import { dataFolder } from '../support/e2e.ts';
import { SUPERVISOR, talked } from '../support/talked.ts';
import { onDataFile } from '../support/trail.ts';

let folder: string;
beforeAll(async () => {
  folder = await dataFolder();
  await talked(folder, 'ana', ['start pump-inspection PUMP-07']);
});

const run = (...args: string[]) => inProcess([...args, '--data', folder]);

describe('checkpoint locks', () => {
  test('lists who holds what, and for how long', async () => {
    const { code, out } = await run('locks', 'list');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^tenant local\n {2}PUMP-07 {2}held by ana {2}for \d+ s {2}pump-inspection {2}fence 1 {2}\w{26}\n$/,
    );
  });

  test('takes an asset away, blocks the work, and tells a supervisor how it goes on', async () => {
    const released = await run('locks', 'release', 'pump-07', '--reason', 'there is a fire');
    expect(released).toMatchObject({ code: 0, err: '' });
    expect(released.out).toMatch(/^pump-07 is free\. Workflow \w{26} of ana is blocked until/);
    expect((await run('locks', 'list')).out).toBe('Nobody holds an asset.\n');
    const { out } = await talked(folder, 'ana', ['mine']);
    expect(out.replace(/\s+/g, ' ')).toContain('its asset was released by an administrator');
    const why = await run('why', 'PUMP-07');
    expect(why.out).toContain('lost PUMP-07: its lock was released by force');
    expect(why.out).toContain('reason: there is a fire');
    const resolved = await talked(
      folder,
      'cara',
      ['resolve continue because the fire is out'],
      SUPERVISOR,
    );
    expect(resolved.out).toContain('goes on');
    expect((await run('locks', 'list')).out).toContain('fence 3');
  });

  test.each([
    [['release', 'PUMP-99', '--reason', 'x'], 'Nobody holds PUMP-99 in tenant local.'],
    [
      ['release', 'PUMP-07', '--reason', 'x', '--fence', 'one'],
      '--fence: expected the number that locks list shows.',
    ],
    [['release', 'PUMP-07', '--reason', ' '], '--reason: expected 1 to 500 characters.'],
  ])('%j is answered with a sentence', async (args, problem) => {
    expect(await run('locks', ...args)).toEqual({ code: 1, out: '', err: `${problem}\n` });
  });
});

describe('checkpoint reconcile', () => {
  test('says what would be repaired, repairs it, and then finds nothing', async () => {
    onDataFile(folder, (db) => {
      db.exec(
        `UPDATE locks SET body = json_remove(json_set(body, '$.held', json('false')), '$.workflow')`,
      );
      db.exec(`UPDATE workflows SET body = json_set(body, '$.due_at', 1)`);
      db.exec(`UPDATE outbox SET due_at = 1, body = json_set(body, '$.due_at', 1)`);
    });
    const dry = await run('reconcile', '--once', '--dry-run');
    expect(dry.code).toBe(1);
    expect(dry.out).toMatch(
      /^1 workflow looked at, nothing changed\n {2}R5 {2}found {2}local {2}\w{26} has lost the lock of PUMP-07\n$/,
    );
    const first = await run('reconcile', '--once');
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^\{"msg":"notification",.*"reason":"lock_released"/);
    expect(first.out).toMatch(
      /\n1 workflow looked at\n1 notification sent, 0 failed, 0 parked\n {2}R5 {2}repaired {2}local {2}\w{26} has lost the lock of PUMP-07\n$/,
    );
    onDataFile(folder, (db) => {
      db.exec(`UPDATE workflows SET body = json_set(body, '$.due_at', 1)`);
    });
    expect(await run('reconcile', '--once')).toMatchObject({
      code: 0,
      out: '1 workflow looked at\n0 notifications sent, 0 failed, 0 parked\nNothing had drifted, and nothing was overdue.\n',
    });
  });

  test('says what is overdue, tells of it once, and shows it as late', async () => {
    onDataFile(folder, (db) => {
      db.exec(`UPDATE workflows SET body =
        json_set(body, '$.due_at', 1, '$.timers.deadline.due_at', 1, '$.timers.reminder.due_at', 1)`);
    });
    const dry = await run('reconcile', '--once', '--rule', 'R6', '--dry-run');
    expect(dry).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        / {2}R6 {2}found {2}local {2}a deadline of \w{26} has passed: all\n$/,
      ),
    });
    expect(await run('reconcile', '--once', '--rule', 'R6')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        / {2}R6 {2}told {2}local {2}a deadline of \w{26} has passed: all\n {2}R6 {2}told {2}local {2}\w{26} has stood still for 0 minutes\nfound by rule: R6 2\n$/,
      ),
    });
    const why = (await run('why', 'PUMP-07')).out;
    expect(why).toMatch(/^times +all overdue for \d+ d/m);
    expect(why).toContain('overdue (rule R6)');
    expect(why).toContain('its deadline has passed');
    expect(why).toMatch(/reminder \d of 2 after 0 min without a record \(rule/);
    expect((await run('status')).out).toMatch(/PUMP-07 {2}with ana {2}RUNNING {2}all overdue for/);
    expect(await run('reconcile', '--once', '--rule', 'R6')).toMatchObject({
      code: 0,
      out: expect.stringContaining('nothing was overdue'),
    });
  });

  test('a dry run puts nothing on record, not even the procedures of this release', async () => {
    onDataFile(folder, (db) => {
      db.exec('DELETE FROM procedures');
    });
    expect(await run('reconcile', '--dry-run')).toMatchObject({ code: 0 });
    const count = 'SELECT count(*) AS n FROM procedures';
    onDataFile(folder, (db) => {
      expect(db.prepare(count).get()).toEqual({ n: 0 });
    });
  });

  test.each(['R1', 'R9', 'r7'])(
    '--rule %s is answered with those that a sweep has',
    async (rule) => {
      expect(await run('reconcile', '--rule', rule)).toEqual({
        code: 1,
        out: '',
        err: '--rule: expected one of R2, R3, R4, R5, R6, R7, R8.\n',
      });
    },
  );
});
