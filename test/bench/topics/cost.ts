// What a thousand of everything costs, from measured units and the prices of `prices.ts`. Counted: request
// units of table and indexes. Not counted: storage, backups, the stream, functions, logs; deletion of
// expired rows is free. Items are those of the session: an event of less than 1 KB, a state of less than 2 KB.
import type { MeteredCall } from '../../support/dynamodb/meter.ts';
import { measuredCosts } from '../support/dynamo-session.ts';
import { dollarsPerThousand, PRICES } from '../support/prices.ts';
import type { Topic } from '../support/table.ts';

const MIXES: readonly (readonly [name: string, parts: readonly string[]])[] = [
  ['steps, process that knows the workflow', ['step']],
  ['steps, process that has to read it first', ['step, cold process']],
  ['sensitive steps', ['sensitive step']],
  ['starts', ['start']],
  ['completions', ['complete']],
  [
    'workflows: start, five steps, completion, all on one process',
    ['start', 'first step', 'step', 'step', 'step', 'step', 'complete'],
  ],
  ['replays', ['replay']],
  ['refusals', ['refusal']],
  ['blocks with their question', ['question before a block', 'block']],
  ['status questions', ['status']],
];

/** Computes the table of costs. */
export const cost: Topic = async () => {
  const costs = await measuredCosts();
  const callsOf = (name: string): readonly MeteredCall[] => {
    const found = costs.find((one) => one.name === name);
    if (found === undefined) throw new Error(`the session has no ${name}`);
    return found.calls;
  };
  return {
    title: `Cost of a thousand (${PRICES.region}, on demand, prices since ${PRICES.since})`,
    head: ['a thousand …', 'read units', 'write units', 'US dollars'],
    rows: MIXES.map(([name, parts]) => {
      const calls = parts.flatMap(callsOf);
      const units = (of: 'readUnits' | 'writeUnits') =>
        calls.reduce((sum, call) => sum + call[of] * 1_000, 0).toLocaleString('en-US');
      return [name, units('readUnits'), units('writeUnits'), dollarsPerThousand(calls).toFixed(5)];
    }),
    targets: [],
  };
};
