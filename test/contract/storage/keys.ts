import { expect, test } from '@jest/globals';
import type { Lock, OutboxRow, Pointer, VaultRow } from '../../../lib/core/model/workflow.ts';
import type { Items, ItemKey, ItemKind, Write } from '../../../lib/core/ports/storage.ts';
import { ledgerOf, lockOf, startTransaction, workflowOf } from '../../support/plans.ts';
import { create, createWorkflow, workflowKey, type UseBench } from './bench.ts';

/** Names that a careless encoding would break or take for one another. */
const NAMES = [
  '%',
  '%25',
  '%2525',
  '#',
  '%23',
  'a#b',
  'a%23b',
  '/',
  '\\',
  'a/b',
  '\n',
  'a\nb',
  '\t',
  '\u0000',
  'a\u0000b',
  '\u007f',
  ' ',
  'a ',
  ' a',
  'a',
  'A',
  "'",
  '"; DROP TABLE workflows; --',
  '_',
  '*',
  '?',
  'é',
  'e\u0301',
  'ß',
  'ss',
  'İ',
  'i',
  '日本',
  '🔧',
  '🔧\u200d',
  '\u{10ffff}',
  'STATE',
  'LOCK',
  '__proto__',
  'constructor',
];

/** Key parts of every kind, with all that people and attackers put in them. */
export function keyCases(use: UseBench): void {
  test('every name is a workflow of its own, and is given back as it was', async () => {
    const { store, commit, tenant } = use();
    expect(await commit(...NAMES.map((id) => createWorkflow({ tenant, id })))).toEqual({
      ok: true,
    });
    const found = await store.snapshot(NAMES.map((id) => workflowKey(tenant, id)));
    expect(found.map((item) => item?.id)).toEqual(NAMES);
  });

  test.each<readonly [string, (tenant: string, name: string) => Items[ItemKind], ItemKind]>([
    ['asset', (tenant, asset): Lock => lockOf({ tenant, asset }), 'lock'],
    ['ledger key', (tenant, key) => ledgerOf(tenant, key, 1), 'ledger'],
    ['subject', (tenant, subject): Pointer => pointerOf(tenant, subject, 'w1'), 'pointer'],
    ['workflow of a pointer', (tenant, id): Pointer => pointerOf(tenant, 'dev:ana', id), 'pointer'],
    ['lane', (tenant, lane): OutboxRow => outboxOf(tenant, 'w1', lane), 'outbox'],
    ['workflow of a vault row', (tenant, id): VaultRow => vaultOf(tenant, id), 'vault'],
  ])('every name is a %s of its own', async (_what, itemOf, kind) => {
    const { store, commit, tenant } = use();
    const writes = NAMES.map((name) => ownWrite(kind, itemOf(tenant, name)));
    expect(await commit(...writes)).toEqual({ ok: true });
    const found = await store.snapshot(writes.map(({ key }) => key));
    expect(found).toEqual(NAMES.map((name) => itemOf(tenant, name)));
  });

  test('every name is a tenant of its own', async () => {
    const { store, clock, tenant } = use();
    const tenants = NAMES.map((name) => `${tenant}:${name}`);
    for (const name of tenants) {
      const start = startTransaction({ tenant: name });
      expect(await store.commit(start, clock.now() + 10_000)).toEqual({ ok: true });
    }
    for (const name of tenants) {
      const { items } = await store.listWorkflows(name, 'CREATED', { limit: 10 });
      expect(items).toEqual([workflowOf({ tenant: name }).workflow]);
      expect(await store.listPointers(name, 'dev:ana', 10)).toHaveLength(1);
      const events = await store.listEvents(name, 'w1', { after: 0, limit: 10 });
      expect(events.map((event) => event.tenant)).toEqual([name]);
    }
  });

  test.each([
    ['a tenant that ends like a key', ['a#W', 'b'], ['a', 'W#b']],
    ['an encoded separator', ['a%23W', 'b'], ['a', '%23W#b']],
    ['a separator at the border', ['a#', 'b'], ['a', '#b']],
    ['a percent at the border', ['a%', '23'], ['a%23', '']],
    ['a newline at the border', ['a\n', 'b'], ['a', '\nb']],
    ['an id that looks like a sort key', ['a', 'b\nSTATE'], ['a', 'b']],
  ] as const)('%s never makes two names one', async (_what, one, two) => {
    const { store, clock, tenant } = use();
    const names = [one, two].map(([first, id]) => ({ tenant: `${tenant}${first}`, id }));
    for (const name of names) {
      const result = await store.commit({ writes: [createWorkflow(name)] }, clock.now() + 10_000);
      expect(result).toEqual({ ok: true });
    }
    for (const name of names) {
      const [item] = await store.snapshot([workflowKey(name.tenant, name.id)]);
      expect(item).toMatchObject(name);
    }
  });

  test('events, vault rows and outbox rows of one workflow do not meet', async () => {
    const { store, commit, tenant } = use();
    const { event } = workflowOf({ tenant });
    const items: Write[] = [
      ownWrite('event', event),
      ownWrite('vault', vaultOf(tenant, 'w1')),
      ownWrite('outbox', outboxOf(tenant, 'w1', 'E')),
      ownWrite('outbox', outboxOf(tenant, 'w1', 'E#000000000001')),
      createWorkflow({ tenant }),
    ];
    expect(await commit(...items)).toEqual({ ok: true });
    expect(await store.listEvents(tenant, 'w1', { after: 0, limit: 10 })).toEqual([event]);
    expect(await store.listOutbox(tenant, 'w1', 10)).toHaveLength(2);
  });

  test('a key with half of a character pair finds nothing', async () => {
    const { store, commit, tenant } = use();
    await commit(createWorkflow({ tenant, id: '\ufffd' }));
    expect(await store.snapshot([workflowKey(tenant, '\ud800')])).toEqual([undefined]);
    expect(await store.listEvents(tenant, '\udfff', { after: 0, limit: 10 })).toEqual([]);
  });
}

function pointerOf(tenant: string, subject: string, workflow: string): Pointer {
  const rest = { asset: 'A-1', procedure: 'short', since: '2026-03-01T09:00:00.000Z' };
  return { format: 1, tenant, subject, workflow, ...rest };
}

function outboxOf(tenant: string, workflow: string, lane: string): OutboxRow {
  const row = { seq: 1, id: 'o1', payload: {}, rev: 0, attempts: 0, due_at: 0 };
  return { format: 1, tenant, workflow, lane, ...row };
}

function vaultOf(tenant: string, workflow: string): VaultRow {
  return { format: 1, tenant, workflow, seq: 1, key: 'k', value: 'v' };
}

const IDENTITY: { readonly [K in ItemKind]: readonly string[] } = {
  workflow: ['tenant', 'id'],
  event: ['tenant', 'workflow', 'seq'],
  ledger: ['tenant', 'key'],
  lock: ['tenant', 'asset'],
  pointer: ['tenant', 'subject', 'workflow'],
  vault: ['tenant', 'workflow', 'seq'],
  outbox: ['tenant', 'workflow', 'lane', 'seq'],
  run: ['tenant', 'id'],
  evidence: ['tenant', 'run', 'seq'],
  ticket: ['tenant', 'key'],
};

function ownWrite(kind: ItemKind, item: Items[ItemKind]): Write {
  const attributes = item as unknown as Record<string, string | number>;
  const entries = IDENTITY[kind].map((name) => [name, attributes[name]]);
  return create({ kind, ...Object.fromEntries(entries) } as ItemKey, item);
}
