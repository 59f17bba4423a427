import type { ServerResponse } from 'node:http';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { getParameter } from '../../../lib/adapters/deployment/get-parameter.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

const client = new SecretsManagerClient({
  region: 'cn-north-1',
  credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' },
});

let receiver: Receiver | undefined;
let answers: ((response: ServerResponse) => void)[] = [];
const realEnvironment = process.env;
beforeEach(async () => {
  receiver = await startReceiver((response) => {
    const next = answers.shift();
    if (next === undefined) response.destroy();
    else next(response);
  });
  process.env = { ...realEnvironment, AWS_ENDPOINT_URL_SSM: receiver.url };
});
afterEach(async () => {
  process.env = realEnvironment;
  jest.restoreAllMocks();
  answers = [];
  await receiver?.close();
});

const read = (attemptMs = 5_000): Promise<string | undefined> =>
  getParameter(client.config, '/checkpoint/url', {
    signal: AbortSignal.timeout(20_000),
    attemptMs,
  });
const answer =
  (status: number, body: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(status).end(JSON.stringify(body));
const VALUE = answer(200, { Parameter: { Value: 'https://a.example/mcp' } });

test('a parameter is asked for by its name, in a request that is signed for the region', async () => {
  answers = [VALUE];
  expect(await read()).toBe('https://a.example/mcp');
  const [request] = receiver?.received ?? [];
  expect(JSON.parse(String(request?.body))).toEqual({ Name: '/checkpoint/url' });
  expect(request?.headers).toMatchObject({
    'x-amz-target': 'AmazonSSM.GetParameter',
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-security-token': 'session',
  });
  expect(request?.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/cn-north-1\/ssm\/aws4_request, SignedHeaders=content-type;host;[^,]*x-amz-target, Signature=[0-9a-f]{64}$/,
  );
});

test('without an endpoint of its own the request goes where the partition of the region is', async () => {
  delete process.env['AWS_ENDPOINT_URL_SSM'];
  const sent = jest
    .spyOn(globalThis, 'fetch')
    .mockResolvedValue(Response.json({ Parameter: { Value: 'x' } }));
  await read();
  const [to] = sent.mock.calls[0] ?? [];
  expect(to).toEqual(new URL('https://ssm.cn-north-1.amazonaws.com.cn/'));
});

test.each([
  ['an answer of a server at fault', answer(503, {})],
  ['a refusal for too many requests', answer(400, { __type: 'ThrottlingException' })],
  ['a connection that is cut', (response: ServerResponse) => void response.destroy()],
  ['an answer that does not come', () => undefined],
])('after %s it is asked once more', async (_, fault) => {
  answers = [fault, VALUE];
  expect(await read(1_000)).toBe('https://a.example/mcp');
  expect(receiver?.received).toHaveLength(2);
});

test('a refusal is thrown under its own name, and not asked again', async () => {
  answers = [answer(400, { __type: 'com.amazonaws.ssm#ParameterNotFound', message: 'secret' })];
  await expect(read()).rejects.toMatchObject({ name: 'ParameterNotFound', message: 'a refusal' });
  expect(receiver?.received).toHaveLength(1);
});

test('two failures are told as the second one', async () => {
  answers = [answer(500, {}), answer(500, { __type: 'InternalServerError' })];
  await expect(read()).rejects.toMatchObject({ name: 'InternalServerError' });
});

test('a server that is not there is told by the code of the connection', async () => {
  await receiver?.close();
  receiver = undefined;
  await expect(read()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
