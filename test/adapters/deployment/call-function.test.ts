import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { functionCaller } from '../../../lib/adapters/deployment/call-function.ts';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

type Answer = (response: ServerResponse) => void;

let receiver: Receiver;
let other: Receiver;
let answer: Answer;
const realEnvironment = process.env;
beforeEach(async () => {
  receiver = await startReceiver((response) => {
    answer(response);
  });
  other = await startReceiver((response) => void response.writeHead(200).end('{}'));
  process.env = {
    ...realEnvironment,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session',
    AWS_ENDPOINT_URL_LAMBDA: receiver.url,
  };
});
afterEach(async () => {
  process.env = realEnvironment;
  await receiver.close();
  await other.close();
});

const call = (forMs = 20_000): Promise<unknown> =>
  functionCaller(systemClock)('work', { task: 'tools' }, Date.now() + forMs);
const sends =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

test('the answer of the function is what it returned, and it is called once', async () => {
  answer = sends(200, '{"tools":[]}');
  expect(await call()).toEqual({ tools: [] });
  expect(receiver.received).toHaveLength(1);
  const [request] = receiver.received;
  expect(request?.url).toBe('/2015-03-31/functions/work/invocations');
  expect(JSON.parse(String(request?.body))).toEqual({ task: 'tools' });
});

test.each<[string, Answer]>([
  ['an error of the function', sends(200, '{}', { 'x-amz-function-error': 'Unhandled' })],
  ['an answer that is no JSON', sends(200, 'half of {')],
  ['an empty answer', sends(200, '')],
  ['too many requests', sends(429, '{}', { 'x-amzn-errortype': 'TooManyRequestsException' })],
  ['a fault of AWS', sends(503, '{}')],
  ['a refusal', sends(403, '{"message":"secret"}')],
  ['a connection that is cut', (response) => void response.destroy()],
])('%s is a retryable fault without a word of it', async (_, given) => {
  answer = given;
  const fault = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };
  await expect(call()).rejects.toMatchObject(fault);
  await expect(call()).rejects.toThrow('the function work gave no answer');
});

test('no answer in time is a retryable fault', async () => {
  answer = () => undefined;
  await expect(call(300)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
});

test('the session token follows no redirection', async () => {
  answer = (response) => void response.writeHead(307, { location: other.url }).end();
  await expect(call()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  expect(other.received).toEqual([]);
});
