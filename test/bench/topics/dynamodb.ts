// What each command asks of the table: calls, items, bytes of requests, and units as they are billed.
import { measuredCosts } from '../support/dynamo-session.ts';
import { isWrite, type MeteredCall } from '../../support/dynamodb/meter.ts';
import type { Topic } from '../support/table.ts';

/** Counts one session; there is nothing to repeat, because counts do not vary. */
export const dynamodb: Topic = async () => {
  const costs = await measuredCosts();
  const sum = (calls: readonly MeteredCall[], of: (call: MeteredCall) => number): string =>
    String(calls.reduce((total, call) => total + of(call), 0));
  const items = (name: string): number =>
    costs.find((cost) => cost.name === name)?.calls.find(isWrite)?.items ?? Number.NaN;
  const most = (name: string, limit: number) => ({
    name: `items of a ${name}`,
    measured: String(items(name)),
    target: `at most ${limit}`,
    met: items(name) <= limit,
  });
  return {
    title: 'Calls of the table',
    head: ['command', 'reads', 'writes', 'items', 'request bytes', 'read units', 'write units'],
    rows: costs.map(({ name, calls }) => [
      name,
      String(calls.filter((call) => !isWrite(call)).length),
      String(calls.filter(isWrite).length),
      sum(calls, (call) => call.items),
      sum(calls, (call) => call.bytes),
      sum(calls, (call) => call.readUnits),
      sum(calls, (call) => call.writeUnits),
    ]),
    targets: [most('step', 4), most('sensitive step', 5), most('block', 10)],
  };
};
