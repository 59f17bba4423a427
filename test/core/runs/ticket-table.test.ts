import { describe, expect, test } from '@jest/globals';
import { Fault, type FaultKind } from '../../../lib/core/fault.ts';
import type { CommitResult, StorageBackend } from '../../../lib/core/ports/storage.ts';
import type { TicketOrder } from '../../../lib/core/ports/tickets.ts';
import { ticketTable } from '../../../lib/core/runs/ticket-table.ts';
import { testClock } from '../../support/harness.ts';

const order: TicketOrder = {
  tenant: 'acme',
  key: 'k'.repeat(32),
  action_hash: 'ab'.repeat(32),
  type: 'ticket.create',
  target: 'payments',
  arguments: { summary: 'Payments are failing' },
};

const clock = testClock();
const soon = (): number => clock.now() + 1_000;
const over = (parts: Partial<StorageBackend>) => ticketTable(parts as StorageBackend, clock);
const throws = (kind: FaultKind) => () =>
  Promise.reject(new Fault(kind, 'BACKEND_UNAVAILABLE', 'the disk of Ana is full'));

describe('a fault of the store', () => {
  test.each<FaultKind>(['retryable', 'unknown', 'terminal'])(
    'that is %s is a failed delivery of that kind, told without its words',
    async (kind) => {
      const table = over({ commit: throws(kind), snapshot: throws(kind) });
      const failed = { name: 'DeliveryError', kind, message: 'BACKEND_UNAVAILABLE' };
      await expect(table.create(order, soon())).rejects.toMatchObject(failed);
      await expect(table.find('acme', order.key, soon())).rejects.toMatchObject(failed);
    },
  );

  test('that is none of ours is a bug, and is not hidden', async () => {
    const table = over({ snapshot: () => Promise.reject(new TypeError('x is undefined')) });
    await expect(table.find('acme', order.key, soon())).rejects.toThrow(TypeError);
  });
});

describe('a write', () => {
  const refused: CommitResult = { ok: false, failed: [] };
  const over409 = (row: object | undefined) =>
    over({
      commit: () => Promise.resolve(refused),
      snapshot: (() => Promise.resolve([row])) as StorageBackend['snapshot'],
    });

  test('whose key holds another ticket will never be taken', async () => {
    const { tenant: _tenant, ...held } = order;
    const table = over409({ ...held, target: 'search', reference: 'ticket-1' });
    await expect(table.create(order, soon())).rejects.toMatchObject({
      kind: 'terminal',
      message: 'another ticket has this key',
    });
  });

  test('that met others, with nothing there afterwards, can be tried again', async () => {
    await expect(over409(undefined).create(order, soon())).rejects.toMatchObject({
      kind: 'retryable',
    });
  });

  test('without time left sends nothing', async () => {
    const table = over({
      commit: () => Promise.reject(new Error('sent')),
      snapshot: () => Promise.reject(new Error('sent')),
    });
    const failed = { kind: 'retryable', message: 'no time was left' };
    await expect(table.create(order, clock.now())).rejects.toMatchObject(failed);
    await expect(table.find('acme', 'k', clock.now())).rejects.toMatchObject(failed);
  });
});
