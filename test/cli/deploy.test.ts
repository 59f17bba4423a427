import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { createDynamoClient } from '../../lib/adapters/dynamodb/client.ts';
import { createDynamoStore } from '../../lib/adapters/dynamodb/store.ts';
import { deploymentIssuerConfig } from '../../lib/adapters/identity/deployment-issuer.ts';
import { systemClock, systemRandom } from '../../lib/adapters/runtime/system.ts';
import { runSmoke } from '../../lib/cli/deploy/deploy.ts';
import { stageNamed } from '../../lib/infra/stages.ts';
import { isDevelopment } from '../../lib/settings/deployment-names.ts';
import { coreOn } from '../../lib/wiring/app.ts';
import { loadRegistry } from '../../lib/wiring/registry.ts';
import { ENTRY, runScript, type Ended } from '../support/command-line.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { startEngine, type Engine } from '../support/dynamodb/engine.ts';
import { createTestTable, type TestTable } from '../support/dynamodb/table.ts';
import { dataFolder, serve } from '../support/e2e.ts';
import { fakeAws, type FakeAws } from '../support/lambda/fake-aws.ts';
import { projectRoot } from '../support/project-files.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SCRIPT = join(projectRoot, 'bin/deployment.ts');
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';
const PATIENTLY_MS = 60_000;
/** An AWS profile folder with nothing in it, so that no key of this machine is found. */
const NOWHERE = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

let aws: FakeAws;
let served = '';

beforeAll(async () => {
  aws = await fakeAws();
  ({ url: served } = await serve(await dataFolder()));
});
afterAll(() => aws.close());

/** A folder with a `cdk` that says how it was called, and writes the outputs of a deployment. */
async function fakeCdk(exitCode = 0): Promise<string> {
  const folder = await tempFolder();
  const path = join(folder, 'cdk');
  const configuration = JSON.stringify({
    mcpServers: { checkpoint: { type: 'http', url: served } },
  });
  const outputs = { McpUrl: served, ClientConfiguration: configuration };
  const text = JSON.stringify({ 'checkpoint-dev-service': outputs });
  const script = [
    '#!/usr/bin/env node',
    `const args = process.argv.slice(2); console.log('cdk', args.join(' '));`,
    `const at = args.indexOf('--outputs-file');`,
    `if (at >= 0 && ${exitCode} === 0) require('node:fs').writeFileSync(args[at + 1], ${JSON.stringify(text)});`,
    `process.exit(${exitCode});`,
  ];
  await writeFile(path, script.join('\n'));
  await chmod(path, 0o755);
  return folder;
}

/** Runs a script with the stand-ins, and with what a test changes. */
async function script(
  verb: string,
  args: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
  cdkExitCode = 0,
): Promise<Ended> {
  const path = `${await fakeCdk(cdkExitCode)}:${process.env['PATH'] ?? ''}`;
  return runScript(SCRIPT, [verb, ...args], { ...NOWHERE, ...aws.env, PATH: path, ...env });
}

