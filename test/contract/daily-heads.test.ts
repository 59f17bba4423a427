import { describe, expect, test } from '@jest/globals';
import type { HeadsArchive, KeptPart } from '../../lib/core/ports/heads-archive.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { createDailyHeads } from '../../lib/core/trail/daily-heads.ts';
import { checkHeads, compareHeads } from '../../lib/core/trail/heads.ts';
import { headsFingerprint, headsSigner } from '../../lib/core/trail/heads-key.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { shimOn } from '../support/dynamodb/shim.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { makeService, principal, START_MS, testClock, type TestClock } from '../support/harness.ts';
import { runWorld } from '../support/runs.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

const signer = headsSigner('a secret of the deployment, 32 or more');
const DAY = '2026-03-01';
const always = () => true;

/** An archive in memory. */
function archiveOf(): HeadsArchive & { readonly parts: Map<string, KeptPart & { text: string }> } {
  const parts = new Map<string, KeptPart & { text: string }>();
  const name = (day: string, part: number) => `${day}/${part}`;
  return {
    parts,
    find: (day, part) => Promise.resolve(parts.get(name(day, part))),
    keep: async (day, part, text, kept) => {
      await Promise.resolve();
      if (parts.has(name(day, part))) return false;
      parts.set(name(day, part), { ...kept, text });
      return true;
    },
  };
}

async function* linesOf(text: string): AsyncGenerator<string> {
  await Promise.resolve();
  yield* text.trimEnd().split('\n');
}

/** Five workflows in three states and two runs, of three tenants; answers all of them. */
async function work(store: StorageBackend, clock: TestClock): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const tenant of ['acme', 'plant #7', 'zeta']) {
    const { ok } = makeService(store, { clock, seed: tenant });
    const who = principal({ tenant });
    const begin = async (asset: string): Promise<string> => {
      const start = { type: 'start_workflow', procedure: 'short', asset } as const;
      const { workflow } = (await ok(who, start)).receipt;
      ids.push(`${tenant} ${workflow}`);
      return workflow;
    };
    await begin('A-1');
    if (tenant === 'zeta') continue;
    const ended = await begin('A-2');
    await ok(who, { type: 'abandon_workflow', workflow: ended, tenure: 1, reason: 'over' });
    ids.push(`${tenant} ${(await runWorld(store, clock, tenant).created()).id}`);
  }
  return ids;
}

function cases(open: () => Promise<{ readonly store: StorageBackend; close(): Promise<void> }>) {
  const world = async (run: (store: StorageBackend, clock: TestClock) => Promise<void>) => {
    const opened = await open();
    try {
      await run(opened.store, testClock());
    } finally {
      await opened.close();
    }
  };

  test('the heads of all tenants are signed in parts, each once, and each verifies by itself', () =>
    world(async (store, clock) => {
      const ids = await work(store, clock);
      const archive = archiveOf();
      const heads = createDailyHeads({ store, archive, signer, clock, partHeads: 2 });
      expect(await heads.due()).toBe(true);
      const signed = await heads.sign(always);
      expect(signed).toMatchObject({ heads: ids.length, more: false });
      expect(await heads.due()).toBe(false);
      expect(await heads.sign(always)).toEqual({ parts: 0, heads: 0, more: false });
      const found: string[] = [];
      const pin = headsFingerprint(signer.publicKey);
      for (let part = 1; part <= signed.parts; part++) {
        const { text = '' } = archive.parts.get(`${DAY}/${part}`) ?? {};
        const more = part < signed.parts;
        expect(await checkHeads(linesOf(text), pin)).toMatchObject({ ok: true, part, more });
        for await (const fault of compareHeads(store, linesOf(text))) expect(fault).toBeUndefined();
        for await (const line of linesOf(text)) {
          const { type, tenant, workflow } = JSON.parse(line) as Record<string, string>;
          if (type === 'head') found.push(`${tenant} ${workflow}`);
        }
      }
      expect(signed.parts).toBeGreaterThan(2);
      expect(new Set(found)).toEqual(new Set(ids));
      expect(found).toHaveLength(ids.length);
    }));

  test('whoever runs out of time, or ends in the middle, is gone on from behind the last whole part', () =>
    world(async (store, clock) => {
      const ids = await work(store, clock);
      const archive = archiveOf();
      const process = () => createDailyHeads({ store, archive, signer, clock, partHeads: 2 });
      let heads = 0;
      for (let more = true; more;) {
        const other = process();
        expect(await other.due()).toBe(true);
        const signed = await other.sign(() => false);
        expect(signed.parts).toBe(1);
        ({ more } = signed);
        heads += signed.heads;
      }
      expect(heads).toBe(ids.length);
      expect(await process().due()).toBe(false);
    }));

  test('of two at once each part is written by one of them, and the next day begins anew', () =>
    world(async (store, clock) => {
      const ids = await work(store, clock);
      const archive = archiveOf();
      const process = () => createDailyHeads({ store, archive, signer, clock, partHeads: 2 });
      const both = await Promise.all([process().sign(always), process().sign(always)]);
      expect(both.map(({ more }) => more)).toEqual([false, false]);
      expect(both.reduce((sum, { heads }) => sum + heads, 0)).toBe(ids.length);
      const heads = process();
      expect(await heads.due()).toBe(false);
      clock.set(START_MS + 86_400_000);
      expect(await heads.due()).toBe(true);
      expect(await heads.sign(always)).toMatchObject({ heads: ids.length, more: false });
      expect([...archive.parts.keys()].some((name) => name.startsWith('2026-03-02/'))).toBe(true);
    }));

  test('of a store without any work an empty list is signed', () =>
    world(async (store, clock) => {
      const archive = archiveOf();
      const heads = createDailyHeads({ store, archive, signer, clock });
      expect(await heads.sign(always)).toEqual({ parts: 1, heads: 0, more: false });
      expect(await heads.due()).toBe(false);
    }));
}

describe('the heads of each day on sqlite', () => {
  cases(async () => {
    const files = sqliteFiles();
    const store = await files.open();
    return {
      store,
      close: async () => {
        await store.close();
        await files.remove();
      },
    };
  });
});

describeOnDynamo('the heads of each day on dynamodb', () => {
  const world = dynamoWorld();

  test('no table is scanned for them', async () => {
    const client = world.client();
    const shim = shimOn(client);
    const clock = testClock();
    const store = world.open(clock, client);
    const ids = await work(store, clock);
    shim.sent();
    const archive = archiveOf();
    const heads = createDailyHeads({ store, archive, signer, clock, partHeads: 2 });
    expect(await heads.sign(always)).toMatchObject({ heads: ids.length, more: false });
    expect(new Set(shim.sent())).toEqual(new Set(['BatchGetItem', 'Query']));
    await store.close();
  });
});
