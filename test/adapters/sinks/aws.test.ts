import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { eventBridgeSink } from '../../../lib/adapters/sinks/eventbridge.ts';
import { snsSink } from '../../../lib/adapters/sinks/sns.ts';
import { clientAt, TOPIC_ARN } from '../../contract/sinks/subjects.ts';
import { startAws, type AwsAnswer, type AwsService } from '../../support/aws-receiver.ts';
import type { Receiver } from '../../support/receiver.ts';

const clock = systemClock;
const message = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'acme',
  payload: { kind: 'block', at: '2026-03-01T09:00:00.000Z', workflow: 'w1', head_seq: 4 },
};

let receiver: Receiver;
afterEach(() => receiver.close());

const deliver = async (service: AwsService, answer: AwsAnswer): Promise<void> => {
  receiver = await startAws(service, answer);
  const client = clientAt(receiver.url);
  const sink =
    service === 'sns'
      ? snsSink({ topicArn: TOPIC_ARN, clock, client })
      : eventBridgeSink({ eventBus: 'operations', clock, client });
  await sink.deliver(message, Date.now() + 5_000);
};

describe('what goes over the wire', () => {
  test('to SNS: the topic, the body, and id, type and tenant as attributes', async () => {
    await deliver('sns', { status: 200 });
    const sent = new URLSearchParams(receiver.received[0]?.body);
    expect([sent.get('Action'), sent.get('TopicArn')]).toEqual(['Publish', TOPIC_ARN]);
    expect(JSON.parse(sent.get('Message') ?? '')).toEqual({
      type: 'checkpoint.block',
      timestamp: '2026-03-01T09:00:00.000Z',
      data: { id: message.id, tenant: 'acme', ...message.payload },
    });
    const attributes = [1, 2, 3].map((n) => [
      sent.get(`MessageAttributes.entry.${n}.Name`),
      sent.get(`MessageAttributes.entry.${n}.Value.StringValue`),
    ]);
    expect(attributes).toEqual([
      ['id', message.id],
      ['type', 'checkpoint.block'],
      ['tenant', 'acme'],
    ]);
  });

  test('to EventBridge: bus, source, type, time, and the id in the detail', async () => {
    await deliver('eventbridge', { status: 200 });
    const [{ headers, body } = { headers: undefined, body: '' }] = receiver.received;
    expect(headers?.['x-amz-target']).toBe('AWSEvents.PutEvents');
    const { Entries } = JSON.parse(body) as { Entries: { Detail: string }[] };
    expect(Entries).toEqual([
      {
        EventBusName: 'operations',
        Source: 'checkpoint',
        DetailType: 'checkpoint.block',
        Detail: expect.anything(),
        Time: Date.parse('2026-03-01T09:00:00.000Z') / 1_000,
      },
    ]);
    expect(JSON.parse(Entries[0]?.Detail ?? '')).toEqual({
      id: message.id,
      tenant: 'acme',
      ...message.payload,
    });
  });
});

describe('what an answer means', () => {
  test.each<[AwsService, AwsAnswer, string, string]>([
    [
      'sns',
      { status: 400, code: 'ParameterValueInvalid' },
      'terminal',
      'InvalidParameterValueException',
    ],
    ['sns', { status: 404, code: 'NotFound' }, 'retryable', 'NotFoundException'],
    ['sns', { status: 400, code: 'KMSThrottling' }, 'retryable', 'KMSThrottlingException'],
    ['sns', { status: 500, code: 'InternalError' }, 'unknown', 'InternalErrorException'],
    ['sns', { status: 503, code: 'ServiceUnavailable' }, 'unknown', 'ServiceUnavailable'],
    [
      'eventbridge',
      { status: 400, code: 'ResourceNotFoundException' },
      'retryable',
      'ResourceNotFoundException',
    ],
    ['eventbridge', { status: 500, code: 'InternalException' }, 'unknown', 'InternalException'],
  ])('%s %j: %s', async (service, answer, kind, told) => {
    await expect(deliver(service, answer)).rejects.toMatchObject({ kind, message: told });
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ['ThrottlingException', 'retryable'],
    ['NotAuthorizedForSourceException', 'retryable'],
    ['InternalFailure', 'unknown'],
    ['MalformedDetail', 'terminal'],
    ['InvalidArgument', 'terminal'],
  ])('a refusal of the entry within a 200, %s, is a failure: %s', async (entryCode, kind) => {
    await expect(deliver('eventbridge', { entryCode })).rejects.toMatchObject({
      kind,
      message: entryCode,
    });
  });

  test.each([
    ['no count and no entry', '{}'],
    ['an entry without an id', '{"FailedEntryCount":0,"Entries":[{}]}'],
  ])('an answer with %s leaves open if the event was taken', async (_what, body) => {
    await expect(deliver('eventbridge', { body })).rejects.toMatchObject({ kind: 'unknown' });
  });

  test('a refusal that names no code is a failure all the same', async () => {
    const body = '{"FailedEntryCount":1,"Entries":[]}';
    await expect(deliver('eventbridge', { body })).rejects.toMatchObject({ kind: 'retryable' });
  });

  test.each(['sns', 'eventbridge', 'opscenter'])(
    'nobody listens to %s: nothing was sent, and no address is told',
    async (service) => {
      receiver = await startAws('sns', { status: 200 });
      const { url } = receiver;
      await receiver.close();
      receiver = await startAws('sns', { status: 200 });
      const child = join(import.meta.dirname, '../../support/aws-child.ts');
      const { stdout } = await promisify(execFile)(process.execPath, [child, service, url]);
      expect(JSON.parse(stdout)).toEqual(['retryable', 'no answer (ECONNREFUSED)']);
    },
  );
});
