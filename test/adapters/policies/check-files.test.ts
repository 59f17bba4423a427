import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkPolicyFiles } from '../../../lib/adapters/policies/check-files.ts';
import { smallProcedure } from '../../support/small-procedure.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Checks files of these contents; answers `name:line:column pointer: message` for each fault. */
async function check(files: Record<string, string | Uint8Array>): Promise<readonly string[]> {
  const folder = await tempFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const paths = Object.keys(files).map((name) => join(folder, name));
  const checked = await checkPolicyFiles(paths, [
    { domain: 'shipped', procedures: [smallProcedure({ id: 'taken' })] },
  ]);
  return checked.flatMap(({ file, procedures, faults }) => {
    const name = file.slice(folder.length + 1);
    if (faults.length === 0) return [`${name}: ${procedures.join(', ')}`];
    return faults.map(({ line, column, path, message }) => {
      const place = line === undefined ? '' : `:${line}:${column}`;
      return `${name}${place} ${path}: ${message}`;
    });
  });
}

const json = (change = {}): string => JSON.stringify(smallProcedure(change), null, 2);

test('files that can be used are told with what they define, with a byte order mark too', async () => {
  expect(
    await check({
      'a.json': json({ id: 'a' }),
      'b.json': `\uFEFF${json({ id: 'b', version: 7 })}`,
      'c.mjs': `export const policy = { domain: 'c',
        procedures: [${json({ id: 'c' })}, ${json({ id: 'd' })}] };`,
    }),
  ).toEqual(['a.json: a@1', 'b.json: b@7', 'c.mjs: c@1, d@1']);
});

test('every fault of a file has the place of its value, or of what it is missing in', async () => {
  const text = `{
  "id": "Round",
  "version": 1,
  "title": "round",
  "description": "A round.",
  "asset": { "type": "cabinet", "pattern": "CAB-[0-9]", "example": "BOX" },
  "steps": [
    { "id": "a", "kind": "confirm", "title": "a", "instruction": "Say.", "requires": ["b"],
      "on_deviation": "stop" },
    { "id": "b", "kind": "confirm", "titel": "b", "instruction": "Say." }
  ]
}`;
  expect(await check({ 'x.json': text })).toEqual([
    'x.json:2:9 /id: expected lower-case letters, digits, - or _, starting with a letter',
    'x.json:6:68 /asset/example: expected an example that matches the pattern in upper case',
    'x.json:9:23 /steps/0/on_deviation: expected one of: retake, record_and_notify, block',
    'x.json:10:5 /steps/1/title: missing; expected a string',
    'x.json:10:5 /steps/1/on_deviation: missing; expected one of: retake, record_and_notify, block',
    'x.json:10:46 /steps/1/titel: expected no member of this name',
  ]);
});

test.each([
  ['{"id": 1,}', '1:10', 'expected valid JSON: unexpected "}"'],
  ['{\n  "id" 1\n}', '2:8', 'expected valid JSON: unexpected a number'],
  ['', '1:1', 'expected valid JSON: unexpected end of input'],
  ['// note\n{}', '1:1', "expected valid JSON: unexpected character '/'"],
  ['{"id": yes}', '1:8', "expected valid JSON: unexpected character 'y'"],
  ['{}\n{}', '2:1', 'expected valid JSON: unexpected "{"'],
])('a text that is not JSON, %j, is told at %s', async (text, place, message) => {
  expect(await check({ 'x.json': text })).toEqual([`x.json:${place} : ${message}`]);
});

test('what JSON readers differ about is told at its place, all of it at once', async () => {
  const text = json().replace('"version": 1', '"version": 1,\n  "version": 2');
  const twice = text.replace('"title": "round"', '"title": "round", "title": "half \\ud800"');
  expect(await check({ 'x.json': twice })).toEqual([
    'x.json:4:3 /version: the member name appears twice',
    'x.json:5:21 /title: the member name appears twice',
    'x.json:5:30 /title: the text contains half of a character pair',
  ]);
  expect(await check({ 'y.json': '{"id": "a\nb"}' })).toEqual([
    'y.json:1:8 /id: expected control characters in a text to be escaped',
  ]);
  expect(await check({ 'z.json': '['.repeat(100_000) + ']'.repeat(100_000) })).toEqual([
    expect.stringContaining('nested deeper than 32 levels'),
  ]);
});

test('files that are too long, not UTF-8, or not there have no places', async () => {
  const folder = await tempFolder();
  const [missing] = await checkPolicyFiles([join(folder, 'none.json')], []);
  expect(missing?.faults).toEqual([{ path: '', message: 'expected a file that can be read' }]);
  expect(
    await check({
      'long.json': `"${'x'.repeat(262_143)}"`,
      'latin.json': Uint8Array.of(0x22, 0xe4, 0x22),
      'none.mjs': 'export const other = 1;',
      'bad.mjs': `export const policy = { domain: 'c', procedures: [{ id: 'a' }] };`,
    }),
  ).toEqual(
    expect.arrayContaining([
      'long.json : expected at most 262144 bytes',
      'latin.json : expected UTF-8 text',
      'none.mjs : expected an export named policy with domain, procedures and perhaps check',
      'bad.mjs /procedures/0/version: missing; expected a number',
    ]),
  );
});

test('one version defined by two files, or by a shipped domain too, is a fault of the later', async () => {
  expect(
    await check({
      'a.json': json({ id: 'a' }),
      'b.json': json({ id: 'a', title: 'other' }),
      'c.json': json({ id: 'taken' }),
      'd.mjs': `export const policy = { domain: 'd', procedures: [${json({ id: 'a' })}] };`,
    }),
  ).toEqual([
    'a.json: a@1',
    expect.stringMatching(/^b\.json:3:14 \/version: a@1 is defined by \S+a\.json too; give it/),
    'c.json:3:14 /version: taken@1 is defined by shipped too; give it another version',
    expect.stringMatching(/^d\.mjs \/procedures\/0\/version: a@1 is defined by \S+a\.json too/),
  ]);
});
