// Sizes that only this backend can add up before it writes.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Write } from '../../../lib/core/ports/storage.ts';
import { createWorkflow, faultOf, workflowKey } from '../../contract/storage/bench.ts';
import { sqliteFiles, type SqliteFiles } from '../../support/sqlite-files.ts';

const tenant = 'acme';
let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

test('small updates of large items are refused for all that the items hold', async () => {
  const store = await files.open();
  const commit = (...writes: Write[]) => store.commit({ writes }, files.clock.now() + 10_000);
  const ids = Array.from({ length: 12 }, (_, i) => `w${i}`);
  const filler = 'x'.repeat(380_000);
  for (const id of ids) await commit(createWorkflow({ tenant, id }, { filler }));
  const updates = ids.map((id): Write => {
    const set = { version: 2 };
    return { op: 'update', key: workflowKey(tenant, id), expect: {}, set };
  });
  const refused = { kind: 'terminal', code: 'PLAN_REFUSED' };
  expect(await faultOf(commit(...updates))).toMatchObject(refused);
  const [first] = await store.snapshot([workflowKey(tenant, 'w0')]);
  expect(first?.version).toBe(1);
});
