import { expect, test } from '@jest/globals';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { killedEffects, type KilledEffects } from '../support/killed-effects.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

const TITLE = 'a process that is killed again and again loses no effect and doubles none';
const LONGEST_MS = 300_000;

async function expectWhole(name: string, task: KilledEffects): Promise<void> {
  const report = await killedEffects(task);
  console.info(`killed while delivering (${name}): ${JSON.stringify(report)}`);
  expect(report).toMatchObject({
    expected: task.workflows * 3,
    kills: task.kills,
    killedUnanswered: task.kills / 2,
    lost: 0,
    doubled: 0,
    left: 0,
    trailsVerify: true,
  });
  // Each of the requests that were not answered came again.
  expect(report.deliveries).toBeGreaterThanOrEqual(task.workflows * 3 + task.kills / 2);
}

test(
  TITLE,
  async () => {
    const files = sqliteFiles();
    try {
      await expectWhole('sqlite', {
        opener: { module: './open-sqlite.ts', options: { path: files.path } },
        store: await files.open(),
        tenant: 'acme',
        workflows: 400,
        kills: 20,
      });
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
      await expectWhole('dynamodb', {
        opener: world.opener,
        store,
        tenant: 'acme',
        workflows: 400,
        kills: 10,
      });
      await store.close();
    },
    LONGEST_MS,
  );
});
