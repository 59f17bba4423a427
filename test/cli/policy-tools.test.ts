import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { onDataFile } from '../support/trail.ts';
import { smallProcedure } from '../support/small-procedure.ts';
import { tempFolder } from '../support/temp-folder.ts';

test('a new policy passes the check, has a schema for editors, and is never overwritten', async () => {
  const folder = await tempFolder();
  const file = join(folder, 'boiler-round.json');
  const made = await runScript(ENTRY, ['policy', 'new', 'boiler-round', '--folder', folder]);
  expect(made).toEqual({ code: 0, out: `${file}\n`, err: '' });
  const text = await readFile(file, 'utf8');
  const written = JSON.parse(text) as Record<string, unknown>;
  expect(written).toMatchObject({ id: 'boiler-round', version: 1, title: 'boiler round' });
  const schema = await readFile(join(folder, String(written['$schema'])), 'utf8');
  expect(JSON.parse(schema)).toMatchObject({ $id: 'urn:checkpoint:procedure:1' });
  expect(await runScript(ENTRY, ['policy', 'check', file])).toEqual({
    code: 0,
    out: `${file}: boiler-round@1 can be used\n`,
    err: '',
  });
  const again = await inProcess(['policy', 'new', 'boiler-round', '--folder', folder]);
  expect(again).toEqual({
    code: 1,
    out: '',
    err: `${file} exists already: it was left as it is.\n`,
  });
  expect(await readFile(file, 'utf8')).toBe(text);
});

test.each([
  [['Boiler'], 'ID: expected lower-case letters, digits, - or _'],
  [['../x'], 'ID: expected lower-case letters, digits, - or _'],
  [['x', '--title', ' '], '--title: expected 1 to 120 characters.'],
  [['x', '--folder', '/does/not/exist'], 'There is no folder /does/not/exist.'],
])('policy new %j says what is wrong in one sentence', async (args, message) => {
  const { code, out, err } = await inProcess(['policy', 'new', ...args]);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toContain(message);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
});

test('the check prints every fault of every file with its place, and ends with code 1', async () => {
  const folder = await tempFolder();
  const at = (name: string): string => join(folder, name);
  await writeFile(at('text.json'), '{\n  "id": "a",\n}');
  await writeFile(at('shape.json'), '{\n  "id": "A"\n}');
  await writeFile(at('rules.mjs'), 'export const nothing = 1;');
  const names = ['text.json', 'shape.json', 'rules.mjs'].map(at);
  const { code, out, err } = await runScript(ENTRY, ['policy', 'check', ...names]);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toBe(`${at('text.json')}:3:1: expected valid JSON: unexpected "}"`);
  expect(lines).toContain(
    `${at('shape.json')}:2:9 /id: expected lower-case letters, digits, - or _, starting with a letter`,
  );
  expect(lines).toContain(`${at('shape.json')}:1:1 /version: missing; expected a number`);
  expect(lines.at(-2)).toBe(
    `${at('rules.mjs')}: expected an export named policy with domain, procedures and perhaps check`,
  );
  expect(lines.at(-1)).toBe('8 faults in 3 of 3 files.');
});

test('a procedure is shown on one screen', async () => {
  const { code, out } = await inProcess(['policy', 'show', 'pump-inspection@1']);
  expect(code).toBe(0);
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^pump inspection \(pump-inspection@1\): Routine inspection/);
  expect(out).toMatch(
    / {2}2 {2}suction_pressure +reading +0\.\.12 bar +0\.8\.\.4 +1\.5\.\.3 +block/,
  );
  expect(out).toContain('options: dry, damp, dripping (deviates), spraying (deviates)');
  expect(out).toContain('after: guards_check');
  expect(out).toContain('Its domain has rules in code too');
  expect(lines.length).toBeLessThanOrEqual(40);
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(100);
});

test('the times of a procedure are shown with who is told of them', async () => {
  const { out } = await inProcess(['policy', 'show', 'pump-inspection']);
  expect(out).toContain('within 480 min, else notify');
  expect(out).toContain('after 30 min without a record, 2 times at most');
  expect(out.replace(/\s+/g, ' ')).toContain('block to plant_manager after 120 min');
  const other = await inProcess(['policy', 'show', 'instrument-calibration']);
  expect(other.out).toMatch(
    /repeat_error.*\n.*after: as_left_error\n +within 30 min, else block\n/,
  );
});

