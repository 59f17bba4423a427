import { describe, expect, test } from '@jest/globals';
import { indexChange } from '../../../lib/adapters/dynamodb/keys.ts';
import { createTableInput, tableNameFault } from '../../../lib/adapters/dynamodb/table.ts';

describe('the table', () => {
  test('has one key, two sparse indexes of keys only, and no stream unless asked for', () => {
    const keys = (partition: string, sort: string) => [
      { AttributeName: partition, KeyType: 'HASH' },
      { AttributeName: sort, KeyType: 'RANGE' },
    ];
    const index = (name: string) => ({
      IndexName: name,
      KeySchema: keys(`${name}pk`, `${name}sk`),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    });
    const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' });
    const input = {
      TableName: 'checkpoint',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk', 'gsi2pk', 'gsi2sk'].map(text),
      KeySchema: keys('pk', 'sk'),
      GlobalSecondaryIndexes: [index('gsi1'), index('gsi2')],
    };
    expect(createTableInput('checkpoint')).toEqual(input);
    expect(createTableInput('checkpoint', { stream: true })).toEqual({
      ...input,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    });
  });

  test.each([
    ['abc', undefined],
    ['a'.repeat(255), undefined],
    ['Check_point-1.dev', undefined],
    ['ab', 'expected 3 to 255 characters'],
    ['a'.repeat(256), 'expected 3 to 255 characters'],
    ['check point', 'expected letters, digits, "_", "-" and "." only'],
    ['tablé', 'expected letters, digits, "_", "-" and "." only'],
  ])('takes the name %j: %s', (name, fault) => {
    expect(tableNameFault(name)).toBe(fault);
  });
});

describe('index entries', () => {
  const workflow = { kind: 'workflow', tenant: 'acme', id: 'w1' } as const;

  test('an active workflow with a due time is due work, and leaves it with the time', () => {
    const due = indexChange(workflow, { due_at: 1_772_355_600_000 }, [], 16);
    expect(due).toEqual({
      set: { gsi1pk: 'DUE#0', gsi1sk: '001772355600000#w1' },
      remove: [],
    });
    expect(indexChange(workflow, { state: 'COMPLETED' }, ['due_at'], 16)).toEqual({
      set: { gsi2pk: 'T#acme#W#COMPLETED' },
      remove: ['gsi1pk', 'gsi1sk'],
    });
  });

  test('all work of one aggregate is in one shard, and the shards fill evenly', () => {
    const shardOf = (id: string) =>
      indexChange({ ...workflow, id }, { due_at: 0 }, [], 16).set['gsi1pk'] ?? '';
    const row = { kind: 'outbox', tenant: 'acme', workflow: 'w1', lane: 'l', seq: 1 } as const;
    expect(indexChange(row, { due_at: 0 }, [], 16).set['gsi1pk']).toBe(shardOf('w1'));
    const counts = new Map<string, number>();
    for (let n = 0; n < 1_600; n++) {
      const shard = shardOf(`w${n}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(16);
    expect(Math.min(...counts.values())).toBeGreaterThan(60);
  });

  test('a change that concerns no index touches none', () => {
    expect(indexChange(workflow, { version: 2 }, ['block'], 16)).toEqual({ set: {}, remove: [] });
    const ledger = { kind: 'ledger', tenant: 'acme', key: 'k' } as const;
    expect(indexChange(ledger, { expires_at: 1 }, [], 16)).toEqual({ set: {}, remove: [] });
  });

  test('names of any length leave an entry that fits, and different ones stay apart', () => {
    const long = 'é'.repeat(900);
    const entries = [`${long}a`, `${long}b`].map(
      (id) => indexChange({ ...workflow, id, tenant: long }, { created_at: '2026' }, [], 16).set,
    );
    expect(new Set(entries.map((set) => set['gsi2sk'])).size).toBe(2);
    for (const set of entries) {
      for (const text of Object.values(set)) {
        expect(Buffer.byteLength(text, 'utf8')).toBeLessThanOrEqual(100);
        expect(text.isWellFormed()).toBe(true);
      }
    }
  });
});
