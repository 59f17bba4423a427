import { beforeEach, describe, expect, test } from '@jest/globals';
import { inProcess } from '../support/command-line.ts';
import { dataFolder } from '../support/e2e.ts';
import { talked } from '../support/talked.ts';
import { changeEvent, eventsIn, onDataFile } from '../support/trail.ts';

let folder: string;
let workflow: string;
beforeEach(async () => {
  folder = await dataFolder();
  await talked(folder, 'ana', ['start pump-inspection PUMP-07', 'yes']);
  workflow = eventsIn(folder)[0]?.workflow ?? '';
});

const run = (...args: string[]) => inProcess([...args, '--data', folder]);
const record = () =>
  onDataFile(folder, (db) => String(db.prepare('SELECT body FROM workflows').get()?.['body']));

describe('checkpoint repair --torn', () => {
  beforeEach(async () => {
    const was = record();
    await talked(folder, 'ana', ['2.1 bar']);
    onDataFile(folder, (db) => {
      db.prepare('UPDATE workflows SET body = ?').run(was);
    });
  });

  test('says what is torn, moves it aside, and then finds nothing', async () => {
    const dry = await run('repair', '--torn', '--dry-run');
    expect(dry.code).toBe(1);
    expect(dry.out.replace(/\s+/g, ' ')).toContain('1 event beyond the head, nothing changed.');
    expect((await run('audit', 'verify')).code).toBe(1);
    const done = await run('repair', '--torn');
    expect([done.code, done.out.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('1 event moved aside; the trail keeps them.'),
    ]);
    expect(await run('repair', '--torn')).toEqual({
      code: 0,
      out: 'No trail is torn.\n',
      err: '',
    });
    expect((await run('repair', '--torn', 'PUMP-07')).out).toContain(
      'nothing lies beyond the head',
    );
    expect((await run('audit', 'verify')).code).toBe(0);
    const why = await run('why', 'PUMP-07');
    expect(why.out).toContain('an event beyond the head (3) was moved aside and is kept');
    expect((await talked(folder, 'ana', ['2.1 bar'])).out).toContain('2.1 bar');
  });
});

describe('checkpoint repair --torn of all', () => {
  test('one trail that cannot be repaired is told, and hides no other', async () => {
    await talked(folder, 'ben', ['start pump-inspection PUMP-08', 'yes']);
    onDataFile(folder, (db) => {
      const rows = db.prepare('SELECT tenant, workflow, body FROM events WHERE seq = 1').all();
      const insert = db.prepare(
        'INSERT INTO events (tenant, workflow, seq, body) VALUES (?, ?, ?, ?)',
      );
      for (const { tenant = '', workflow: id = '', body } of rows) {
        const seq = id === workflow ? 20_000 : 3;
        const stored = { ...(JSON.parse(String(body)) as object), seq };
        insert.run(tenant, id, seq, JSON.stringify(stored));
      }
    });
    const done = await run('repair', '--torn');
    const told = done.out.replace(/\s+/g, ' ');
    expect(done.code).toBe(1);
    expect(told).toContain('cannot be repaired: a row lies too far beyond the head');
    expect(told).toContain('1 event moved aside; the trail keeps them.');
  });
});

describe('checkpoint repair --unfreeze', () => {
  beforeEach(async () => {
    onDataFile(folder, (db) => {
      changeEvent(db, workflow, 2, () => ({ text: '{}' }));
      db.exec(`UPDATE workflows SET body = json_set(body, '$.due_at', 1)`);
    });
    expect((await run('reconcile', '--once')).code).toBe(1);
  });

  test('lets work go on, and verification keeps naming the place', async () => {
    expect((await run('why', 'PUMP-07')).out).toMatch(
      /frozen +since .*: the trail does not verify: hash at 2/,
    );
    expect((await run('status')).out).toMatch(
      /found and left for a person.*\n +R8 +the trail does not verify: hash at 2/,
    );
    const dry = await run('repair', '--unfreeze', 'PUMP-07', '--reason', 'seen', '--dry-run');
    expect(dry.code).toBe(1);
    expect(dry.out.replace(/\s+/g, ' ')).toContain(
      'event 2 does not match its hash: nothing changed.',
    );
    const [, code = ''] = /--seen ([0-9a-f]{12})\./.exec(dry.out.replace(/\s+/g, ' ')) ?? [];
    const command = ['repair', '--unfreeze', 'PUMP-07', '--reason', 'the disk was replaced'];
    const unseen = await run(...command);
    expect([unseen.code, unseen.out.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining(`Once you have looked at it, say --seen ${code}.`),
    ]);
    const done = await run(...command, '--seen', code);
    expect(done.code).toBe(0);
    expect(done.out.replace(/\s+/g, ' ')).toContain('it goes on, and verification keeps naming');
    const verified = await run('audit', 'verify');
    expect(verified.code).toBe(1);
    expect(verified.out).toContain(
      'event 2 does not match its hash (looked at by a person, event 3)',
    );
    const why = await run('why', 'PUMP-07');
    expect(why.out).toContain('let go on by a person who looked at its trail: event 2');
    expect(why.out).toContain('reason: the disk was replaced');
    expect((await run('status')).out).not.toContain('left for a person');
    expect((await talked(folder, 'ana', ['2.1 bar'])).out).toContain('2.1 bar');
  });

  test.each([
    [['--unfreeze', 'PUMP-07'], '--reason: expected 1 to 500 characters.'],
    [[], 'Say what to repair: --torn, or --unfreeze with a workflow.'],
    [
      ['--torn', '--unfreeze', 'PUMP-07', '--reason', 'x'],
      'Say what to repair: --torn, or --unfreeze with a workflow.',
    ],
    [['--unfreeze', 'run-1', '--reason', 'x'], 'There is no run run-1.'],
    [['--torn', 'run-1'], 'There is no run run-1.'],
    [
      ['--unfreeze', 'PUMP-99', '--reason', 'x'],
      'There is no workflow PUMP-99, and none on an asset of that name.',
    ],
  ])('%j is answered with a sentence', async (args, problem) => {
    expect(await run('repair', ...args)).toEqual({ code: 1, out: '', err: `${problem}\n` });
  });

  test('work that is well is not let go on twice', async () => {
    const look = await run('repair', '--unfreeze', 'PUMP-07', '--reason', 'seen');
    const [code = ''] = /[0-9a-f]{12}(?=\.)/.exec(look.out) ?? [];
    await run('repair', '--unfreeze', 'PUMP-07', '--reason', 'seen', '--seen', code);
    const again = await run('repair', '--unfreeze', workflow, '--reason', 'seen');
    expect(again.err).toContain('is not frozen, and its trail has no open fault.');
  });
});