describe('npm run deploy', () => {
  test(
    'looks, deploys, says how to connect, and looks again',
    async () => {
      aws.parameters.set(BOOTSTRAP, '28');
      const { code, out, err } = await script('deploy', ['--require-approval', 'never']);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('AWS         answers; the CDK is set up (version 28)');
      expect(out).toContain('Stage       dev, for the first time');
      expect(out).toMatch(/^cdk deploy --all --require-approval never --outputs-file \S+$/m);
      expect(out).toContain(`MCP         ${served}`);
      expect(out).toContain('token --deployment dev --subject ana --scope procedures:run');
      expect(out).toContain('"mcpServers"');
      expect(out).toContain('Health      ok, version');
      expect(out).toContain('No token    401, without a challenge (alexa)');
      expect(out).toContain(`Discovery   names ${served}`);
    },
    PATIENTLY_MS,
  );

  test.each<[string, { readonly [name: string]: string }, string | undefined, string]>([
    [
      'no credentials',
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      undefined,
      'There are no AWS credentials here: sign in (aws sso login), or name a profile (AWS_PROFILE).',
    ],
    ['no region', { AWS_REGION: '' }, undefined, 'There is no AWS region here: set AWS_REGION.'],
    [
      'credentials that AWS does not know',
      {},
      'UnrecognizedClientException',
      'AWS does not know these credentials: sign in (aws sso login), or name a profile (AWS_PROFILE).',
    ],
    [
      'credentials that have expired',
      {},
      'ExpiredTokenException',
      'These AWS credentials have expired: sign in (aws sso login), or name a profile (AWS_PROFILE).',
    ],
    [
      'credentials that may not read parameters',
      {},
      'AccessDeniedException',
      'These AWS credentials lack a permission (ssm:GetParameter).',
    ],
    [
      'an account that the CDK was never set up in',
      {},
      'ParameterNotFound',
      'This account and region are not set up for the CDK: run npx cdk bootstrap once.',
    ],
    [
      'an AWS that cannot be reached',
      { AWS_ENDPOINT_URL_SSM: 'http://127.0.0.1:2' },
      undefined,
      `AWS could not be asked: the parameter ${BOOTSTRAP} cannot be read: ECONNREFUSED.`,
    ],
    [
      'a stage that there is not',
      { CHECKPOINT_STAGE: 'Prod!' },
      undefined,
      'These settings cannot be used:\n  CHECKPOINT_STAGE: expected dev, staging or prod',
    ],
  ])(
    'with %s says so and deploys nothing',
    async (_what, env, failing, sentence) => {
      aws.parameters.set(BOOTSTRAP, '28');
      aws.failing = failing;
      try {
        const { code, out, err } = await script('deploy', [], env);
        expect([code, err.trim(), out]).toEqual([1, sentence, '']);
      } finally {
        aws.failing = undefined;
      }
    },
    PATIENTLY_MS,
  );

  test(
    'says when the CDK failed, and looks at nothing',
    async () => {
      const { code, out, err } = await script('deploy', [], {}, 3);
      expect([code, err.trim()]).toEqual([1, 'cdk deploy ended with 3; nothing was looked at.']);
      expect(out).not.toContain('Health');
    },
    PATIENTLY_MS,
  );
});

describeOnDynamo('npm run deploy over a stage that has work', () => {
  let engine: Engine;
  let table: TestTable;
  beforeAll(async () => {
    engine = await startEngine();
    table = await createTestTable(engine.client);
    aws.parameters.set('/checkpoint/dev/table', table.tableName);
  }, 90_000);
  afterAll(async () => {
    aws.parameters.delete('/checkpoint/dev/table');
    await table.delete();
    await engine.stop();
  });

  test(
    'refuses a release that lacks a version which an active workflow runs on, and names it',
    async () => {
      const { tableName } = table;
      const client = createDynamoClient(engine.client);
      const parts = { client, tableName, clock: systemClock, random: systemRandom };
      const store = createDynamoStore(parts);
      const registry = await loadRegistry({ policiesFolder: undefined }, [
        {
          domain: 'doors',
          procedures: [
            {
              id: 'door-round',
              version: 7,
              title: 'door round',
              description: 'One door.',
              asset: { type: 'door', pattern: 'DOOR-[0-9]+', example: 'DOOR-1' },
              steps: [
                {
                  id: 'shut',
                  kind: 'confirm',
                  title: 'door shut',
                  instruction: 'Shut it.',
                  on_deviation: 'block',
                },
              ],
            },
          ],
        },
      ]);
      const { service } = coreOn(store, registry, { secret: 'x'.repeat(64), sinks: ['log'] });
      const person = { tenant: 'local', subject: 'dev:ana', name: 'Ana', kind: 'person' } as const;
      const ana = { ...person, via: 'cli', scopes: new Set(['procedures:run'] as const) } as const;
      const start = { type: 'start_workflow', procedure: 'door-round', asset: 'DOOR-1' } as const;
      expect((await service.execute(ana, start, Date.now() + 5_000)).code).toBe('OK');
      await store.close();
      const endpoint = { AWS_ENDPOINT_URL_DYNAMODB: engine.client.endpoint ?? '' };
      const { code, out, err } = await script('deploy', [], endpoint);
      expect([code, err.trim()]).toEqual([
        1,
        'This release lacks procedure versions that active workflows run on: door-round@7. Put them back, or end the workflows first.',
      ]);
      expect(out).not.toContain('cdk deploy');
    },
    PATIENTLY_MS,
  );
});

describe('npm run destroy', () => {
  test.each([
    ['dev', 'cdk destroy checkpoint-dev-service checkpoint-dev-data --force', 'with its data'],
    [
      'prod',
      'cdk destroy checkpoint-prod-service --force',
      'the stack checkpoint-prod-data with table, key, secrets, lists of heads and logs stays',
    ],
  ])(
    'of %s removes what that stage may lose, and says what stays',
    async (stage, command, sentence) => {
      const { code, out } = await script('destroy', ['--force'], { CHECKPOINT_STAGE: stage });
      expect(code).toBe(0);
      expect(out).toContain(command);
      expect(out).toContain(sentence);
      expect(stageNamed(stage).ownIssuer).toBe(isDevelopment(stage));
    },
    PATIENTLY_MS,
  );
});

