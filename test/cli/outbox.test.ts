import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { displayLines } from '../../lib/core/display.ts';
import { inProcess } from '../support/command-line.ts';
import { dataFolder, serve, tokenFor } from '../support/e2e.ts';
import { openStore } from '../support/open-sqlite.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { talked } from '../support/talked.ts';

const secret = `whsec_${Buffer.from('a secret for the desk of the tests').toString('base64')}`;
let folder: string;
let refusing: Receiver;
let accepts = false;

const webhooks = ({ url }: Receiver): string =>
  JSON.stringify([{ name: 'desk', url, secrets: [secret] }]);
const run = (...args: string[]) => inProcess(['outbox', ...args, '--data', folder]);

/** Waits until `holds` does, for a minute at most. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 600 && !(await holds()); n++) await sleep(100);
}

beforeAll(async () => {
  folder = await dataFolder();
  refusing = await startReceiver((response) => response.writeHead(accepts ? 204 : 422).end());
});

afterAll(() => refusing.close());

describe('a notification that its receiver refuses', () => {
  test('leaves at once to the log, is parked for the webhook, and is shown with its reason', async () => {
    const server = await serve(folder, { CHECKPOINT_WEBHOOKS: webhooks(refusing) });
    const token = await tokenFor(folder, 'ben', 'procedures:run');
    const to = ['--url', server.url, '--token', token];
    await talked(folder, 'ben', ['start pump-inspection PUMP-08', 'no', 'yes'], to);
    await until(async () => (await run('list', '--parked')).out.includes('HTTP 422'));
    await server.stop();
    const { code, out } = await run('list', '--parked');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^tenant local\n {2}notify:desk {2}block {2}parked for \d+ s {2}1 attempt {2}HTTP 422 {2}[0-9a-f]{32}\n$/,
    );
    expect(await run('list')).toMatchObject({ code: 0, out: 'Nothing waits.\n' });
    const id = idIn(out);
    const shown = await run('show', id);
    expect(shown.out).toContain('last error  HTTP 422\n');
    expect(shown.out).toContain('"audiences": [\n    "supervisor"\n  ]');
    const [row = ''] = (await run('list', '--parked', '--json')).out.split('\n');
    expect(JSON.parse(row)).toMatchObject({ id, attempts: 1, error: 'HTTP 422' });
    const status = await inProcess(['status', '--data', folder]);
    expect(status.out).toContain('  parked, oldest first: see checkpoint outbox list --parked\n');
  }, 90_000);

  test('is sent again by one command, with the same id', async () => {
    const id = idIn((await run('list', '--parked')).out);
    accepts = true;
    const server = await serve(folder, { CHECKPOINT_WEBHOOKS: webhooks(refusing) });
    const sent = await run('redrive', id);
    expect(sent).toMatchObject({
      code: 0,
      out: '1 row will be sent again; a running server does so within seconds.\n',
    });
    await until(async () => (await run('list')).out === 'Nothing waits.\n');
    await server.stop();
    const keys = refusing.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([id, id]);
    expect(await run('redrive', '--all')).toMatchObject({ code: 0, out: 'No row is parked.\n' });
  }, 90_000);
});

test('a payload with hostile texts is whole JSON that moves no cursor', async () => {
  const other = await dataFolder();
  await talked(other, 'ana', ['mine']);
  const about = 'a\u001b[2J\u202E\u200B\u{E0100}b';
  const row = { format: 1, tenant: 'local', workflow: 'w', lane: 'notify:log', seq: 1 };
  const rest = {
    id: 'f'.repeat(32),
    payload: { kind: 'block', about },
    rev: 0,
    attempts: 0,
    due_at: 1,
  };
  const key = {
    kind: 'outbox',
    tenant: 'local',
    workflow: 'w',
    lane: 'notify:log',
    seq: 1,
  } as const;
  const store = await openStore({ path: join(other, 'checkpoint.sqlite') });
  const writes = [{ op: 'create', key, item: { ...row, ...rest } }] as const;
  expect(await store.commit({ writes }, Date.now() + 9_000)).toEqual({ ok: true });
  await store.close();
  for (const args of [
    ['list', '--json', '--tenant', 'local'],
    ['show', rest.id, '--tenant', 'local'],
  ]) {
    const { code, out } = await inProcess(['outbox', ...args, '--data', other]);
    expect(code).toBe(0);
    expect(displayLines(out)).toBe(out);
    const json = args[0] === 'list' ? out : out.slice(out.indexOf('{'));
    expect(JSON.stringify(JSON.parse(json))).toContain(JSON.stringify(about));
  }
});

test.each([
  [['redrive'], 'Name one row by its id, or all parked rows with --all.'],
  [['redrive', 'x', '--all'], 'Name one row by its id, or all parked rows with --all.'],
  [
    ['redrive', 'x'],
    'No row x is parked: npm run -s checkpoint -- outbox list --parked shows which are.',
  ],
  [['show', 'x'], 'No row x waits: it has left, or it was never there.'],
])('checkpoint outbox %j is answered with a sentence', async (args, problem) => {
  expect(await run(...args)).toEqual({ code: 1, out: '', err: `${problem}\n` });
});

function idIn(out: string): string {
  const [id] = /[0-9a-f]{32}/.exec(out) ?? [];
  if (id === undefined) throw new Error(`no id in ${out}`);
  return id;
}
