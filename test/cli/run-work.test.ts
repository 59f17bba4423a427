// Decisions on what blocked work proposes, on the command line against a running server.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { pendingLines, workLines } from '../../lib/cli/run/lines.ts';
import { inProcess } from '../support/command-line.ts';
import { dataFolder, serve, tokenFor, type Served } from '../support/e2e.ts';
import { guardedProcedure } from '../support/guarded-procedure.ts';

jest.setTimeout(120_000);

let server: Served;
beforeAll(async () => {
  const folder = await dataFolder();
  const policies = await dataFolder();
  writeFileSync(join(policies, 'guarded.json'), JSON.stringify(guardedProcedure));
  server = await serve(folder, { CHECKPOINT_POLICIES: policies });
});

const cli = (...args: readonly string[]) =>
  inProcess(['run', ...args, '--data', server.dataFolder, '--url', server.url]);

/** Work that a pressure of 42 bar blocks. */
const blocked = async (asset: string): Promise<string> => {
  const token = await tokenFor(server.dataFolder, 'ana', 'procedures:run');
  const post = async (path: string, body: object) => {
    const response = await fetch(new URL(`/v1${path}`, server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { [name: string]: unknown };
  };
  const started = await post('/workflows', { procedure: 'guarded', asset });
  const { workflow_id: id } = started['workflow'] as { readonly workflow_id: string };
  const reading = { step: 'pressure', reading: 42 };
  const { confirmation_token } = await post(`/workflows/${id}/steps`, reading);
  await post(`/workflows/${id}/steps`, { ...reading, confirmation_token });
  return id;
};

test('what waits is listed with its exact action, then approved or denied by its digest', async () => {
  expect((await cli('pending', '--as', 'cara')).out).toBe('Nothing waits for a decision.\n');
  const one = await blocked('VESSEL-1');
  const two = await blocked('VESSEL-2');
  const { out, code } = await cli('pending', '--as', 'cara');
  expect(code).toBe(0);
  expect(out).toContain(`workflow ${one}: VESSEL-1\n  blocked: Pressure is beyond the upper limit`);
  expect(out).toMatch(/^ {2}\/type\s+procedure\.continue$/m);
  expect(out).toMatch(/^ {2}\/arguments\/value\s+42$/m);
  const [first = '', second = ''] = [...out.matchAll(/action_hash ([0-9a-f]{64})/g)].map(
    ([, hash]) => hash,
  );
  const own = await cli('approve', one, '--hash', first, '--as', 'ana');
  expect(own.err).toContain('does not decide on it (FORBIDDEN)');
  const approved = await cli('approve', one, '--hash', first, '--as', 'cara');
  expect([approved.code, approved.err]).toEqual([0, '']);
  expect(approved.out).toMatch(/^status\s+running$/m);
  const late = await cli('deny', one, '--hash', first, '--as', 'dan');
  expect(late.err).toMatch(/it was approved before \(ALREADY_DECIDED\) by cara at .*, for /);
  const denied = await cli('deny', two, '--hash', second, '--as', 'cara');
  expect(denied.out).toMatch(/^denied\s+by cara \(dev:cara\) at/m);
  const why = await inProcess(['why', one, '--data', server.dataFolder]);
  expect(why.out).toContain('proposes to go on:');
  expect(why.out.replaceAll(/\s+/g, ' ')).toContain('what block 2 proposed was approved');
});

test('what others wrote is shown by the one display function', () => {
  const lines = [
    ...pendingLines({
      kind: 'workflow',
      workflow_id: 'w',
      about: 'a\u202Eb',
      reason: 'x\u001b[2K',
    }),
    ...workLines({ workflow_id: 'w', asset: 'a\u200Bb', block: { message: 'line\nline' } }),
  ];
  const text = lines.join('\n');
  for (const shown of ['a\\u{202E}b', 'x\\u{001B}[2K', 'a\\u{200B}b', 'line\\nline']) {
    expect(text).toContain(shown);
  }
});
