/** The bundled function in a fresh process, behind a Function URL and over a real table: what a client sees. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDeploymentIssuer } from '../../lib/adapters/identity/deployment-issuer.ts';
import { ASSISTANTS, type Assistant } from '../support/assistants.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { inspect, INSPECTION } from '../support/inspection.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy, type Deployed } from '../support/lambda/deployed.ts';
import { startFunction, type FunctionProcess } from '../support/lambda/function-process.ts';
import { PLATFORM_BYTES_MOST } from '../support/lambda/function-url.ts';
import { rawRequest, type Reply } from '../support/raw-http.ts';

const UNAUTHORIZED = '{"error":"unauthorized","message":"Access token required to use this tool."}';
const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/list' };

let file = '';
let deployed: Deployed;
const tokens: Record<string, string> = {};

/** A message as a client sends it, with what a test changes about it. */
const post = (
  body: string | Uint8Array,
  headers: { readonly [name: string]: string | readonly string[] | undefined } = {},
  to: Deployed = deployed,
) =>
  rawRequest(to.url, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${tokens['Ana']}`,
      ...headers,
    },
    body,
  });

const call = (name: string, args: object, id: number | string = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });

/** A message of Ana's as the event of it. */
const eventOf = (body: string) => {
  const [one] = deployed.front.events.filter(({ rawPath }) => rawPath === '/mcp').slice(-1);
  const authorization = `Bearer ${tokens['Ana']}`;
  const headers = { ...one?.headers, 'content-type': 'application/json', authorization };
  return { ...one, headers, body, isBase64Encoded: false };
};

describeOnDynamo('the bundled function', () => {
  beforeAll(async () => {
    ({ file } = await buildBundle('lambdas/http.ts'));
    deployed = await deploy(file);
    for (const name of ['Ana', 'Ben']) {
      const subject = name.toLowerCase();
      tokens[name] = await deployed.token({ subject, name, scopes: ['procedures:run'] });
    }
    const supervise = ['procedures:supervise'] as const;
    tokens['Cara'] = await deployed.token({ subject: 'cara', name: 'Cara', scopes: supervise });
  }, 120_000);
  afterAll(() => deployed.close());

  describe('serves an assistant', () => {
    test.each(ASSISTANTS)(
      '%s plays %s and completes an inspection with three people',
      async (_client, version, asset, connect) => {
        const crew: Assistant[] = [];
        const seen: string[] = [];
        for (const name of ['Ana', 'Ben', 'Cara']) {
          const token = tokens[name] ?? '';
          const one = await connect({ url: deployed.url, token, seen: (text) => seen.push(text) });
          await one.tools();
          crew.push(one);
        }
        const [ana, ben, cara] = crew;
        if (ana === undefined || ben === undefined || cara === undefined) throw new Error('alone');
        expect(crew.map((one) => one.version)).toEqual([version, version, version]);
        const calls = { operator: ana.call, second: ben.call, supervisor: cara.call };
        expect(await inspect(calls, asset)).toEqual(INSPECTION);
        expect(seen.filter((text) => text.includes('event-stream'))).toEqual([]);
        for (const one of crew) await one.close();
      },
      60_000,
    );
  });

  describe('takes every form of an event', () => {
    test('a body that the platform takes for binary is decoded once, as UTF-8', async () => {
      const body = call('start_workflow', { procedure: 'pump-inspection', asset: 'Ä 😀' });
      const asText = await post(body);
      const asBytes = await post(body, { 'content-type': 'application/json;v="x"' });
      const again = await post(body, { 'content-type': 'APPLICATION/JSON; charset=utf-8' });
      const last = deployed.front.events.at(-1);
      expect([asText.status, asBytes.status, again.status]).toEqual([200, 200, 200]);
      expect(last?.headers?.['content-type']).toBe('APPLICATION/JSON; charset=utf-8');
      // An event of the same content with a body in base64 gives the same answer.
      const event = { ...last, body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
      const result = await deployed.lambda.invoke(event);
      const said = (text: string): unknown =>
        (JSON.parse(text) as { result: { content: unknown } }).result.content;
      expect(result.isBase64Encoded).toBe(false);
      expect(said(result.body)).toEqual(said(asText.text));
    });

    test('a notification is answered 202 with nothing', async () => {
      const { status, text } = await post(
        JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      );
      expect([status, text]).toEqual([202, '']);
    });

    test('header names in any case are one header, and two tokens are refused', async () => {
      const body = JSON.stringify(LIST);
      const bearer = `Bearer ${tokens['Ana']}`;
      for (const name of ['Authorization', 'AUTHORIZATION', 'authorization']) {
        const reply = await post(body, { authorization: undefined, [name]: bearer });
        expect([name, reply.status]).toEqual([name, 200]);
      }
      const twice = await post(body, { authorization: [bearer, bearer] });
      expect([twice.status, twice.text]).toEqual([401, UNAUTHORIZED]);
      const [event] = deployed.front.events.slice(-1);
      const both = { ...event?.headers, authorization: bearer, Authorization: bearer };
      const result = await deployed.lambda.invoke({ ...event, headers: both });
      expect(result.statusCode).toBe(401);
    });

    test('no body, a GET with a body, and a query are answered as over a socket', async () => {
      const empty = await post('');
      expect([empty.status, empty.body['error']]).toEqual([
        400,
        expect.objectContaining({ code: -32_700 }),
      ]);
      const get = await rawRequest(deployed.url, {
        method: 'GET',
        headers: { authorization: `Bearer ${tokens['Ana']}`, 'content-type': 'text/plain' },
        body: 'x',
      });
      expect([get.status, get.headers['allow']]).toEqual([405, 'POST']);
      const health = await rawRequest(new URL('/health?probe=1', deployed.url).href, {
        method: 'GET',
      });
      expect([health.status, health.body['status']]).toEqual([200, 'ok']);
    });

    test('a body beyond our limit is 413 in our words, one beyond the platform’s in its own', async () => {
      const ours = await post(`"${'x'.repeat(262_144)}"`);
      expect([ours.status, ours.body['jsonrpc']]).toEqual([413, '2.0']);
      const theirs = await post('x'.repeat(PLATFORM_BYTES_MOST + 1));
      expect([theirs.status, theirs.body['Message']]).toEqual([
        413,
        'Request must be smaller than 6291456 bytes',
      ]);
    });

    test('whatever is no request over HTTP is answered, and the next one is served', async () => {
      for (const event of [{}, null, { Records: [] }, { rawPath: '/mcp' }, 'text']) {
        const { statusCode, body } = await deployed.lambda.invoke(event);
        expect([statusCode, JSON.parse(body)]).toEqual([
          400,
          expect.objectContaining({ code: 'BAD_REQUEST' }),
        ]);
      }
      expect((await post(JSON.stringify(LIST))).status).toBe(200);
    });
  });

  describe('listens only for a moment', () => {
    test('subscriptions/listen is acknowledged and ends within its call', async () => {
      const params = {
        notifications: { toolsListChanged: true },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      };
      const method = 'subscriptions/listen';
      const reply = await post(JSON.stringify({ jsonrpc: '2.0', id: 5, method, params }), {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
      });
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(reply.text).toContain('notifications/subscriptions/acknowledged');
      expect(reply.text.trimEnd()).toMatch(/"id":5,"result":\{[^\n]*\}$/);
    });
  });

  describe('says who may not call', () => {
    test('a 401 has no challenge under either name, and discovery is public', async () => {
      const { status, text, headers } = await post(JSON.stringify(LIST), {
        authorization: undefined,
      });
      expect([status, text]).toEqual([401, UNAUTHORIZED]);
      expect(headers['www-authenticate']).toBeUndefined();
      expect(headers['x-amzn-remapped-www-authenticate']).toBeUndefined();
      for (const path of ['', '/mcp']) {
        const at = new URL(`/.well-known/oauth-protected-resource${path}`, deployed.url).href;
        const reply = await rawRequest(at, { method: 'GET' });
        expect([reply.status, reply.body['resource']]).toEqual([200, deployed.url]);
      }
    });

    test('the standard profile’s challenge arrives renamed, so a client finds the document by its path', async () => {
      const standard = await startFunction(file, {
        ...deployed.env,
        CHECKPOINT_AUTH_PROFILE: 'standard',
      });
      try {
        deployed.front.connect((event) => standard.invoke(event));
        const { status, headers } = await post(JSON.stringify(LIST), { authorization: undefined });
        const metadata = new URL('/.well-known/oauth-protected-resource/mcp', deployed.url).href;
        expect(status).toBe(401);
        expect(headers['www-authenticate']).toBeUndefined();
        expect(headers['x-amzn-remapped-www-authenticate']).toBe(
          `Bearer resource_metadata="${metadata}", scope="procedures:run"`,
        );
      } finally {
        deployed.front.connect((event) => deployed.lambda.invoke(event));
        await standard.stop();
      }
    });

    test('a token of another deployment is refused', async () => {
      const other = await openDeploymentIssuer('c'.repeat(64), { now: () => Date.now() });
      const token = await other.sign({ subject: 'ana', scopes: ['procedures:run'] });
      const { status } = await post(JSON.stringify(LIST), { authorization: `Bearer ${token}` });
      expect(status).toBe(401);
    });
  });

  describe('recognises a fault whichever copy of its module made it', () => {
    test.each(['ThrottlingException', 'InternalServerError', 'ResourceNotFoundException'])(
      '%s of the table is BACKEND_UNAVAILABLE, is counted, and the next call is served',
      async (failing) => {
        const start = { procedure: 'pump-inspection', asset: 'PUMP-60' };
        deployed.table.failing = failing;
        let reply: Reply;
        try {
          reply = await post(call('start_workflow', start));
        } finally {
          deployed.table.failing = undefined;
        }
        const { structuredContent } = reply.body['result'] as { structuredContent: object };
        expect(structuredContent).toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: true });
        expect(deployed.lambda.lines().findLast((line) => '_aws' in line)).toMatchObject({
          Faults: 1,
        });
        expect((await post(JSON.stringify(LIST))).status).toBe(200);
      },
      30_000,
    );

    test('conditions that do not hold are read from the table’s answer', async () => {
      const start = { procedure: 'pump-inspection', asset: 'PUMP-61' };
      const codes: unknown[] = [];
      for (const [name, key] of [
        ['Ana', 'k'],
        ['Ana', 'k'],
        ['Ben', 'l'],
      ] as const) {
        const reply = await post(call('start_workflow', { ...start, idempotency_key: key }), {
          authorization: `Bearer ${tokens[name]}`,
        });
        const { structuredContent: fields } = reply.body['result'] as {
          structuredContent: { readonly [name: string]: unknown };
        };
        codes.push([fields['code'], fields['duplicate']]);
      }
      expect(codes).toEqual([
        ['OK', false],
        ['OK', true],
        ['ASSET_BUSY', undefined],
      ]);
    });
  });

  describe('writes nothing after its deadline', () => {
    /** A start whose first read is held back for longer than the call has. */
    const heldStart = async (asset: string, whileHeld: () => Promise<void>) => {
      const lambda = await startFunction(file, deployed.env);
      try {
        // The person has been here before, so that nothing but the command is to be written.
        await lambda.invoke(eventOf(call('list_my_workflows', {})));
        const holding = deployed.table.hold('TransactGetItems');
        const answered = lambda.invoke(
          eventOf(call('start_workflow', { procedure: 'pump-inspection', asset })),
          2_000,
        );
        const letGo = await holding;
        const before = deployed.table.calls.length;
        lambda.signal('SIGSTOP');
        await whileHeld();
        letGo();
        lambda.signal('SIGCONT');
        const { statusCode, body } = await answered;
        // Whatever goes on in the process has gone on by the time it has served another call.
        await lambda.invoke(eventOf(JSON.stringify(LIST)));
        await setTimeout(300);
        return { statusCode, body, sent: deployed.table.calls.slice(before) };
      } finally {
        await lambda.stop();
      }
    };

    test('a container that was frozen between reading and writing writes nothing when it thaws', async () => {
      const { statusCode, body, sent } = await heldStart('PUMP-70', () => setTimeout(2_500));
      expect([statusCode, body]).toEqual([
        expect.any(Number),
        expect.stringContaining('BACKEND_UNAVAILABLE'),
      ]);
      // A read that was cut off may be sent again; nothing that writes is.
      expect(sent.filter(({ operation }) => !/Get|Query/.test(operation))).toEqual([]);
    }, 60_000);

    test('the same start is committed where the container is thawed in time', async () => {
      const { statusCode, sent } = await heldStart('PUMP-71', () => setTimeout(50));
      expect(statusCode).toBe(200);
      expect(sent.map(({ operation }) => operation)).toContain('TransactWriteItems');
    }, 60_000);
  });

  describe('starts again', () => {
    async function starting(failing: string): Promise<FunctionProcess> {
      deployed.aws.failing = failing;
      return startFunction(file, deployed.env);
    }

    test('a process whose secrets could not be read answers 503 in our words, then serves', async () => {
      const lambda = await starting('AccessDeniedException');
      try {
        const first = await lambda.invoke(eventOf(JSON.stringify(LIST)));
        expect([first.statusCode, first.headers['retry-after']]).toEqual([503, '1']);
        expect(JSON.parse(first.body)).toEqual({
          jsonrpc: '2.0',
          id: 7,
          error: {
            code: -32_000,
            message: 'this cannot be served now',
            data: { code: 'BACKEND_UNAVAILABLE', retryable: true },
          },
        });
        const health = await lambda.invoke({ ...eventOf(''), rawPath: '/health' });
        expect(JSON.parse(health.body)).toMatchObject({ status: 503, code: 'BACKEND_UNAVAILABLE' });
        expect(lambda.output()).toContain('cannot be read: AccessDeniedException');
        deployed.aws.failing = undefined;
        expect((await lambda.invoke(eventOf(JSON.stringify(LIST)))).statusCode).toBe(200);
      } finally {
        deployed.aws.failing = undefined;
        await lambda.stop();
      }
    }, 60_000);

    test('stores that do not answer cost their time once, and the call ends within its own', async () => {
      const lambda = await starting('hang');
      try {
        const late = await lambda.invoke(eventOf(JSON.stringify(LIST)), 1_200);
        expect([late.statusCode, JSON.parse(late.body)]).toEqual([
          504,
          expect.objectContaining({ id: 7 }),
        ]);
        deployed.aws.failing = undefined;
        const statuses: number[] = [];
        while (statuses.at(-1) !== 200 && statuses.length < 10) {
          statuses.push((await lambda.invoke(eventOf(JSON.stringify(LIST)))).statusCode);
        }
        expect(statuses.at(-1)).toBe(200);
      } finally {
        deployed.aws.failing = undefined;
        await lambda.stop();
      }
    }, 60_000);

    test('a setting that cannot be used is named in the log and in no answer', async () => {
      const lambda = await startFunction(file, {
        ...deployed.env,
        CHECKPOINT_RATE_PER_MINUTE: 'x',
      });
      try {
        const { statusCode, body } = await lambda.invoke(eventOf(JSON.stringify(LIST)));
        expect(statusCode).toBe(503);
        expect(body).not.toContain('CHECKPOINT');
        expect(lambda.output()).toContain(
          'CHECKPOINT_RATE_PER_MINUTE: expected a whole number from 60 to 600000',
        );
      } finally {
        await lambda.stop();
      }
    }, 60_000);
  });

  describe('tells of itself', () => {
    test('every answer has one log line with its request id, and no line holds a token', async () => {
      const reply = await post(JSON.stringify(LIST));
      const id = reply.headers['x-request-id'];
      const lines = deployed.lambda.lines().filter((line) => line['request_id'] === id);
      expect(lines).toEqual([
        expect.objectContaining({
          level: 'INFO',
          message: 'request',
          service: 'checkpoint-test-http',
          method: 'POST',
          path: '/mcp',
          status: 200,
          function_request_id: expect.stringMatching(/^request-\d+$/),
        }),
      ]);
      const output = deployed.lambda.output();
      for (const token of Object.values(tokens)) expect(output).not.toContain(token.slice(-40));
    });

    test('tools, duplicates, conflicts and busy assets are counted under their names', async () => {
      const asset = 'PUMP-77';
      const start = { procedure: 'pump-inspection', asset, idempotency_key: 'one' };
      await post(call('start_workflow', start));
      await post(call('start_workflow', start));
      await post(call('start_workflow', { ...start, asset: 'PUMP-78' }));
      await post(call('start_workflow', { ...start, idempotency_key: 'b' }), {
        authorization: `Bearer ${tokens['Ben']}`,
      });
      const counted = deployed.lambda.lines().filter((line) => '_aws' in line);
      const now = counted.slice(-8);
      const times = (name: string): number => now.filter((line) => line[name] === 1).length;
      expect(['Duplicates', 'IdempotencyConflicts', 'AssetBusy'].map(times)).toEqual([1, 1, 1]);
      expect(counted).toContainEqual(
        expect.objectContaining({
          tool: 'start_workflow',
          service: 'checkpoint-test-http',
          ToolLatency: expect.any(Number),
        }),
      );
    });

    test('the first call of a process is counted as a cold start', () => {
      const cold = deployed.lambda.lines().filter((line) => line['ColdStart'] === 1);
      expect(cold).toHaveLength(1);
    });
  });
});
