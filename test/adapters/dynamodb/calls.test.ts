import { expect, test } from '@jest/globals';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import { startsEmulator } from '../../support/dynamodb/engine.ts';
import { costLine, meteredSession } from '../../support/dynamodb/session.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import { testClock } from '../../support/harness.ts';

describeOnDynamo('calls of the table', () => {
  const world = dynamoWorld();

  test('one write and at most one read call per command, with exactly these items and bytes', async () => {
    const client = world.client();
    const clock = testClock();
    const store = world.open(clock, client);
    const costs = await meteredSession({ client, store, clock });
    await store.close();
    const units = startsEmulator();
    const lines = [
      'first start of a tenant in a process: TransactGetItems 2 items 350 B 4 R 0 W, TransactWriteItems 5 items 4365 B 0 R 14 W, PutItem 1 items 316 B 0 R 1 W',
      'start: TransactGetItems 2 items 350 B 4 R 0 W, TransactWriteItems 5 items 4366 B 0 R 14 W',
      'first step: TransactWriteItems 3 items 3393 B 0 R 8 W',
      'step: TransactWriteItems 3 items 3409 B 0 R 6 W',
      'sensitive step: TransactWriteItems 4 items 3902 B 0 R 8 W',
      'replay: TransactGetItems 2 items 371 B 4 R 0 W',
      'repeat without a key: TransactGetItems 1 items 193 B 2 R 0 W, Query 1 items 365 B 1 R 0 W',
      'refusal: TransactGetItems 2 items 371 B 4 R 0 W',
      'step, cold process: TransactGetItems 2 items 371 B 4 R 0 W, TransactWriteItems 3 items 3397 B 0 R 6 W',
      'question before a block: TransactGetItems 2 items 371 B 4 R 0 W',
      'block: TransactWriteItems 4 items 4778 B 0 R 11 W',
      'resolve a block: TransactWriteItems 3 items 3510 B 0 R 8 W',
      'status: TransactGetItems 1 items 193 B 2 R 0 W',
      'list of one’s own, three of them: Query 1 items 300 B 1 R 0 W, TransactGetItems 3 items 471 B 6 R 0 W',
      'list of blocked ones, none: Query 1 items 257 B 0.5 R 0 W',
      'abandon, on an old version: TransactWriteItems 5 items 4533 B 0 R 0 W, TransactWriteItems 5 items 4551 B 0 R 15 W',
      'complete: TransactWriteItems 5 items 4309 B 0 R 15 W',
    ];
    const expected = units
      ? lines
      : lines.map((line) => line.replace(/ [0-9.]+ R [0-9.]+ W/gu, ''));
    expect(costs.map((cost) => costLine(cost, units))).toEqual(expected);
    for (const { name, calls } of costs) {
      const writes = calls.filter(({ operation }) => operation.startsWith('TransactWrite'));
      expect(writes.length).toBeLessThanOrEqual(name.includes('old version') ? 2 : 1);
      const [write] = writes;
      const most = name === 'sensitive step' ? 5 : name.includes('step') ? 4 : 10;
      expect(write?.items ?? 0).toBeLessThanOrEqual(most);
    }
  });
});
