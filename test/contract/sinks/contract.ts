/** The contract of the sink port: what every sink keeps, whatever it speaks. */
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  isDeliveryError,
  type DeliveryError,
  type NotificationSink,
} from '../../../lib/core/ports/sink.ts';

/** How a receiver behaves: which kind of failure each is, the contract says. */
export type Behaviour =
  'accepts' | 'throttles' | 'denies' | 'refuses' | 'breaks' | 'hangs' | 'gone';

/** A sink in front of a receiver that behaves. */
export interface SinkBench {
  readonly sink: NotificationSink;
  /** The texts that the receiver got, one a delivery. */
  readonly received: () => readonly string[];
  close(): Promise<void>;
}

/** Opens one. A behaviour that a sink cannot meet is left out with `never`. */
export interface SinkSubject {
  readonly name: string;
  open(behaviour: Behaviour): Promise<SinkBench>;
  /** Behaviours that this sink's receiver does not have, each with why. */
  readonly never?: Partial<Record<Behaviour, string>>;
}

const MESSAGE = {
  id: '0123456789abcdef0123456789abcdef',
  tenant: 'acme',
  payload: { kind: 'block', at: '2026-03-01T09:00:00.000Z', workflow: 'w1', head_seq: 4 },
};

/** Kinds by behaviour. */
const FAILURES = [
  ['throttles', 'retryable'],
  ['denies', 'retryable'],
  ['refuses', 'terminal'],
  ['breaks', 'unknown'],
  ['hangs', 'unknown'],
  ['gone', 'retryable'],
] as const;

/** Declares the cases for one sink. */
export function sinkContract(subject: SinkSubject): void {
  describe(`the sink ${subject.name}`, () => {
    let bench: SinkBench | undefined;
    afterEach(async () => {
      await bench?.close();
      bench = undefined;
    });
    const open = async (behaviour: Behaviour): Promise<SinkBench> =>
      (bench = await subject.open(behaviour));

    test('has the name that rows are written for', async () => {
      expect((await open('accepts')).sink.name).toBe(subject.name);
    });

    test('delivers a message once, with its id, its tenant and its payload', async () => {
      const { sink, received } = await open('accepts');
      await sink.deliver(MESSAGE, Date.now() + 5_000);
      const [text = '', ...more] = received();
      expect(more).toEqual([]);
      for (const part of [MESSAGE.id, 'acme', 'block', 'w1']) expect(text).toContain(part);
    });

    test('delivers the same message again with the same content', async () => {
      const { sink, received } = await open('accepts');
      await sink.deliver(MESSAGE, Date.now() + 5_000);
      await sink.deliver(MESSAGE, Date.now() + 5_000);
      expect(received()).toHaveLength(2);
      expect(new Set(received()).size).toBe(1);
    });

    for (const [behaviour, kind] of FAILURES) {
      const never = subject.never?.[behaviour];
      if (never !== undefined) {
        test.skip(`a receiver that ${behaviour}: skipped, ${never}`, () => undefined);
        continue;
      }
      test(`a receiver that ${behaviour} is a failure of the kind ${kind}, told without its words`, async () => {
        const { sink } = await open(behaviour);
        const begun = Date.now();
        const error = await failure(
          sink.deliver(MESSAGE, begun + (behaviour === 'hangs' ? 300 : 5_000)),
        );
        expect([error.kind, error.message.includes('Ana')]).toEqual([kind, false]);
        expect(error.message).toMatch(/^[\w ()]{1,60}$/);
      });
    }
  });
}

async function failure(delivery: Promise<void>): Promise<DeliveryError> {
  try {
    await delivery;
  } catch (error) {
    if (isDeliveryError(error)) return error;
    throw error;
  }
  throw new Error('expected a failed delivery');
}
