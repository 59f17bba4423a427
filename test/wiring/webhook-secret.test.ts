import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { rowKey } from '../../lib/core/dispatch/row.ts';
import { openDelivery } from '../../lib/wiring/delivery.ts';
import { create } from '../contract/storage/bench.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock } from '../support/harness.ts';
import { fakeAws, type FakeAws } from '../support/lambda/fake-aws.ts';
import { observed } from '../support/lambda/observed.ts';
import { outboxOf } from '../support/plans.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const secretOf = (text: string): string =>
  `whsec_${Buffer.from(text.padEnd(24, '.')).toString('base64')}`;
const OLD = secretOf('the old one');
const NEW = secretOf('the new one');
const ID = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:webhooks-AbCdEf';

describeOnDynamo('webhooks whose secrets Secrets Manager keeps', () => {
  const world = dynamoWorld();
  const before = { ...process.env };
  let aws: FakeAws;
  let receiver: Receiver;
  let rows = 0;

  beforeAll(async () => {
    aws = await fakeAws();
    receiver = await startReceiver();
    const { endpoint = '' } = world.opener.options.client;
    Object.assign(process.env, aws.env, { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
  });
  beforeEach(() => {
    aws.failing = undefined;
    aws.asked.length = 0;
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    await receiver.close();
    await aws.close();
  });

  const keep = (secrets: readonly string[], name = 'desk'): void => {
    aws.secrets.set(ID, JSON.stringify([{ name, url: receiver.url, secrets }]));
  };
  const open = (environment: { readonly [name: string]: string } = {}) => {
    const told = observed();
    const opening = openDelivery(
      {
        CHECKPOINT_TABLE: world.tableName,
        CHECKPOINT_WEBHOOKS_SECRET_ID: ID,
        CHECKPOINT_WEBHOOK_NAMES: 'desk',
        ...environment,
      },
      told.observers,
    );
    return { ...told, opening };
  };
  /** Delivers one new row as a function does that has just started; answers what was received. */
  const deliver = async () => {
    const { opening } = open();
    const { dispatcher, store, sinks } = await opening;
    expect(sinks).toEqual(['log', 'desk']);
    const id = `w${rows++}`;
    const lane = 'notify:desk';
    const clock = testClock(Date.now());
    const row = outboxOf({ tenant: 'plant', id }, { lane, seq: 1, payload: { kind: 'block' } });
    await store.commit({ writes: [create(rowKey(row), row)] }, clock.now() + 9_000);
    const drained = await dispatcher.drainLane({ tenant: 'plant', workflow: id, lane }, () => true);
    expect(drained.counts).toMatchObject({ delivered: 1, failed: 0 });
    expect(await store.listOutbox('plant', id, 10)).toEqual([]);
    await store.close();
    const got = receiver.received.at(-1);
    if (got === undefined) throw new Error('nothing was received');
    return got;
  };
  const verifies = (
    secret: string,
    { body, headers }: Awaited<ReturnType<typeof deliver>>,
  ): boolean => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };

  test('a function that starts reads the secret once, and what it delivers verifies under it', async () => {
    keep([OLD]);
    const got = await deliver();
    expect(aws.asked).toEqual([`GetSecretValue ${ID}`]);
    expect([verifies(OLD, got), verifies(NEW, got)]).toEqual([true, false]);
  });

  test('while a secret is replaced both sign, so a receiver may know either; then the old one is gone', async () => {
    keep([NEW, OLD]);
    const during = await deliver();
    expect([verifies(OLD, during), verifies(NEW, during)]).toEqual([true, true]);
    keep([NEW]);
    const after = await deliver();
    expect([verifies(OLD, after), verifies(NEW, after)]).toEqual([false, true]);
  });

  test.each([
    ['AccessDeniedException', 'AccessDeniedException'],
    ['hang', ''],
  ])(
    'a secret that cannot be read (%s) is a retryable fault that names it',
    async (failing, why) => {
      keep([OLD]);
      aws.failing = failing;
      await expect(open().opening).rejects.toMatchObject({
        kind: 'retryable',
        code: 'BACKEND_UNAVAILABLE',
        message: expect.stringMatching(new RegExp(`the secret ${ID} cannot be read: .*${why}`)),
      });
      aws.failing = undefined;
      const { store } = await open().opening;
      await store.close();
    },
    20_000,
  );

  test('a secret that is not there is a retryable fault', async () => {
    aws.secrets.delete(ID);
    await expect(open().opening).rejects.toMatchObject({ kind: 'retryable' });
  });

  test.each<[string, string, string]>([
    ['no JSON', 'pressure 2.1 bar', 'holds no list of webhooks'],
    ['an object', '{"name":"desk"}', 'holds no list of webhooks'],
    [
      'a secret of another form',
      JSON.stringify([
        { name: 'desk', url: 'https://desk.example.com', secrets: ['pressure 2.1 bar'] },
      ]),
      'holds no list of webhooks at 0.secrets.0',
    ],
    [
      'an address without TLS',
      JSON.stringify([{ name: 'desk', url: 'http://desk.example.com', secrets: [OLD] }]),
      'holds no list of webhooks at 0.url',
    ],
    [
      'other webhooks than rows are written for',
      JSON.stringify([{ name: 'planner', url: 'https://desk.example.com', secrets: [OLD] }]),
      'holds other webhooks than CHECKPOINT_WEBHOOK_NAMES names',
    ],
  ])(
    'a secret that holds %s is refused for good, by place and without its text',
    async (_, text, sentence) => {
      aws.secrets.set(ID, text);
      const fault = await open().opening.then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      expect(fault).toMatchObject({ kind: 'terminal', code: 'START_REFUSED' });
      expect(fault?.message).toContain(sentence);
      expect(fault?.message).not.toContain('2.1 bar');
      expect(fault?.message).not.toContain(OLD);
    },
  );

  test('without webhooks nothing is read, and the log is the only receiver', async () => {
    const names = { CHECKPOINT_WEBHOOKS_SECRET_ID: '', CHECKPOINT_WEBHOOK_NAMES: '' };
    const { store, sinks } = await open(names).opening;
    await store.close();
    expect([sinks, aws.asked]).toEqual([['log'], []]);
  });
});
