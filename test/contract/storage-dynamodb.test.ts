import { testClock } from '../support/harness.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { runWriters } from '../support/writers.ts';
import { storageContract } from './storage-contract.ts';

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();

  storageContract('dynamodb', {
    open: () => {
      const clock = testClock();
      const stores = [world.open(clock)];
      const [store] = stores;
      if (store === undefined) throw new Error('one store is open');
      return Promise.resolve({
        store,
        clock,
        reopen: () => {
          const other = world.open(clock);
          stores.push(other);
          return Promise.resolve(other);
        },
        runWriters: (tasks) => runWriters(world.opener, tasks),
        close: async () => {
          for (const one of stores) await one.close();
        },
      });
    },
  });
});
