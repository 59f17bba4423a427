import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSeveringProxy, type SeveringProxy } from '../../lib/cli/demo/severing-proxy.ts';
import { usePlant } from '../support/plant.ts';
import { openRequest, type OpenRequest } from '../support/raw-http.ts';
import { lockDataFile } from '../support/trail.ts';
import { answerOf, rpc, rpcRequest, tool } from '../support/wire.ts';

const plant = usePlant({
  CHECKPOINT_LOCK_TIMEOUT_MS: '20000',
  CHECKPOINT_COMMAND_TIMEOUT_MS: '25000',
});
let proxy: SeveringProxy;

beforeAll(async () => {
  proxy = await startSeveringProxy();
  proxy.target(Number(new URL(plant.ana.url).port));
});

afterAll(() => proxy.close());

const vibration = (workflow_id: string, idempotency_key: string) => ({
  workflow_id,
  step: 'vibration',
  reading: 2.2,
  idempotency_key,
});

/** Begins a call whose answer nobody waits for yet. */
function begin(args: object, id: unknown): OpenRequest {
  const { headers, body } = rpcRequest(
    'handshake',
    'tools/call',
    { name: 'record_step', arguments: args },
    id,
  );
  const length = String(Buffer.byteLength(body));
  const open = openRequest(plant.ana.url, {
    headers: {
      ...headers,
      authorization: `Bearer ${plant.ana.token}`,
      'content-length': length,
    },
  });
  open.end(body);
  return open;
}

const twoEvents = ['workflow_started', 'step_recorded'];

describe('a call whose answer was lost', () => {
  test('is answered with its first receipt when it is sent again with another request id', async () => {
    const args = vibration(await plant.started(), 'cut');
    proxy.severNextAnswer(() => undefined);
    const through = { ...plant.ana, url: proxy.url };
    await expect(tool(through, 'record_step', args, 5)).rejects.toThrow('socket hang up');
    const again = await rpc(
      through,
      'tools/call',
      { name: 'record_step', arguments: args },
      { id: 6 },
    );
    expect(again.body['id']).toBe(6);
    expect(answerOf(again).fields).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { seq: 2 },
    });
    expect(plant.typesOf(args.workflow_id)).toEqual(twoEvents);
  });

  test('has one effect when the client gave up waiting and sent it again', async () => {
    const args = vibration(await plant.started(), 'impatient');
    const lock = lockDataFile(plant.folder);
    const first = begin(args, 1);
    // A read is answered while writes wait, so the first call is with the server by then.
    await rpc(plant.ana, 'ping');
    first.abort();
    const second = begin(args, 'again');
    await rpc(plant.ana, 'ping');
    expect(plant.typesOf(args.workflow_id)).toEqual(['workflow_started']);
    lock.release();
    const reply = await second.reply;
    expect(reply.body['id']).toBe('again');
    expect(answerOf(reply).fields).toMatchObject({ code: 'OK', receipt: { seq: 2, value: 2.2 } });
    expect(plant.typesOf(args.workflow_id)).toEqual(twoEvents);
  });
});

describe('two calls in flight with one key', () => {
  test('have one effect when the first is held up just before its commit', async () => {
    const args = vibration(await plant.started(), 'held up');
    const lock = lockDataFile(plant.folder);
    const calls = [begin(args, 1)];
    await rpc(plant.ana, 'ping');
    calls.push(begin(args, 2), begin(args, 3));
    await rpc(plant.ana, 'ping');
    expect(plant.typesOf(args.workflow_id)).toEqual(['workflow_started']);
    lock.release();
    const replies = await Promise.all(calls.map(({ reply }) => reply));
    expect(replies.map(({ body }) => body['id'])).toEqual([1, 2, 3]);
    const fields = replies.map((reply) => answerOf(reply).fields);
    expect(fields.map(({ code }) => code)).toEqual(['OK', 'OK', 'OK']);
    expect(fields.filter(({ duplicate }) => duplicate === false)).toHaveLength(1);
    expect(fields.filter(({ duplicate }) => duplicate === true)).toHaveLength(2);
    for (const { receipt } of fields) expect(receipt).toEqual(fields[0]?.['receipt']);
    expect(plant.typesOf(args.workflow_id)).toEqual(twoEvents);
  });

  test('have one effect when the body of the first comes slowly', async () => {
    const args = vibration(await plant.started(), 'slow');
    const { headers, body } = rpcRequest('handshake', 'tools/call', {
      name: 'record_step',
      arguments: args,
    });
    const slow = openRequest(plant.ana.url, {
      headers: {
        ...headers,
        authorization: `Bearer ${plant.ana.token}`,
        'transfer-encoding': 'chunked',
      },
    });
    await slow.write(body.slice(0, 40));
    const quick = await tool(plant.ana, 'record_step', args);
    slow.end(body.slice(40));
    expect(quick.fields).toMatchObject({ code: 'OK', duplicate: false });
    const { fields } = answerOf(await slow.reply);
    expect(fields).toMatchObject({ code: 'OK', duplicate: true, receipt: quick.fields['receipt'] });
    expect(plant.typesOf(args.workflow_id)).toEqual(twoEvents);
  });
});
