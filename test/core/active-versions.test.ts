import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { activeVersions } from '../../lib/core/active-versions.ts';
import type { Workflow } from '../../lib/core/model/workflow.ts';
import type { Write } from '../../lib/core/ports/storage.ts';
import { createWorkflow } from '../contract/storage/bench.ts';
import { testRegistry } from '../support/harness.ts';
import { sqliteFiles, type SqliteFiles } from '../support/sqlite-files.ts';

let files: SqliteFiles;
beforeEach(() => {
  files = sqliteFiles();
});
afterEach(() => files.remove());

test('versions of active workflows are counted over all tenants, and told whether they are known', async () => {
  const store = await files.open();
  const add = (tenant: string, ...states: readonly [string, string, number][]) =>
    store.commit(
      {
        writes: states.map(([state, procedure, version], i): Write => {
          const part = { state, procedure, procedure_version: version };
          return createWorkflow(
            { tenant, id: `w${i}` },
            part as Partial<Workflow> & Record<string, unknown>,
          );
        }),
      },
      files.clock.now() + 1_000,
    );
  await add('acme', ['CREATED', 'short', 1], ['RUNNING', 'short', 2], ['COMPLETED', 'gone', 1]);
  await add('beta', ['BLOCKED', 'short', 2], ['RUNNING', 'gone', 3]);
  expect(await activeVersions(store, testRegistry())).toEqual([
    { procedure: 'gone', version: 3, workflows: 1, tenants: ['beta'], known: false },
    { procedure: 'short', version: 1, workflows: 1, tenants: ['acme'], known: true },
    { procedure: 'short', version: 2, workflows: 2, tenants: ['acme', 'beta'], known: false },
  ]);
});

test('more workflows than a page holds are all counted', async () => {
  const store = await files.open();
  for (let page = 0; page < 3; page++) {
    const writes = Array.from({ length: 70 }, (_, i) =>
      createWorkflow({ tenant: 'acme', id: `w${page}-${i}` }),
    );
    await store.commit({ writes }, files.clock.now() + 1_000);
  }
  const [short] = await activeVersions(store, testRegistry());
  expect(short).toMatchObject({ procedure: 'short', version: 1, workflows: 210, known: true });
});
