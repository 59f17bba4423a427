/** The bundled function behind something that proves itself by a secret header, as CloudFront does. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy, type Deployed } from '../support/lambda/deployed.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SECRET = 'f'.repeat(64);
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'start_workflow', arguments: { procedure: 'pump-inspection', asset: 'PUMP-07' } },
};

describeOnDynamo('the bundled function behind its front', () => {
  let deployed: Deployed;
  let token = '';
  beforeAll(async () => {
    const { file } = await buildBundle('lambdas/http.ts', await tempFolder());
    deployed = await deploy(file, {
      CHECKPOINT_PUBLIC_URL: 'https://checkpoint.example.com/mcp',
      CHECKPOINT_FRONT_SECRET_ID: 'front',
    });
    deployed.aws.secrets.set('front', SECRET);
    token = await deployed.token({ subject: 'ana', name: 'Ana', scopes: ['procedures:run'] });
  }, 120_000);
  afterAll(() => deployed.close());

  const send = (headers: Readonly<Record<string, string>>) =>
    fetch(deployed.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...headers,
      },
      body: JSON.stringify(CALL),
    });

  test('serves what comes through it, though the host is the function’s own', async () => {
    const answer = await send({ 'x-checkpoint-front': SECRET });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ result: { structuredContent: { code: 'OK' } } });
    expect(deployed.lambda.output()).not.toContain(SECRET);
  });

  test('refuses the same call past it, and writes nothing', async () => {
    const before = deployed.table.calls.length;
    for (const headers of [{}, { 'x-checkpoint-front': 'g'.repeat(64) }]) {
      const answer = await send(headers);
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain('this server is reached by its public URL only');
    }
    expect(deployed.table.calls.length).toBe(before);
  });
});
