import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder } from '../support/e2e.ts';
import { inspected, SECRET, talked } from '../support/talked.ts';
import { onDataFile } from '../support/trail.ts';

let folder: string;
let workflow: string;
let file: string;
beforeEach(async () => {
  folder = await dataFolder();
  workflow = await inspected(folder);
  await talked(folder, 'ben', ['start pump-inspection PUMP-08', 'yes']);
  file = join(folder, 'written');
});

const run = (...args: string[]) => inProcess(['audit', ...args, '--data', folder]);
const verify = (name = file) => inProcess(['audit', 'verify', '--file', name]);
const lines = async (): Promise<string[]> => (await readFile(file, 'utf8')).trimEnd().split('\n');

describe('an export', () => {
  test('verifies offline, in another process, without the data folder', async () => {
    expect(await run('export', '--out', file)).toEqual({
      code: 0,
      out: `${file}: 12 lines\n`,
      err: '',
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const ended = await runScript(ENTRY, ['audit', 'verify', '--file', file]);
    expect(ended).toEqual({
      code: 0,
      out: '2 trails, 9 events: every one verifies.\nNot checked: 1 sensitive value; an export holds their commitments only.\n',
      err: '',
    });
    expect(await readFile(file, 'utf8')).not.toContain(SECRET);
  });

  test('holds the text that was hashed, so that anybody can verify it', async () => {
    const { out } = await run('export', '--workflow', workflow);
    const all = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const events = all.filter(({ type }) => type === 'event');
    expect(events).toHaveLength(7);
    let prev = '0'.repeat(64);
    for (const { text, hash } of events) {
      expect(createHash('sha256').update(String(text)).digest('hex')).toBe(hash);
      expect(JSON.parse(String(text))).toMatchObject({ prev });
      prev = String(hash);
    }
    expect(all.at(-2)).toEqual({ type: 'head', tenant: 'local', workflow, seq: 7, hash: prev });
    expect(all.at(-1)).toMatchObject({ type: 'end', format: 1, trails: 1, events: 7 });
  });

  test('never overwrites a file', async () => {
    await writeFile(file, 'mine');
    const { code, err } = await run('export', '--out', file);
    expect({ code, err }).toEqual({
      code: 1,
      err: `${file} exists already: choose another name.\n`,
    });
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  const changed: readonly (readonly [string, (all: string[]) => string[], RegExp])[] = [
    [
      'a changed value',
      (all) => all.map((line) => line.replace('2.1', '2.2')),
      /event 3 does not match its hash/,
    ],
    [
      'a line left out',
      (all) => all.filter((line) => !line.includes('"seq":2,')),
      /event 2 is missing/,
    ],
    ['a line twice', ([first = '', ...rest]) => [first, first, ...rest], /event 2 is missing/],
    [
      'a trail cut short with its head',
      (all) => all.filter((line) => !line.includes('"seq":7')),
      /its head is missing/,
    ],
    ['the end cut off', (all) => all.slice(0, -1), /the last line is missing: the export was cut/],
    [
      'a whole trail left out',
      (all) => all.filter((line) => !line.includes(workflow)),
      /not as many trails and events/,
    ],
    ['something else', (all) => ['not a line', ...all], /line 1: this is not a line of an export/],
    [
      'a line after the end',
      (all) => [...all, all[0] ?? ''],
      /line 13: this line does not belong here/,
    ],
    [
      'a head of another list',
      (all) => [`{"type":"heads","format":1,"at":"2026-01-01T00:00:00Z"}`, ...all],
      /line 1: this line does not belong/,
    ],
    [
      'a head of no events',
      (all) => all.filter((line) => !(line.includes(workflow) && line.includes('"event"'))),
      /event 1 is missing/,
    ],
  ];
  test.each(changed)('with %s does not verify', async (_what, change, message) => {
    await run('export', '--out', file);
    await writeFile(file, `${change(await lines()).join('\n')}\n`);
    const { code, out } = await verify();
    expect(code).toBe(1);
    expect(out).toMatch(message);
  });

  test('that is not there is one sentence', async () => {
    expect(await verify('/does/not/exist')).toEqual({
      code: 1,
      out: '',
      err: '/does/not/exist cannot be read (ENOENT).\n',
    });
  });
});

describe('a list of heads', () => {
  const heads = () => run('heads', '--out', file);
  const compare = () => run('verify', '--heads', file);
  const sql = (text: string) => onDataFile(folder, (db) => db.exec(text));

  test('still stands after more was recorded and a value was erased', async () => {
    await heads();
    await talked(folder, 'ana', ['where am i', 'bearing_temperature 60']);
    await inProcess(['erase', workflow, 'operator_remarks', '--reason', 'asked', '--data', folder]);
    const { code, out } = await compare();
    expect(code).toBe(0);
    expect(out).toMatch(
      /^2 heads of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: every one still stands\.\n$/,
    );
  });

  test('shows a trail that was put back to an earlier state, which verifies by itself', async () => {
    const copy = await dataFolder();
    for (const name of ['checkpoint.sqlite', 'secret']) {
      await copyFile(join(folder, name), join(copy, name));
    }
    await talked(folder, 'ana', ['where am i', 'bearing_temperature 60']);
    await heads();
    expect(await inProcess(['audit', 'verify', '--data', copy])).toMatchObject({ code: 0 });
    const { code, out } = await inProcess(['audit', 'verify', '--heads', file, '--data', copy]);
    expect(code).toBe(1);
    expect(out).toContain(`workflow ${workflow}: cut to 7 events; 8 events were signed`);
  });

  test('shows a workflow that is gone, a rewritten trail, and a broken one', async () => {
    await heads();
    const other = (await lines()).find(
      (line) => line.includes('"head"') && !line.includes(workflow),
    );
    const { workflow: gone } = JSON.parse(other ?? '') as { workflow: string };
    sql(`DELETE FROM workflows WHERE id = '${gone}'`);
    sql(`UPDATE events SET body = replace(body, '2.1', '2.2') WHERE seq = 3`);
    const broken = await compare();
    expect(broken.code).toBe(1);
    expect(broken.out).toContain(`workflow ${gone}: the workflow is gone; 2 events were signed`);
    expect(broken.out).toContain(`workflow ${workflow}: event 3 does not match its hash`);
    const hash = 'f'.repeat(64);
    sql(`UPDATE events SET body = json_set(body, '$.hash', '${hash}') WHERE seq = 7`);
    const rewritten = await compare();
    expect(rewritten.out).toContain('rewritten; event 7 is not the one that was signed');
  });

  test('counts one event as one', async () => {
    await talked(folder, 'eve', ['start pump-inspection PUMP-09']);
    await heads();
    sql(`DELETE FROM workflows WHERE body ->> 'asset' = 'PUMP-09'`);
    expect((await compare()).out).toMatch(/: the workflow is gone; 1 event was signed\n/);
  });

  test('that was changed, cut, or signed elsewhere counts for nothing', async () => {
    await heads();
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"seq":7', '"seq":6'));
    expect((await compare()).err).toBe(
      `${file} was not signed by this deployment, or was changed since.\n`,
    );
    await writeFile(file, text.split('\n').slice(0, 2).join('\n'));
    expect((await compare()).err).toBe(`${file} is not a whole list of heads.\n`);
    const elsewhere = await dataFolder();
    await talked(elsewhere, 'ana', ['start pump-inspection PUMP-01']);
    await writeFile(file, (await inProcess(['audit', 'heads', '--data', elsewhere])).out);
    expect((await compare()).err).toContain('was not signed by this deployment');
  });

  test('is signed as the documents say, so that its signature can be checked by other means', async () => {
    await heads();
    const [last = '', ...signed] = (await lines()).toReversed();
    const secret = (await readFile(join(folder, 'secret'), 'utf8')).trim();
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'checkpoint:heads', 32)).toString('hex');
    const mac = createHmac('sha256', key);
    for (const line of signed.toReversed()) mac.update(`${line}\n`);
    expect(JSON.parse(last)).toEqual({ type: 'mac', heads: 2, mac: mac.digest('hex') });
  });

  test('is signed for its date too', async () => {
    await heads();
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/"at":"\d{4}/, '"at":"2020'));
    expect((await compare()).code).toBe(1);
  });

  test('of another kind of verification is not mixed with it', async () => {
    await heads();
    const { code, err } = await run('verify', '--heads', file, '--workflow', workflow);
    expect({ code, err }).toEqual({
      code: 1,
      err: '--all, --file, --heads and the choice of trails exclude each other.\n',
    });
  });
});
