import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { inProcess } from '../support/command-line.ts';
import { dataFolder, serve, tokenFor } from '../support/e2e.ts';
import { inspected, SECRET } from '../support/talked.ts';
import { onDataFile } from '../support/trail.ts';
import { tool } from '../support/wire.ts';

let folder: string;
let workflow: string;
beforeEach(async () => {
  folder = await dataFolder();
  workflow = await inspected(folder);
});

const audit = (...args: string[]) => inProcess(['audit', ...args, '--data', folder]);
const change = (work: (db: DatabaseSync) => void): void => {
  onDataFile(folder, work);
};
const sql = (text: string): void => {
  change((db) => db.exec(text));
};
const eraseRemarks = () =>
  inProcess(['erase', workflow, 'operator_remarks', '--reason', 'asked', '--data', folder]);

const SET = `UPDATE vault SET body = json_set(body,`;
const FAULTS: readonly (readonly [string, string, (db: DatabaseSync) => void])[] = [
  [
    'whose text was changed',
    'event 7 does not match the sensitive value that is kept for it',
    (db) => db.exec(`${SET} '$.value', 'all is well')`),
  ],
  [
    'whose salt was changed',
    'event 7 does not match the sensitive value that is kept for it',
    (db) => db.exec(`${SET} '$.key', '${'0'.repeat(64)}')`),
  ],
  [
    'that was deleted without an event',
    'event 7 has lost its sensitive value, and no event says that it was erased',
    (db) => db.exec('DELETE FROM vault'),
  ],
  [
    'that no event commits to',
    'event 3 has a sensitive value that no event commits to',
    (db) =>
      db.exec(`INSERT INTO vault
        SELECT tenant, workflow, 3, json_set(body, '$.seq', 3) FROM vault WHERE seq = 7`),
  ],
  [
    'that belongs to no event at all',
    'event 99 has a sensitive value that no event commits to',
    (db) => db.exec(`INSERT INTO vault SELECT tenant, workflow, 99, body FROM vault`),
  ],
  [
    'that cannot be read',
    'event 7 has a sensitive value that cannot be read',
    (db) => db.exec(`UPDATE vault SET body = '{'`),
  ],
  [
    'of which half was taken',
    'event 7 has a sensitive value that cannot be read',
    (db) => db.exec(`UPDATE vault SET body = json_remove(body, '$.value')`),
  ],
];

describe('audit verify', () => {
  test('counts the sensitive values that match their commitments', async () => {
    expect(await audit('verify')).toEqual({
      code: 0,
      out: '1 trail, 7 events, 1 sensitive value: every one verifies.\n',
      err: '',
    });
    await eraseRemarks();
    expect((await audit('verify', '--all')).out).toBe('1 trail, 8 events: every one verifies.\n');
  });

  test.each(FAULTS)(
    'ends with 1 and names a value %s, and never shows it',
    async (_w, says, at) => {
      change(at);
      for (const choice of [[], ['--all'], ['--tenant', 'local'], ['--workflow', workflow]]) {
        const { code, out, err } = await audit('verify', ...choice);
        expect([code, err]).toEqual([1, '']);
        expect(out.split('\n')[0]).toBe(`tenant local, workflow ${workflow}: ${says}`);
        expect(out).not.toContain('plums');
      }
    },
  );

  test('names an erased value that is still there', async () => {
    sql('CREATE TABLE kept AS SELECT * FROM vault');
    await eraseRemarks();
    sql('INSERT INTO vault SELECT * FROM kept; DROP TABLE kept');
    const { code, out } = await audit('verify');
    expect(code).toBe(1);
    expect(out).toBe(
      `tenant local, workflow ${workflow}: event 7 has a sensitive value that was erased and is still there\n1 trail, 8 events: 1 broken.\n`,
    );
  });

  test('names every value that is wrong, of one trail', async () => {
    sql(`INSERT INTO vault SELECT tenant, workflow, 2, body FROM vault`);
    sql(`UPDATE vault SET body = '{' WHERE seq = 7`);
    expect((await audit('verify')).out.split('\n').map((line) => line.split(': ')[1])).toEqual([
      'event 2 has a sensitive value that no event commits to',
      'event 7 has a sensitive value that cannot be read',
      '1 broken.',
      undefined,
    ]);
  });

  test('says which choices exclude each other', async () => {
    expect(await audit('verify', '--all', '--tenant', 'local')).toEqual({
      code: 1,
      out: '',
      err: '--all, --file, --heads and the choice of trails exclude each other.\n',
    });
  });

  test('against a list of heads finds a value that was changed since', async () => {
    const file = join(folder, 'heads');
    await audit('heads', '--out', file);
    expect((await audit('verify', '--heads', file)).code).toBe(0);
    sql(`${SET} '$.value', 'all is well')`);
    const { code, out } = await audit('verify', '--heads', file);
    expect(code).toBe(1);
    expect(out).toContain(`workflow ${workflow}: event 7 does not match the sensitive value`);
  });

  test('of an export says how many values could not be checked', async () => {
    const file = join(folder, 'export');
    const written = (await audit('export')).out;
    expect(written).not.toContain(SECRET);
    await writeFile(file, written);
    expect(await inProcess(['audit', 'verify', '--file', file])).toEqual({
      code: 0,
      out: '1 trail, 7 events: every one verifies.\nNot checked: 1 sensitive value; an export holds their commitments only.\n',
      err: '',
    });
    await eraseRemarks();
    await writeFile(file, (await audit('export')).out);
    expect((await inProcess(['audit', 'verify', '--file', file])).out).toBe(
      '1 trail, 8 events: every one verifies.\n',
    );
  });
});

test('the reason for skipping a sensitive step is kept apart, verified and erased like its text', async () => {
  const other = await dataFolder();
  const { url } = await serve(other);
  const ana = { url, token: await tokenFor(other, 'ana', 'procedures:run') };
  const start = { procedure: 'pump-inspection', asset: 'PUMP-01' };
  const { workflow_id } = (await tool(ana, 'start_workflow', start)).fields;
  const skip = { workflow_id, step: 'operator_remarks', skip_reason: 'plums' };
  expect((await tool(ana, 'record_step', skip)).fields).toMatchObject({ code: 'OK' });
  expect((await tool(ana, 'record_step', skip)).fields).toMatchObject({ duplicate: true });
  const run = (...args: string[]) => inProcess([...args, '--data', other]);
  expect((await run('audit', 'export')).out).not.toContain('plums');
  expect((await run('audit', 'verify')).out).toContain('1 sensitive value: every one verifies');
  expect((await run('why', 'PUMP-01')).out).toContain('skipped, reason (kept apart)');
  await run('erase', 'PUMP-01', 'operator_remarks', '--reason', 'asked');
  expect((await run('audit', 'verify')).code).toBe(0);
  expect((await run('why', 'PUMP-01')).out).toContain('skipped, reason (erased)');
});

test('the story of a workflow tells a value that was lost from one that was erased', async () => {
  const why = async () => (await inProcess(['why', workflow, '--data', folder])).out;
  expect(await why()).toContain('operator_remarks: (kept apart), recorded');
  sql('CREATE TABLE kept AS SELECT * FROM vault; DELETE FROM vault');
  const lost = await why();
  expect(lost).toContain('operator_remarks: (missing), recorded');
  expect(lost.replace(/\s+/g, ' ')).toContain('BROKEN: event 7 has lost its sensitive value');
  sql(`INSERT INTO vault SELECT tenant, workflow, seq, '{' FROM kept`);
  expect((await why()).replace(/\s+/g, ' ')).toContain('BROKEN: event 7 has a sensitive value');
});
