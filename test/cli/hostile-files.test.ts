/** Files that somebody made to be read: no stack, no cursor that moves, no end that never comes. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { inProcess } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

const HOSTILE = '\u001b[2J\u001b[1;1HAll trails verify.\u001b]0;x\u0007\r\u202E\u009b\u{E0041}';
const MOVES_A_CURSOR = /[^\P{C}\n]/u;

let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
});

async function read(
  name: string,
  content: string | Uint8Array,
  ...command: readonly string[]
): Promise<{ readonly code: number | null; readonly said: string }> {
  const file = join(folder, name);
  await writeFile(file, content);
  const { code, out, err } = await inProcess([...command, file]);
  const said = out + err;
  expect(said).not.toMatch(MOVES_A_CURSOR);
  expect(said).not.toMatch(/^\s+at |node_modules|TypeError/mu);
  return { code, said };
}

/** An export of one event with this text, under the hash that it has. */
function exportOf(text: string, tenant = 't', workflow = 'w'): string {
  const hash = createHash('sha256').update(text).digest('hex');
  const place = { tenant, workflow, seq: 1, hash };
  return [
    { type: 'event', ...place, text },
    { type: 'head', ...place },
    { type: 'end', format: 1, at: '2026-01-01T00:00:00Z', trails: 1, events: 1 },
  ]
    .map((line) => JSON.stringify(line))
    .join('\n');
}

const verify = (content: string | Uint8Array) =>
  read('trails.jsonl', content, 'audit', 'verify', '--file');
const body = (more: object): string =>
  JSON.stringify({ tenant: 't', workflow: 'w', seq: 1, prev: '0'.repeat(64), ...more });

describe('an export', () => {
  test.each([
    'null',
    '7',
    '[]',
    '"x"',
    '{}',
    '{"data":null}',
    'no JSON',
    body({}),
    body({ actor: {} }),
    body({ actor: {}, data: null }),
    body({ actor: [], data: {} }),
    body({ actor: {}, data: 'x' }),
  ])('of an event that is none (%s) does not verify', async (text) => {
    expect(await verify(exportOf(text))).toEqual({
      code: 1,
      said: 'tenant t, workflow w: event 1 belongs elsewhere\n1 trail, 1 event: 1 fault.\n',
    });
  });

  test.each([
    { records: [{}, null, 'x', 1e9], commitment: 7 },
    { records: {}, commitment: 'x', confirms: { a: 1 } },
    { records: 'x', commitment: ['x'], confirms: '__proto__' },
  ])('of an event with odd data (%j) is read to its end', async (data) => {
    const { said } = await verify(exportOf(body({ type: 'value_erased', actor: {}, data })));
    expect(said).toContain('1 trail, 1 event: every one verifies.');
  });

  test('whose names would move the cursor is told without moving it', async () => {
    const { code, said } = await verify(exportOf('{}', HOSTILE, HOSTILE));
    expect(code).toBe(1);
    expect(said).toContain('tenant \\u{001B}[2J');
  });

  test('of a line without end is refused', async () => {
    const { code, said } = await verify('x'.repeat(4_000_000));
    expect([code, said]).toEqual([
      1,
      `${join(folder, 'trails.jsonl')} has a line of more than 3276800 characters.\n`,
    ]);
  });

  test.each([
    ['deep', '['.repeat(200_000)],
    ['bytes of nothing', new Uint8Array(5_000).fill(0xff)],
    ['prototype names', '{"type":"__proto__"}\n{"__proto__":{"type":"end"}}'],
  ])('that is %s is told line by line', async (_what, content) => {
    const { code, said } = await verify(content);
    expect(code).toBe(1);
    expect(said).toContain('line 1: this is not a line of an export');
  });
});

describe('a definition', () => {
  const check = (name: string, content: string) => read(name, content, 'policy', 'check');

  test.each([
    ['the names of its members', { [HOSTILE]: 1, id: HOSTILE }],
    ['its steps', { steps: [{ id: HOSTILE, kind: HOSTILE }] }],
    ['its pattern', { asset: { type: 'x', pattern: HOSTILE, example: HOSTILE } }],
  ])('that would move the cursor by %s is told without moving it', async (_what, content) => {
    expect((await check('a.json', JSON.stringify(content))).code).toBe(1);
  });

  test('that would move the cursor by its file name is told without moving it', async () => {
    expect((await check('evil\u001b[2J.json', '{}')).said).toContain('evil\\u{001B}[2J.json');
  });

  test.each([
    ['throws when its domain is read', `{ get domain() { throw new Error('/etc/passwd') } }`],
    ['throws whatever is read', 'new Proxy({}, { get() { throw 1 } })'],
    [
      'throws when a procedure is read',
      `{ domain: 'd', procedures: [{ get id() { throw new Error('x') } }] }`,
    ],
  ])('in a module that %s is one fault', async (_what, policy) => {
    const { code, said } = await check('own.mjs', `export const policy = ${policy};`);
    expect(code).toBe(1);
    expect(said).toContain('own.mjs: expected a policy whose members can be read\n');
  });

  test('in a file without end is refused', async () => {
    const { code, out } = await inProcess(['policy', 'check', '/dev/zero']);
    expect([code, out.split('\n')[0]]).toEqual([1, '/dev/zero: expected at most 262144 bytes']);
  });

  test('that is a number beyond all is told once', async () => {
    const { said } = await check('num.json', '1e999');
    expect(said.match(/the number is not finite/gu)).toHaveLength(1);
  });
});