test('rules that say nothing and slow patterns are told, the one as a warning, the other as a fault', async () => {
  const folder = await tempFolder();
  const [rule] = smallProcedure().rules ?? [];
  const rules = [rule, { ...rule, id: 'opposite', kind: 'less_than' }];
  const odd = join(folder, 'odd.json');
  await writeFile(odd, JSON.stringify({ ...smallProcedure(), rules }, null, 2));
  const { code, out } = await inProcess(['policy', 'check', odd]);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^.*odd\.json:\d+:\d+ \/rules\/1: warning: no values keep both this rule and order\n.*odd\.json: round@1 can be used\n$/,
  );
  const slow = join(folder, 'slow.json');
  const asset = { type: 'box', pattern: '(A+)+', example: 'A' };
  await writeFile(slow, JSON.stringify(smallProcedure({ asset })));
  const refused = await inProcess(['policy', 'check', slow]);
  expect(refused.code).toBe(1);
  expect(refused.out).toMatch(/slow\.json:1:\d+ \/asset\/pattern: takes too long on some names/);
});

test('a procedure of one’s own is shown from its file, before it is served anywhere', async () => {
  const folder = await tempFolder();
  await inProcess(['policy', 'new', 'my-round', '--folder', folder]);
  const show = (name: string) => inProcess(['policy', 'show', join(folder, name)]);
  const { code, out, err } = await show('my-round.json');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^my round \(my-round@1\): What this procedure/);
  await writeFile(
    join(folder, 'both.mjs'),
    `import { readFileSync } from 'node:fs';
     const one = JSON.parse(readFileSync(new URL('my-round.json', import.meta.url)));
     export const policy = { domain: 'own', procedures: [one, { ...one, version: 2 }] };`,
  );
  const both = (await show('both.mjs')).out;
  expect(both.match(/^my round \(my-round@[12]\)/gm)).toHaveLength(2);
  await writeFile(join(folder, 'bad.json'), '{"id":"bad"}');
  expect(await show('bad.json')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/bad\.json has faults: .*policy check .*bad\.json says which\.\n$/),
  });
  expect((await show('none.json')).code).toBe(1);
});

test('a procedure is shown as JSON that passes the check', async () => {
  const folder = await tempFolder();
  const shown = await inProcess(['policy', 'show', 'instrument-calibration', '--json']);
  const file = join(folder, 'copy.json');
  const copy = { ...(JSON.parse(shown.out) as object), id: 'copy' };
  await writeFile(file, JSON.stringify(copy));
  expect((await inProcess(['policy', 'check', file])).out).toBe(`${file}: copy@2 can be used\n`);
});

test.each(['pump-inspection@3', 'pump', '', 'pump-inspection@x'])(
  'policy show %j names what there is',
  async (name) => {
    expect(await inProcess(['policy', 'show', name])).toEqual({
      code: 1,
      out: '',
      err: `There is no procedure ${name}; known are instrument-calibration@1, instrument-calibration@2, pump-inspection@1, pump-inspection@2.\n`,
    });
  },
);

test('the deploy check lists what is in use, and fails where this release lacks a version', async () => {
  const folder = await tempFolder();
  const policies = await tempFolder();
  const active = (settings = {}) =>
    inProcess(['policy', 'active', '--data', join(folder, 'data')], settings);
  const known = 'This release has every procedure version that active workflows run on.\n';
  expect(await active()).toEqual({ code: 0, out: known, err: '' });

  await inProcess(['policy', 'new', 'round', '--folder', policies]);
  const settings = { CHECKPOINT_POLICIES: policies };
  const talked = await inProcess(
    ['serve', '--port', '0', '--data', join(folder, 'data')],
    settings,
  );
  expect(talked.code).toBe(0);
  const body = JSON.stringify({
    format: 1,
    tenant: 'local',
    id: 'w1',
    procedure: 'round',
    procedure_version: 1,
    state: 'RUNNING',
  });
  onDataFile(join(folder, 'data'), (db) => {
    db.prepare('INSERT INTO workflows VALUES (?, ?, ?, ?, ?)').run(
      'local',
      'w1',
      'RUNNING',
      '',
      body,
    );
  });
  const line = (word: string) => `  round@1  1 active  1 tenant  ${word}\n`;
  expect(await active(settings)).toEqual({ code: 0, out: `${line('known')}${known}`, err: '' });
  expect(await active()).toEqual({
    code: 1,
    out: `${line('MISSING')}This release lacks 1 procedure version of active workflows.\n`,
    err: '',
  });
});
