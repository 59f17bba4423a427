import { createHash } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder, serve, tokenFor } from '../support/e2e.ts';
import { changeEvent, deleteEvents, onDataFile } from '../support/trail.ts';
import { tool } from '../support/wire.ts';

let original: string;
/** Four events of Ana's, and the two of another tenant. */
let workflow: string;
let other: string;

beforeAll(async () => {
  original = await dataFolder();
  const server = await serve(original);
  const { url } = server;
  const ana = { url, token: await tokenFor(original, 'ana', 'procedures:run') };
  const eve = { url, token: await tokenFor(original, 'eve', 'procedures:run', '--tenant', 'two') };
  const start = { procedure: 'pump-inspection', asset: 'PUMP-07' };
  workflow = String((await tool(ana, 'start_workflow', start)).fields['workflow_id']);
  other = String((await tool(eve, 'start_workflow', start)).fields['workflow_id']);
  const guards = { step: 'guards_check', confirmed: true };
  await tool(ana, 'record_step', { workflow_id: workflow, ...guards });
  await tool(eve, 'record_step', { workflow_id: other, ...guards });
  for (const [step, reading] of [
    ['suction_pressure', 2.1],
    ['vibration', 2.2],
  ]) {
    await tool(ana, 'record_step', { workflow_id: workflow, step, reading });
  }
  await server.stop();
});

/** A copy of the data that was changed behind the back of the product. */
async function tampered(change: (db: DatabaseSync) => void): Promise<string> {
  const folder = await dataFolder();
  cpSync(original, folder, { recursive: true });
  onDataFile(folder, change);
  return folder;
}

const verify = (folder: string, ...options: string[]) =>
  inProcess(['audit', 'verify', '--data', folder, ...options]);

describe('checkpoint audit verify', () => {
  test('ends with 0 where every trail verifies', async () => {
    expect(await runScript(ENTRY, ['audit', 'verify', '--data', original])).toEqual({
      code: 0,
      out: '2 trails, 6 events: every one verifies.\n',
      err: '',
    });
  });

  test.each([
    [
      'a text that was changed',
      'event 3 does not match its hash',
      (db: DatabaseSync) => {
        changeEvent(db, workflow, 3, ({ text }) => ({ text: text.replace('2.1', '2.7') }));
      },
    ],
    [
      'a text that was changed together with its hash',
      'event 4 does not follow the event before it',
      (db: DatabaseSync) => {
        changeEvent(db, workflow, 3, ({ text }) => {
          const forged = text.replace('2.1', '2.7');
          return { text: forged, hash: createHash('sha256').update(forged).digest('hex') };
        });
      },
    ],
    [
      'an event that was deleted',
      'event 2 is missing',
      (db: DatabaseSync) => {
        deleteEvents(db, workflow, [2]);
      },
    ],
    [
      'a first event that was deleted',
      'event 1 is missing',
      (db: DatabaseSync) => {
        deleteEvents(db, workflow, [1]);
      },
    ],
    [
      'a tail that was cut off',
      'event 3 is missing',
      (db: DatabaseSync) => {
        deleteEvents(db, workflow, [3, 4]);
      },
    ],
    [
      'a head that was changed',
      'event 4 does not match the head',
      (db: DatabaseSync) => {
        db.prepare(`UPDATE workflows SET body = json_set(body, '$.head_hash', ?) WHERE id = ?`).run(
          '0'.repeat(64),
          workflow,
        );
      },
    ],
    [
      'a head that was set back',
      'event 4 lies beyond the head',
      (db: DatabaseSync) => {
        db.prepare(`UPDATE workflows SET body = json_set(body, '$.head_seq', 3) WHERE id = ?`).run(
          workflow,
        );
      },
    ],
    [
      'an event of another trail in its place',
      'event 2 does not follow the event before it',
      (db: DatabaseSync) => {
        db.prepare(
          'UPDATE events SET body = (SELECT body FROM events WHERE workflow = ? AND seq = 2) WHERE workflow = ? AND seq = 2',
        ).run(other, workflow);
      },
    ],
  ])('ends with 1 and names workflow and event of %s', async (_what, fault, change) => {
    const { code, out, err } = await verify(await tampered(change));
    expect([code, err]).toEqual([1, '']);
    expect(out.split('\n')[0]).toBe(`tenant local, workflow ${workflow}: ${fault}`);
    expect(out.split('\n')[1]).toMatch(/^2 trails, \d events: 1 broken\.$/);
  });

  test('looks at one tenant or one workflow only', async () => {
    const folder = await tampered((db) => {
      deleteEvents(db, workflow, [2]);
    });
    expect((await verify(folder)).code).toBe(1);
    expect((await verify(folder, '--tenant', 'two')).out).toBe(
      '1 trail, 2 events: every one verifies.\n',
    );
    expect((await verify(folder, '--workflow', other)).code).toBe(0);
    expect((await verify(folder, '--workflow', workflow)).code).toBe(1);
  });

  test.each([
    ['a workflow', ['--workflow', 'nobody'], 'There is no workflow nobody'],
    ['a tenant', ['--tenant', 'none'], 'There is no trail of tenant none'],
    [
      'a workflow of another tenant',
      ['--tenant', 'none', '--workflow', 'nobody'],
      'There is no workflow nobody of tenant none',
    ],
  ])('ends with 1 and one sentence for %s that is not there', async (_what, options, sentence) => {
    expect(await verify(original, ...options)).toEqual({
      code: 1,
      out: '',
      err: `${sentence} in ${join(original, 'checkpoint.sqlite')}.\n`,
    });
  });

  test('ends with 1 and one sentence for a folder that is not there, and does not make it', async () => {
    const folder = join(await dataFolder(), 'none');
    expect(await verify(folder)).toEqual({
      code: 1,
      out: '',
      err: `There is no data file ${join(folder, 'checkpoint.sqlite')}: check --data.\n`,
    });
    expect(existsSync(folder)).toBe(false);
  });

  test('verifies while a server is at work on the folder', async () => {
    const folder = await tampered(() => undefined);
    const { url } = await serve(folder);
    const ana = { url, token: await tokenFor(folder, 'ana', 'procedures:run') };
    const args = { workflow_id: workflow, step: 'seal_condition', choice: 'dry' };
    expect((await tool(ana, 'record_step', args)).fields['code']).toBe('OK');
    expect((await verify(folder)).out).toBe('2 trails, 7 events: every one verifies.\n');
  });
});
