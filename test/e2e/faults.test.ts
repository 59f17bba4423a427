import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { rawRequest } from '../support/raw-http.ts';
import { eventsIn, lockDataFile } from '../support/trail.ts';
import { tool, type Peer } from '../support/wire.ts';

let server: ServedChild;
let ana: Peer;
let pumps = 10;

beforeAll(async () => {
  const folder = await dataFolder();
  server = await serveInChild(folder, {
    CHECKPOINT_LOCK_TIMEOUT_MS: '100',
    CHECKPOINT_COMMAND_TIMEOUT_MS: '500',
    CHECKPOINT_LOG_LEVEL: 'fatal',
  });
  ana = { url: server.url, token: await tokenFor(folder, 'ana', 'procedures:run') };
});

afterEach(() => {
  expect(server.alive()).toBe(true);
});

async function started(): Promise<string> {
  const args = { procedure: 'pump-inspection', asset: `PUMP-${pumps++}` };
  return String((await tool(ana, 'start_workflow', args)).fields['workflow_id']);
}

const health = () => rawRequest(new URL('/health', server.url).href, { method: 'GET' });

const unavailable = {
  code: 'BACKEND_UNAVAILABLE',
  retryable: true,
  retry_after_ms: 1_000,
  request_id: expect.any(String),
};
const spoken =
  'I cannot reach the records right now. Please say it again in a moment; nothing is recorded twice.';

async function expectUnhealthy(): Promise<void> {
  const { status, headers, body } = await health();
  expect(status).toBe(503);
  expect(headers['retry-after']).toBe('5');
  expect(body).toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
}

/** Moves the data file and what is beside it away; answers how to bring them back. */
function moveAway(): () => void {
  const from = server.dataFolder;
  const to = join(from, 'away');
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from).filter((name) => name.startsWith('checkpoint.sqlite'));
  for (const name of names) renameSync(join(from, name), join(to, name));
  return () => {
    for (const name of names) renameSync(join(to, name), join(from, name));
  };
}

describe.each([
  ['locked by another process', (): (() => void) => lockDataFile(server.dataFolder).release],
  ['moved away', moveAway],
])('a data file that is %s', (_what, disturb) => {
  test('makes commands retryable failures without an effect, until it is back', async () => {
    const workflow_id = await started();
    const before = await tool(ana, 'get_workflow', { workflow_id });
    const args = { workflow_id, step: 'vibration', reading: 2.2, idempotency_key: _what };
    const bring = disturb();
    try {
      for (let n = 0; n < 2; n++) {
        const answer = await tool(ana, 'record_step', args);
        expect(answer).toEqual({ isError: true, text: spoken, fields: unavailable });
      }
      await expectUnhealthy();
    } finally {
      bring();
    }
    expect((await health()).status).toBe(200);
    const after = await tool(ana, 'get_workflow', { workflow_id });
    expect(after.fields['workflow']).toEqual(before.fields['workflow']);
    expect(eventsIn(server.dataFolder, workflow_id)).toHaveLength(1);

    const again = await tool(ana, 'record_step', args);
    expect(again.fields).toMatchObject({ code: 'OK', duplicate: false, receipt: { seq: 2 } });
    const repeated = await tool(ana, 'record_step', args);
    expect(repeated.fields).toMatchObject({ code: 'OK', duplicate: true, receipt: { seq: 2 } });
    expect(eventsIn(server.dataFolder, workflow_id)).toHaveLength(2);
  });

  test('makes a start a retryable failure that takes no asset', async () => {
    const asset = `PUMP-${pumps++}`;
    const args = { procedure: 'pump-inspection', asset, idempotency_key: asset };
    const bring = disturb();
    try {
      expect((await tool(ana, 'start_workflow', args)).fields).toEqual(unavailable);
    } finally {
      bring();
    }
    expect((await tool(ana, 'get_workflow', { asset })).fields['code']).toBe('NOT_FOUND');
    expect((await tool(ana, 'start_workflow', args)).fields).toMatchObject({
      code: 'OK',
      duplicate: false,
    });
  });
});

describe('reading', () => {
  test('goes on while another process holds the lock for writing', async () => {
    const workflow_id = await started();
    const lock = lockDataFile(server.dataFolder);
    try {
      const { fields } = await tool(ana, 'get_workflow', { workflow_id });
      expect(fields).toMatchObject({ code: 'OK', workflow_id });
    } finally {
      lock.release();
    }
  });

  test('is a retryable failure while the data file is away, and help is given all the same', async () => {
    const bring = moveAway();
    try {
      const answer = await tool(ana, 'list_my_workflows');
      expect(answer).toEqual({ isError: true, text: spoken, fields: unavailable });
      expect((await tool(ana, 'what_can_i_do')).fields['code']).toBe('OK');
    } finally {
      bring();
    }
    expect((await tool(ana, 'list_my_workflows')).fields['code']).toBe('OK');
  });
});
