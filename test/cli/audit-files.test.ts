import { createHash, createPublicKey, generateKeyPairSync, verify as isSigned } from 'node:crypto';
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
      (all) => [
        '{"type":"heads","format":1,"at":"2026-01-01T00:00:00Z","day":"2026-01-01","part":1}',
        ...all,
      ],
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
  const compare = (...more: string[]) => run('verify', '--heads', file, ...more);
  const fingerprint = async (): Promise<string> => {
    const { out } = await run('heads-key');
    return /^Fingerprint ([0-9a-f]{64})$/m.exec(out)?.[1] ?? '';
  };
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

  test.each<readonly [string, (all: string[]) => string[], string]>([
    ['a head', (all) => all.map((l) => l.replace('"seq":7', '"seq":6')), 'changed'],
    ['its date', (all) => all.map((l) => l.replace(/"at":"\d{4}/, '"at":"2020')), 'changed'],
    ['its day', (all) => all.map((l) => l.replace(/"day":"\d{4}/, '"day":"2020')), 'changed'],
    ['what follows', (all) => all.map((l) => l.replace('"more":false', '"more":true')), 'changed'],
    ['its order', ([a = '', b = '', c = '', ...rest]) => [a, c, b, ...rest], 'changed'],
    ['its count', (all) => all.map((l) => l.replace('"heads":2', '"heads":3')), 'form'],
    ['a head left out', ([a = '', , ...rest]) => [a, ...rest], 'form'],
    ['its end left out', (all) => all.slice(0, -1), 'form'],
    ['its total left out', (all) => all.filter((l) => !l.includes('"total"')), 'form'],
    ['a line after its end', (all) => [...all, all[1] ?? ''], 'form'],
  ])('counts for nothing with a change of %s', async (_what, change, why) => {
    await heads();
    await writeFile(file, `${change(await lines()).join('\n')}\n`);
    expect(await compare()).toEqual({
      code: 1,
      out: '',
      err:
        why === 'form'
          ? `${file} is not a whole list of heads.\n`
          : `${file} was changed since it was signed.\n`,
    });
  });

  test('that was signed elsewhere counts for nothing, and says under which key it was', async () => {
    const elsewhere = await dataFolder();
    await talked(elsewhere, 'ana', ['start pump-inspection PUMP-01']);
    await inProcess(['audit', 'heads', '--out', file, '--data', elsewhere]);
    const { out } = await inProcess(['audit', 'heads-key', '--data', elsewhere]);
    const other = /^Fingerprint ([0-9a-f]{64})$/m.exec(out)?.[1] ?? '';
    const own = await fingerprint();
    expect(other).not.toBe(own);
    expect(await compare()).toEqual({
      code: 1,
      out: '',
      err: `${file} was signed under another key, ${other}; expected ${own}.\n`,
    });
    // Whoever writes the fingerprint of the right key into a list of their own gains nothing.
    const { key } = JSON.parse((await run('heads')).out.trimEnd().split('\n').at(-1) ?? '') as {
      key: string;
    };
    const forged = (await lines()).map((line) => line.replace(/"key":"[^"]+"/, `"key":"${key}"`));
    await writeFile(file, `${forged.join('\n')}\n`);
    expect((await compare()).err).toBe(`${file} was changed since it was signed.\n`);
  });

  describe('is verified without any secret', () => {
    test.each(['fingerprint', 'file'])('under a key that is pinned by its %s', async (by) => {
      await heads();
      const pem = join(folder, 'heads-key.pem');
      const printed = await run('heads-key');
      await writeFile(pem, printed.out);
      const key = by === 'file' ? pem : (await fingerprint()).toUpperCase();
      const copy = await dataFolder();
      await copyFile(join(folder, 'checkpoint.sqlite'), join(copy, 'checkpoint.sqlite'));
      const verified = await inProcess([
        'audit',
        'verify',
        '--heads',
        file,
        '--key',
        key,
        '--data',
        copy,
      ]);
      expect([verified.code, verified.err]).toEqual([0, '']);
      expect(verified.out).toMatch(/every one still stands/);
      await expect(stat(join(copy, 'secret'))).rejects.toThrow('ENOENT');
    });

    test('and not under any other', async () => {
      await heads();
      const own = await fingerprint();
      expect((await compare('--key', 'f'.repeat(64))).err).toBe(
        `${file} was signed under another key, ${own}; expected ${'f'.repeat(64)}.\n`,
      );
    });

    test.each([
      ['a list', () => readFile(file, 'utf8')],
      [
        'a key of another kind',
        () =>
          Promise.resolve(
            generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
              format: 'pem',
              type: 'spki',
            }),
          ),
      ],
      [
        'a private key',
        () =>
          Promise.resolve(
            generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
          ),
      ],
      ['nothing', () => Promise.resolve('')],
    ])('a file with %s is no key', async (_what, content) => {
      await heads();
      const pem = join(folder, 'other.pem');
      await writeFile(pem, await content());
      expect(await compare('--key', pem)).toEqual({
        code: 1,
        out: '',
        err: `${pem} does not hold a public key as audit heads-key prints it.\n`,
      });
    });

    test('a key without a list is refused', async () => {
      const { code, err } = await run('verify', '--key', 'f'.repeat(64));
      expect({ code, err }).toEqual({
        code: 1,
        err: '--key is the key of a list: expected --heads beside it.\n',
      });
    });
  });

  test('is signed as the documents say, so that its signature can be checked by other means', async () => {
    const written = await heads();
    const [last = '', ...signed] = (await lines()).toReversed();
    const digest = createHash('sha256');
    for (const line of signed.toReversed()) digest.update(`${line}\n`);
    const { key, signature } = JSON.parse(last) as { key: string; signature: string };
    const der = Buffer.from(key, 'base64');
    const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const text = Buffer.from(`checkpoint:heads:${digest.digest('hex')}`);
    expect(isSigned(null, text, publicKey, Buffer.from(signature, 'base64'))).toBe(true);
    const of = createHash('sha256').update(der).digest('hex');
    expect(written.out).toBe(`${file}: 5 lines\nSigned under the key ${of}\n`);
    const { out } = await run('heads-key');
    expect(createPublicKey(out).equals(publicKey)).toBe(true);
    expect(await fingerprint()).toBe(of);
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
