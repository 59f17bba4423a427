import { expect, test } from '@jest/globals';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { killedSweep } from '../support/killed-sweep.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

const TITLE =
  'a sweep that is killed in the middle three times is taken up after its lease: nothing is lost, nothing doubled, drift repaired once';
const LONGEST_MS = 120_000;

function expectWhole(name: string, report: Awaited<ReturnType<typeof killedSweep>>): void {
  console.info(`killed in mid-sweep (${name}): ${JSON.stringify(report)}`);
  const { rows, kills, deliveries } = report;
  expect(report).toMatchObject({ effects: rows, doubled: 0, lost: 0, left: 0, repairs: 1 });
  expect(kills).toHaveLength(3);
  // The requests that got no answer came again, under the same id.
  expect(deliveries).toBeGreaterThanOrEqual(rows + kills.length);
}

test(
  TITLE,
  async () => {
    const files = sqliteFiles();
    try {
      const opener = { module: './open-sqlite.ts', options: { path: files.path } };
      const report = await killedSweep(opener, await files.open(), 'acme', 120);
      expectWhole('sqlite', report);
      // One shard holds everything here, and its lease is the dead one's.
      expect(report.whileHeld).toBe(0);
    } finally {
      await files.remove();
    }
  },
  LONGEST_MS,
);

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();

  test(
    TITLE,
    async () => {
      const store = world.open();
      expectWhole('dynamodb', await killedSweep(world.opener, store, 'acme', 120));
      await store.close();
    },
    LONGEST_MS,
  );
});
