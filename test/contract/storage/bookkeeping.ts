import { expect, test } from '@jest/globals';
import { makeService, principal } from '../../support/harness.ts';
import type { UseBench } from './bench.ts';

/** People a tenant has seen, and procedures a deployment has registered. */
export function bookkeepingCases(use: UseBench): void {
  const ana = { subject: 'dev:ana', name: 'Ana María' };

  test.each([
    ['the subject', 'dev:ana'],
    ['the name', 'Ana María'],
    ['the name in other case', 'ANA MARÍA'],
    ['the name with other spaces', '  ana   maría '],
    ['the name in another Unicode form', 'Ana Mari\u0301a'],
  ])('a person is found by %s', async (_what, text) => {
    const { store, tenant } = use();
    await store.noteProfile({ tenant, ...ana });
    expect(await store.findProfiles(tenant, text, 5)).toEqual([{ tenant, ...ana }]);
  });

  test.each(['Ana', 'dev:an', 'DEV:ANA', 'Ana Maria', '', '%', 'Ana%'])(
    'a person is not found by %j',
    async (text) => {
      const { store, tenant } = use();
      await store.noteProfile({ tenant, ...ana });
      expect(await store.findProfiles(tenant, text, 5)).toEqual([]);
    },
  );

  test('two people of one name are both found, in a stable order, up to the limit', async () => {
    const { store, tenant } = use();
    const people = ['dev:c', 'dev:a', 'dev:b'].map((subject) => ({ tenant, subject, name: 'Kim' }));
    for (const person of people) await store.noteProfile(person);
    const subjects = async (limit: number) =>
      (await store.findProfiles(tenant, 'kim', limit)).map(({ subject }) => subject);
    expect(await subjects(10)).toEqual(['dev:a', 'dev:b', 'dev:c']);
    expect(await subjects(2)).toEqual(['dev:a', 'dev:b']);
  });

  test('a person whose subject is meant comes before people of that name', async () => {
    const { store, tenant } = use();
    await store.noteProfile({ tenant, subject: 'a', name: 'kim' });
    await store.noteProfile({ tenant, subject: 'kim', name: 'Zoe' });
    const found = await store.findProfiles(tenant, 'kim', 1);
    expect(found).toEqual([{ tenant, subject: 'kim', name: 'Zoe' }]);
  });

  test('noting a person again changes only the name', async () => {
    const { store, tenant } = use();
    await store.noteProfile({ tenant, ...ana });
    await store.noteProfile({ tenant, ...ana });
    await store.noteProfile({ tenant, subject: 'dev:ana', name: 'Ana Luz' });
    expect(await store.findProfiles(tenant, 'Ana María', 5)).toEqual([]);
    expect(await store.findProfiles(tenant, 'ana luz', 5)).toEqual([
      { tenant, subject: 'dev:ana', name: 'Ana Luz' },
    ]);
  });

  test('work is handed over to a person by name, and asked about where there are two', async () => {
    const { store, clock, tenant } = use();
    const { ok, execute } = makeService(store, { clock });
    const start = { type: 'start_workflow', procedure: 'short', asset: 'A-1' } as const;
    const { workflow } = (await ok(principal({ tenant }), start)).receipt;
    await store.noteProfile({ tenant, subject: 'dev:bea', name: 'Bea' });
    const over = { type: 'hand_over', workflow, to: 'BEA', tenure: 1 } as const;
    await store.noteProfile({ tenant, subject: 'dev:bea2', name: 'bea' });
    expect(await execute(principal({ tenant }), over)).toMatchObject({
      code: 'AMBIGUOUS',
      about: 'person',
      total: 2,
    });
    expect(await ok(principal({ tenant }), { ...over, to: 'dev:bea' })).toMatchObject({
      workflow: { holder: 'Bea', tenure: 2 },
    });
    expect(await store.listPointers(tenant, 'dev:ana', 5)).toEqual([]);
    expect(await store.listPointers(tenant, 'dev:bea', 5)).toHaveLength(1);
  });

  test('the first digest of a procedure version wins', async () => {
    const { store, reopen, tenant } = use();
    const id = `procedure-${tenant}`;
    expect(await store.registerProcedure(id, 1, 'one')).toBe('one');
    expect(await store.registerProcedure(id, 1, 'two')).toBe('one');
    expect(await store.registerProcedure(id, 2, 'two')).toBe('two');
    expect(await (await reopen()).registerProcedure(id, 1, 'three')).toBe('one');
  });

  test('of twenty digests at once one wins, and all hear of it', async () => {
    const { store, tenant } = use();
    const digests = Array.from({ length: 20 }, (_, i) => `digest ${i}`);
    const heard = await Promise.all(
      digests.map((digest) => store.registerProcedure(`race-${tenant}`, 1, digest)),
    );
    expect(new Set(heard).size).toBe(1);
    expect(digests).toContain(heard[0]);
  });
}
