import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dynamoWorld } from '../support/dynamodb/world.ts';
import { testClock } from '../support/harness.ts';
import { builtIn } from './tickets/built-in.ts';
import { ticketContract } from './tickets/contract.ts';

describeOnDynamo('on an engine', () => {
  const world = dynamoWorld();
  let n = 0;

  ticketContract(
    builtIn(() => {
      const clock = testClock();
      const store = world.open(clock);
      n += 1;
      return Promise.resolve({ store, clock, tenant: `t${n}`, close: () => store.close() });
    }),
  );
});
