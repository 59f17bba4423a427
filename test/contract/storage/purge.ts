import { expect, test } from '@jest/globals';
import type { ItemKey } from '../../../lib/core/ports/storage.ts';
import { create, type UseBench } from './bench.ts';

/** Deleted values leave the backend's own logs too. */
export function purgeCases(use: UseBench): void {
  const key = (tenant: string, seq: number) =>
    ({ kind: 'vault', tenant, workflow: 'w1', seq }) as const satisfies ItemKey;

  test('a purge keeps what is there and answers that it has happened', async () => {
    const { store, commit, tenant } = use();
    const item = (seq: number) => ({
      format: 1,
      tenant,
      workflow: 'w1',
      seq,
      key: 'k',
      value: 'v',
    });
    await commit(create(key(tenant, 1), item(1)), create(key(tenant, 2), item(2)));
    await commit({ op: 'delete', key: key(tenant, 1), expect: {} });
    expect(await store.purge()).toBe(true);
    expect(await store.snapshot([key(tenant, 1), key(tenant, 2)])).toEqual([undefined, item(2)]);
  });

  test('a store that is used by others is purged too, and stays usable by all', async () => {
    const { store, reopen, commit, tenant } = use();
    const other = await reopen();
    await commit(
      create(key(tenant, 1), { format: 1, tenant, workflow: 'w1', seq: 1, key: 'k', value: 'v' }),
    );
    expect(await other.purge()).toBe(true);
    await other.close();
    await commit({ op: 'delete', key: key(tenant, 1), expect: {} });
    expect(await store.purge()).toBe(true);
    expect(await store.snapshot([key(tenant, 1)])).toEqual([undefined]);
  });
}
