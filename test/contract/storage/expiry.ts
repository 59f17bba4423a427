import { expect, test } from '@jest/globals';
import { ledgerRowIsValid } from '../../../lib/core/ledger.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { ItemKey, StorageBackend } from '../../../lib/core/ports/storage.ts';
import { makeService, principal, START_MS } from '../../support/harness.ts';
import { ledgerOf } from '../../support/plans.ts';
import { create, ledgerKey, type UseBench } from './bench.ts';

const NOW = START_MS / 1000;
const DAY = 86_400;

/** Presence is never validity: expiry is compared with the clock, and nobody waits for a reaper. */
export function expiryCases(use: UseBench): void {
  test.each([
    ['expired a second ago', NOW - 1, true],
    ['expires this very second', NOW, true],
    ['expires in one second', NOW + 1, false],
  ])('a row that %s is written over: %s %s', async (_what, expiresAt, free) => {
    const { store, commit, tenant } = use();
    const key = ledgerKey(tenant, 'k1');
    const old = { ...ledgerOf(tenant, 'k1', expiresAt), later: 'unknown' };
    const fresh = { ...ledgerOf(tenant, 'k1', NOW + 60), operation: 'record_step' };
    await commit(create(key, old));
    const result = await commit(create(key, fresh, NOW));
    expect(result).toEqual(free ? { ok: true } : { ok: false, failed: [{ key, item: old }] });
    expect(await store.snapshot([key])).toEqual([free ? fresh : old]);
    expect(ledgerRowIsValid(old, START_MS)).toBe(!free);
  });

  test('an expired row is in the way where expiry is not asked for', async () => {
    const { commit, tenant } = use();
    const key = ledgerKey(tenant, 'k1');
    await commit(create(key, ledgerOf(tenant, 'k1', NOW - 1)));
    expect((await commit(create(key, ledgerOf(tenant, 'k1', NOW + 1)))).ok).toBe(false);
  });

  test('an expired row is still read, for the caller has the clock', async () => {
    const { store, commit, tenant } = use();
    const row = ledgerOf(tenant, 'k1', NOW - 1_000);
    await commit(create(ledgerKey(tenant, 'k1'), row));
    expect(await store.snapshot([ledgerKey(tenant, 'k1')])).toEqual([row]);
  });

  test('a key replays for thirty days, and then is free for another command', async () => {
    const { store, clock, tenant } = use();
    const { ok, execute } = makeService(store, { clock });
    const who = principal({ tenant });
    const start = (asset: string): Command => ({
      type: 'start_workflow',
      procedure: 'short',
      asset,
      key: 'k1',
    });
    await ok(who, start('A-1'));
    clock.advance(30 * DAY * 1000 - 1_000);
    expect((await ok(who, start('A-1'))).duplicate).toBe(true);
    expect((await execute(who, start('A-2'))).code).toBe('IDEMPOTENCY_CONFLICT');
    clock.advance(1_000);
    expect((await ok(who, start('A-2'))).duplicate).toBe(false);
    expect((await ok(who, start('A-2'))).duplicate).toBe(true);
  });

  test('only the ledger row of a command expires, in whole seconds, thirty days later', async () => {
    const { store, clock, tenant } = use();
    clock.advance(999);
    const { store: noted, written } = writesOf(store);
    const { ok } = makeService(noted, { clock });
    const who = principal({ tenant });
    const start: Command = {
      type: 'start_workflow',
      procedure: 'sample',
      asset: 'UNIT-1',
      key: 'k',
    };
    const { workflow } = (await ok(who, start)).receipt;
    const keyed = { workflow, key: 'k2' };
    const reading = { kind: 'text', text: 'four two' } as const;
    await ok(who, { type: 'record_step', ...keyed, step: 'code', input: reading });
    const items = await store.snapshot(written.keys);
    const expiring = items.filter((item) => item !== undefined && 'expires_at' in item);
    expect(expiring.map((item) => item && 'expires_at' in item && item.expires_at)).toEqual([
      NOW + 30 * DAY,
      NOW + 30 * DAY,
    ]);
    expect(items).toHaveLength(8);
  });
}

/** The store, and the keys of everything that is written through it. */
function writesOf(store: StorageBackend) {
  const seen = new Map<string, ItemKey>();
  return {
    written: {
      get keys() {
        return [...seen.values()];
      },
    },
    store: {
      ...store,
      commit: ((transaction, deadlineMs) => {
        for (const { key } of transaction.writes) seen.set(JSON.stringify(key), key);
        return store.commit(transaction, deadlineMs);
      }) satisfies typeof store.commit,
    },
  };
}
