// An incident in a deployment: the functions in processes of their own, the state machine of runs executed
// as it is deployed, an emulator for the table, and the bundled evidence server beside its function.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { tableKey } from '../../lib/core/keys.ts';
import { ORCHESTRATE } from '../../lib/core/dispatch/new-row.ts';
import { evidenceCommands } from '../../lib/infra/evidence.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy, type Deployed } from '../support/lambda/deployed.ts';
import { fakeWork, type FakeWork } from '../support/lambda/fake-work.ts';
import { startFunction, type FunctionProcess } from '../support/lambda/function-process.ts';
import { projectRoot } from '../support/project-files.ts';
import { rest } from '../support/rest-client.ts';
import { tempFolder } from '../support/temp-folder.ts';

jest.setTimeout(120_000);

describeOnDynamo('a deployment with runs', () => {
  const functions: Record<string, FunctionProcess> = {};
  const files: Record<string, string> = {};
  let work: FakeWork;
  let deployed: Deployed;
  let ana: { url: string; token: string };
  let cara: { url: string; token: string };

  beforeAll(async () => {
    for (const name of ['http', 'relay', 'reconcile', 'run']) {
      files[name] = (await buildBundle(`lambdas/${name}.ts`, await tempFolder())).file;
    }
    const beside = dirname(files['run'] ?? '');
    for (const command of evidenceCommands(join(projectRoot, 'examples/evidence'), beside)) {
      execFileSync('/bin/sh', ['-c', command]);
    }
    work = await fakeWork();
    deployed = await deploy(files['http'] ?? '', work.env);
    for (const name of ['relay', 'reconcile', 'run']) {
      functions[name] = await startFunction(files[name] ?? '', {
        ...deployed.env,
        POWERTOOLS_SERVICE_NAME: `checkpoint-test-${name}`,
      });
    }
    work.connect((event) => started('run').invoke(event, 115_000));
    const person = async (subject: string, ...scopes: ('runs:create' | 'approvals:decide')[]) => ({
      url: deployed.url,
      token: await deployed.token({ subject, name: subject, scopes: [...scopes, 'audit:read'] }),
    });
    ana = await person('ana', 'runs:create');
    cara = await person('cara', 'approvals:decide');
  });
  afterAll(async () => {
    for (const each of Object.values(functions)) await each.stop();
    await work.close();
    await deployed.close();
  });

  const started = (name: string): FunctionProcess => {
    const found = functions[name];
    if (found === undefined) throw new Error(`${name} is not started`);
    return found;
  };
  /** What the table's stream would tell the relay of a row of a run. */
  const relay = async (run: string): Promise<void> => {
    const lane = { tenant: 'local', workflow: run, lane: ORCHESTRATE };
    const { pk, sk } = tableKey({ kind: 'outbox', ...lane, seq: 1 });
    const Keys = { pk: { S: pk }, sk: { S: sk } };
    const Records = [{ eventName: 'INSERT', dynamodb: { Keys } }];
    await started('relay').invoke({ Records }, 60_000);
    await work.executions();
  };
  const create = async (symptom: string): Promise<string> => {
    // A machine that is busy answers late, and the same request again attaches to the run that is there.
    for (let tries = 0; tries < 5; tries++) {
      const { body } = await rest(ana, '/runs', { service: 'payments', symptom });
      if (typeof body['run_id'] === 'string') return body['run_id'];
    }
    throw new Error('no run was created');
  };
  const read = async (id: string) => (await rest(cara, `/runs/${id}`)).body;

  test('says which tools there are, asked of the function that knows them', async () => {
    const { status, body } = await rest(ana, '/tools');
    expect(status).toBe(200);
    expect(body['tools']).toEqual([
      expect.objectContaining({ server: 'bundled', name: 'service_status', allowed: true }),
      expect.objectContaining({ server: 'bundled', name: 'runbook_search', allowed: true }),
    ]);
    expect(body['missing']).toEqual([]);
  });

  test('gathers, waits for a person, writes once, and reads the ticket back', async () => {
    const id = await create('card payments time out');
    await relay(id);
    const waiting = await read(id);
    expect(waiting).toMatchObject({
      status: 'awaiting_approval',
      proposed_action: { type: 'ticket.create', target: 'payments' },
    });
    expect((waiting['observations'] as { tool: string }[]).map(({ tool }) => tool)).toEqual([
      'service_status',
      'runbook_search',
      'runbook_search',
    ]);
    const decision = { approved: true, action_hash: waiting['action_hash'] };
    expect((await rest(ana, `/runs/${id}/approval`, decision)).status).toBe(403);
    const approved = await rest(cara, `/runs/${id}/approval`, decision);
    expect([approved.status, approved.body['duplicate']]).toEqual([200, false]);
    await relay(id);
    expect(await read(id)).toMatchObject({
      status: 'completed',
      result: { provider: 'built-in' },
    });
    // The row comes again: its execution is over, and nothing is written anew.
    await relay(id);
    const { body } = await rest(cara, `/runs/${id}/events`);
    const events = body['items'] as { seq: number; type: string }[];
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.filter(({ type }) => type === 'run_completed')).toHaveLength(1);
    expect([...(await work.executions()).values()]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });

  test('a row that no relay delivered is begun by the sweep, and a function that dies is tried again', async () => {
    const id = await create('refunds fail');
    let died = false;
    work.connect(async (event) => {
      if (!died) {
        died = true;
        started('run').signal('SIGKILL');
        const restarted = await startFunction(files['run'] ?? '', {
          ...deployed.env,
          POWERTOOLS_SERVICE_NAME: 'checkpoint-test-run',
        });
        functions['run'] = restarted;
        throw new Error('the process is gone');
      }
      return started('run').invoke(event, 115_000);
    });
    const sweep = async (): Promise<void> => {
      const looked = (await started('reconcile').invoke({ task: 'look' })) as unknown as {
        shards: { shard: number }[];
      };
      for (const { shard } of looked.shards) {
        await started('reconcile').invoke({ task: 'sweep', shard }, 60_000);
      }
      await work.executions();
    };
    // A row is due to the sweep once the relay has had half a minute.
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      await sweep();
      if ((await read(id))['status'] === 'awaiting_approval') break;
      await setTimeout(1_000);
    }
    expect(died).toBe(true);
    expect((await read(id))['status']).toBe('awaiting_approval');
  });

  test('says that it cannot say, in its own words, while that function fails', async () => {
    work.connect(() => Promise.reject(new Error('pressure of Ana was 2.1 bar')));
    const { status, body } = await rest(ana, '/tools');
    expect([status, body['code']]).toEqual([503, 'BACKEND_UNAVAILABLE']);
    expect(JSON.stringify(body)).not.toMatch(/Ana|checkpoint-run/);
  });
});
