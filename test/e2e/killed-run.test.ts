// Every call between approval and completion, with a process that is killed right after it.
import { expect, jest, test } from '@jest/globals';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { CALLS, killedRun } from '../support/killed-runs.ts';
import { sqliteFiles } from '../support/sqlite-files.ts';

jest.setTimeout(120_000);

const WHOLE = {
  signal: 'SIGKILL',
  state: 'completed',
  tickets: 1,
  made: 1,
  completed: 1,
  faults: 0,
  gapless: true,
};
/** Right before a call is right after the one before it. */
const POINTS = ['before action_approved', ...CALLS.map((call) => `after ${call}`)];

test.each(POINTS)('killed %s, a run has one ticket and a whole trail', async (point) => {
  const files = sqliteFiles();
  try {
    const opener = { module: './open-sqlite.ts', options: { path: files.path } };
    const store = await files.open();
    expect(await killedRun({ opener, store, tenant: 'acme', point })).toEqual(WHOLE);
  } finally {
    await files.remove();
  }
});

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();

  test.each(POINTS)('killed %s, a run has one ticket and a whole trail', async (point) => {
    const store = world.open();
    const { opener } = world;
    const tenant = `acme-${point.replaceAll(/\W/g, '-')}`;
    expect(await killedRun({ opener, store, tenant, point })).toEqual(WHOLE);
    await store.close();
  });
});