describe('checkpoint token --deployment', () => {
  const ARN = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:issuer-AbCdEf';
  const words = ['token', '--deployment', 'dev', '--subject', 'ana', '--scope', 'procedures:run'];
  const run = () => runScript(ENTRY, words, { ...NOWHERE, ...aws.env });

  test(
    'signs with the secret of the stage, and prints the token alone',
    async () => {
      aws.parameters.set('/checkpoint/dev/issuer-secret', ARN);
      aws.secrets.set(ARN, 'd'.repeat(64));
      const { code, out, err } = await run();
      expect([code, err]).toEqual([0, '']);
      const { issuer } = deploymentIssuerConfig('d'.repeat(64));
      expect(decodeJwt(out.trim())).toMatchObject({ iss: issuer, aud: issuer, sub: 'ana' });
    },
    PATIENTLY_MS,
  );

  test(
    'says so where the stage signs no tokens',
    async () => {
      aws.parameters.delete('/checkpoint/dev/issuer-secret');
      const { code, out, err } = await run();
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain('The stage dev of this account and region signs no tokens');
    },
    PATIENTLY_MS,
  );

  test(
    'says which permission is missing',
    async () => {
      aws.failing = 'AccessDeniedException';
      try {
        const { code, err } = await run();
        expect([code, err.trim()]).toEqual([
          1,
          'These AWS credentials lack a permission (ssm:GetParameter and secretsmanager:GetSecretValue).',
        ]);
      } finally {
        aws.failing = undefined;
      }
    },
    PATIENTLY_MS,
  );
});

describe('npm run smoke', () => {
  /** Runs it against a server that gives every request the same answer. */
  async function against(status: number, body: object): Promise<string> {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const text = await smokeAt(`http://127.0.0.1:${port}/mcp`);
    server.close();
    return text;
  }

  async function smokeAt(...args: readonly string[]): Promise<string> {
    let text = '';
    const code = await runSmoke(args, {
      env: {},
      out: () => undefined,
      err: (line) => {
        text += line;
      },
      smoke: { patienceMs: 50, betweenMs: 20 },
    });
    expect(code).toBe(text === '' ? 0 : 1);
    return text;
  }

  test('needs no token and passes over a server that is well', async () => {
    expect(await smokeAt(served)).toBe('');
    const { url } = await serve(await dataFolder(), { CHECKPOINT_AUTH_PROFILE: 'standard' });
    expect(await smokeAt(url)).toBe('');
  });

  test.each<[string, number, object, RegExp]>([
    [
      'AWS’s own 403',
      403,
      { Message: 'Forbidden' },
      /^AWS refused .* both lambda:InvokeFunctionUrl and lambda:InvokeFunction/,
    ],
    ['AWS’s 403 without a body of ours', 403, { message: 'Forbidden' }, /^AWS refused/],
    ['our 403', 403, { status: 403, code: 'HOST_NOT_ALLOWED' }, /does not serve this host/],
    ['AWS’s 502', 502, { Message: 'Internal Server Error' }, /ended without an answer \(502\)/],
    [
      'AWS’s 429',
      429,
      { Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded' },
      /no concurrency/,
    ],
    ['our 503', 503, { status: 503, code: 'BACKEND_UNAVAILABLE' }, /cannot serve \(503\)/],
    ['another server', 200, { hello: 'world' }, /unexpected answer 200/],
    ['a redirect to nowhere', 404, {}, /unexpected answer 404/],
  ])('tells %s apart', async (_what, status, body, sentence) => {
    expect(await against(status, body)).toMatch(sentence);
  });

  test('says when the URL is not the one that tokens are for', async () => {
    const other = served.replace('127.0.0.1', 'localhost');
    expect(await smokeAt(other)).toContain(`names ${served} as the resource, not ${other}`);
  });

  test.each([
    ['', /^expected the URL of an MCP endpoint/],
    ['checkpoint.example.com/mcp', /^expected the URL of an MCP endpoint/],
    ['http://127.0.0.1:9/mcp', /^http:\/\/127\.0\.0\.1:9 cannot be reached/],
    ['https://nowhere.invalid/mcp', /cannot be reached \(E/],
  ])('says what is wrong with %j', async (url, sentence) => {
    expect(await smokeAt(url)).toMatch(sentence);
  });
});
