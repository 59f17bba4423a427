/** The contract of the ticket port: what every provider keeps, whatever it speaks. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isDeliveryError, type DeliveryError } from '../../../lib/core/ports/sink.ts';
import type { TicketOrder, TicketProvider } from '../../../lib/core/ports/tickets.ts';
import { differences } from '../../../lib/core/runs/read-back.ts';
import type { DeskBehaviour } from '../../support/ticket-desks.ts';

/** A provider in front of what keeps its tickets. */
export interface TicketBench {
  readonly provider: TicketProvider;
  /** Whose tickets they are: nobody wrote one before. */
  readonly tenant: string;
  readonly now: () => number;
  /** How many tickets are kept under a key, open or closed. */
  count(key: string): Promise<number> | number;
  /** Alters one argument of the kept ticket, as somebody with access to the system could. */
  alter(key: string): Promise<void> | void;
  /** Closes the tickets under a key; left out where there is no such thing. */
  finish?(key: string): void;
  /** Changes how the system behaves. */
  behave(as: DeskBehaviour | 'gone'): Promise<void> | void;
  close(): Promise<void>;
}

/** Opens one. */
export interface TicketSubject {
  readonly name: string;
  open(): Promise<TicketBench>;
  /** Behaviours that cannot be shown here, each with why. */
  readonly never?: Partial<Record<TicketFailure, string>>;
}

/** The ways in which a system can fail. */
export type TicketFailure = (typeof FAILURES)[number][0];

/** What is ordered. */
export const ORDER: Omit<TicketOrder, 'tenant'> = {
  key: 'c0ffee00c0ffee00c0ffee00c0ffee00',
  action_hash: 'ab'.repeat(32),
  type: 'ticket.create',
  target: 'payments',
  arguments: {
    summary: 'Payments are failing',
    description: 'Every second request fails.\n„Ana“ says: 100 % 🙈',
    severity: 2,
    labels: ['p1', 'card'],
    page: false,
  },
};

/** What a write that meets a behaviour becomes. */
const FAILURES = [
  ['throttles', 'retryable', 0],
  ['denies', 'retryable', 0],
  ['gone', 'retryable', 0],
  ['refuses', 'terminal', 0],
  ['breaks', 'unknown', 0],
  ['hangs', 'unknown', 0],
  ['babbles', 'unknown', 0],
  ['floods', 'unknown', 0],
  ['loses', 'unknown', 1],
] as const;

const SAID: Readonly<Record<string, string>> = { gone: 'is gone', loses: 'loses its answer' };

/** Declares the cases for one provider. */
export function ticketContract(subject: TicketSubject): void {
  describe(`the ticket provider ${subject.name}`, () => {
    let bench: TicketBench;
    beforeEach(async () => {
      bench = await subject.open();
    });
    afterEach(() => bench.close());
    const soon = (ms = 5_000): number => bench.now() + ms;
    const write = (order: typeof ORDER, by: number) =>
      bench.provider.create({ tenant: bench.tenant, ...order }, by);
    const create = (order = ORDER) => write(order, soon());
    const find = (key = ORDER.key) => bench.provider.find(bench.tenant, key, soon());

    test('has its name', () => {
      expect(bench.provider.name).toBe(subject.name);
    });

    test('finds nothing under a key that nothing was written under', async () => {
      expect(await find()).toBeUndefined();
    });

    test('reads back what it wrote, field by field', async () => {
      const reference = await create();
      expect(await bench.count(ORDER.key)).toBe(1);
      const found = await find();
      expect(found?.reference).toBe(reference);
      expect(
        found === undefined ? ['nothing'] : differences({ tenant: bench.tenant, ...ORDER }, found),
      ).toEqual([]);
      expect(await find('another')).toBeUndefined();
    });

    test('has one effect under one key, and answers every repeat with its reference', async () => {
      const references = [
        await create(),
        await create(),
        ...(await Promise.all([create(), create()])),
      ];
      expect(new Set(references).size).toBe(1);
      expect(await bench.count(ORDER.key)).toBe(1);
    });

    test('writes another ticket under another key', async () => {
      const one = await create();
      const two = await create({ ...ORDER, key: 'another' });
      expect(one).not.toBe(two);
      expect([await bench.count(ORDER.key), await bench.count('another')]).toEqual([1, 1]);
    });

    test('shows what somebody changed, so that the write is not taken for verified', async () => {
      await create();
      await bench.alter(ORDER.key);
      const found = await find();
      expect(
        found === undefined ? [] : differences({ tenant: bench.tenant, ...ORDER }, found),
      ).toEqual(['arguments.summary']);
    });

    test('reaches as far with its key as it states', async () => {
      const first = await create();
      bench.finish?.(ORDER.key);
      if (bench.provider.idempotency === 'always') {
        expect(await create()).toBe(first);
        expect(await bench.count(ORDER.key)).toBe(1);
        return;
      }
      // A look before the next attempt finds the closed one, the first of them where there are more.
      expect((await find())?.reference).toBe(first);
      expect(await create()).not.toBe(first);
      expect((await find())?.reference).toBe(first);
    });

    for (const [behaviour, kind, tickets] of FAILURES) {
      const never = subject.never?.[behaviour];
      if (never !== undefined) {
        test.skip(`a system that ${behaviour}: skipped, ${never}`, () => undefined);
        continue;
      }
      test(`a write to a system that ${SAID[behaviour] ?? behaviour} fails as ${kind}, and a read afterwards tells`, async () => {
        await bench.behave(behaviour);
        const late = behaviour === 'hangs' ? 300 : 5_000;
        const error = await failure(write(ORDER, soon(late)));
        expect([error.kind, error.message.includes('Ana')]).toEqual([kind, false]);
        expect(await bench.count(ORDER.key)).toBe(tickets);
        if (behaviour === 'gone') return;
        await bench.behave('serves');
        expect((await find())?.key).toBe(tickets === 0 ? undefined : ORDER.key);
        await create();
        expect(await bench.count(ORDER.key)).toBe(1);
      });

      test(`a read from a system that ${SAID[behaviour] ?? behaviour} fails, and is never taken for nothing`, async () => {
        await create();
        await bench.behave(behaviour);
        const late = behaviour === 'hangs' ? 300 : 5_000;
        const error = await failure(bench.provider.find(bench.tenant, ORDER.key, soon(late)));
        expect([error.kind, error.message.includes('Ana')]).toEqual([kind, false]);
      });
    }
  });
}

async function failure(delivery: Promise<unknown>): Promise<DeliveryError> {
  try {
    await delivery;
  } catch (error) {
    if (isDeliveryError(error)) return error;
    throw error;
  }
  throw new Error('expected a failed delivery');
}
