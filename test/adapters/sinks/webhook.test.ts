import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { webhookSink } from '../../../lib/adapters/sinks/webhook.ts';
import { isDeliveryError, type DeliveryError } from '../../../lib/core/ports/sink.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';

const OLD = `whsec_${Buffer.from('the old secret of the receiver').toString('base64')}`;
const NEW = `whsec_${Buffer.from('the new secret of the receiver').toString('base64')}`;
const message = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'acme',
  payload: { kind: 'block', at: '2026-03-01T09:00:00.000Z', workflow: 'w1', head_seq: 4 },
};

let receiver: Receiver;
afterEach(() => receiver.close());

const deliver = async (
  answer?: (response: ServerResponse) => void,
  part: {
    readonly secrets?: readonly string[];
    readonly withinMs?: number;
    readonly url?: string;
  } = {},
): Promise<void> => {
  receiver = await startReceiver(answer);
  const { secrets = [NEW], withinMs = 5_000, url = receiver.url } = part;
  const sink = webhookSink({ name: 'desk', url, secrets, clock: systemClock });
  await sink.deliver(message, Date.now() + withinMs);
};
const failure = async (delivery: Promise<void>): Promise<DeliveryError> => {
  try {
    await delivery;
  } catch (error) {
    if (isDeliveryError(error)) return error;
    throw error;
  }
  throw new Error('expected a failed delivery');
};

describe('what a receiver gets', () => {
  test('one POST whose signature the published library verifies', async () => {
    await deliver();
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(new Webhook(NEW).verify(body, headers as Record<string, string>)).toEqual({
      type: 'checkpoint.block',
      timestamp: '2026-03-01T09:00:00.000Z',
      data: { id: message.id, tenant: 'acme', ...message.payload },
    });
    expect(headers['content-type']).toBe('application/json');
  });

  test('the stable id of the message as Idempotency-Key', async () => {
    await deliver();
    const headers = receiver.received[0]?.headers ?? {};
    expect(headers['idempotency-key']).toBe(message.id);
    expect(headers['webhook-id']).toBe(message.id);
  });

  test('a signature of the old and of the new secret while one replaces the other', async () => {
    await deliver(undefined, { secrets: [NEW, OLD] });
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    for (const secret of [OLD, NEW]) {
      expect(() =>
        new Webhook(secret).verify(body, headers as Record<string, string>),
      ).not.toThrow();
    }
    const other = `whsec_${Buffer.from('a secret of somebody else').toString('base64')}`;
    expect(() => new Webhook(other).verify(body, headers as Record<string, string>)).toThrow(
      'No matching signature',
    );
  });

  test('the same body in every delivery', async () => {
    receiver = await startReceiver();
    const sink = webhookSink({
      name: 'desk',
      url: receiver.url,
      secrets: [NEW],
      clock: systemClock,
    });
    await sink.deliver(message, Date.now() + 5_000);
    await sink.deliver(message, Date.now() + 5_000);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });
});

describe('what its answer means', () => {
  test.each([200, 201, 202, 204])('%d is accepted', async (status) => {
    await expect(deliver((response) => response.writeHead(status).end())).resolves.toBeUndefined();
  });

  test.each([400, 410, 413, 415, 422])('%d refuses this message for good', async (status) => {
    const error = await failure(deliver((response) => response.writeHead(status).end('details')));
    expect(error).toMatchObject({ kind: 'terminal', message: `HTTP ${status}` });
  });

  test.each([401, 403, 404, 408, 409, 425, 429, 500, 502, 503])('%d may pass', async (status) => {
    const error = await failure(deliver((response) => response.writeHead(status).end()));
    expect(error).toMatchObject({ kind: 'retryable', message: `HTTP ${status}` });
  });

  test('a redirect is not followed', async () => {
    const error = await failure(
      deliver((response) => response.writeHead(302, { location: receiver.url }).end()),
    );
    expect(error).toMatchObject({ kind: 'retryable', message: 'HTTP 302' });
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ['120', 120_000],
    ['a while', undefined],
    ['-5', undefined],
  ])('Retry-After: %s is a pause of %p ms', async (text, pause) => {
    const answer = (response: ServerResponse) =>
      response.writeHead(503, { 'retry-after': text }).end();
    expect((await failure(deliver(answer))).retryAfterMs).toBe(pause);
  });

  test('Retry-After may be a date', async () => {
    const at = new Date(Date.now() + 600_000).toUTCString();
    const error = await failure(
      deliver((response) => response.writeHead(503, { 'retry-after': at }).end()),
    );
    expect(error.retryAfterMs).toBeGreaterThan(500_000);
    expect(error.retryAfterMs).toBeLessThan(601_000);
  });

  test('no answer in time may have been accepted', async () => {
    const error = await failure(deliver(() => undefined, { withinMs: 200 }));
    expect(error).toMatchObject({ kind: 'unknown', message: 'no answer in time' });
  });

  test('an answer that never ends is over with its status', async () => {
    const endless = (response: ServerResponse) => {
      response.writeHead(200);
      response.write('more ');
    };
    await expect(deliver(endless)).resolves.toBeUndefined();
  });

  test('a connection that breaks after the request may have been accepted', async () => {
    const error = await failure(deliver((response) => response.destroy()));
    expect(error.kind).toBe('unknown');
  });

  test('nobody listens: nothing was sent, and no address is told', async () => {
    receiver = await startReceiver();
    const { url } = receiver;
    await receiver.close();
    receiver = await startReceiver();
    const sink = webhookSink({ name: 'desk', url, secrets: [NEW], clock: systemClock });
    const error = await failure(sink.deliver(message, Date.now() + 5_000));
    expect(error).toMatchObject({ kind: 'retryable', message: 'no answer (ECONNREFUSED)' });
  });
});
