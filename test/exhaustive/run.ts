// `npm run exhaustive -- [--states N]`: searches every scenario up to N merged states each and prints how
// far; then takes every guard of a transaction away in turn and prints where that is seen first.
import { parseArgs } from 'node:util';
import { COVERED, guardsOf, without } from './guards.ts';
import { invariants } from './invariants.ts';
import { scenarios, type Named } from './scenarios.ts';
import { search } from './search.ts';

/** Guards are searched for this far in each scenario. */
const FOR_GUARDS = 100_000;

const { values } = parseArgs({ options: { states: { type: 'string', default: '300000' } } });
const mostStates = Number(values.states);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const carriers = new Map<string, Named[]>();
const sum = { states: 0, steps: 0, deepest: 0, closed: 0 };

say('|   States |    Steps | Depth | Closed | Scenario |');
say('| -------: | -------: | ----: | :----: | -------- |');
const all = await scenarios();
for (const scenario of all) {
  const found = await search(scenario, invariants(scenario.drift), { mostStates, guardsOf });
  const { states, steps, depth, closed, guards, violation } = found;
  for (const guard of guards) carriers.set(guard, [...(carriers.get(guard) ?? []), scenario]);
  sum.states += states;
  sum.steps += steps;
  sum.deepest = Math.max(sum.deepest, depth);
  sum.closed += closed ? 1 : 0;
  const figures = [
    String(states).padStart(8),
    String(steps).padStart(8),
    String(depth).padStart(5),
  ];
  say(`| ${figures.join(' | ')} | ${closed ? ' yes  ' : '  no  '} | ${scenario.title} |`);
  if (violation === undefined) continue;
  process.exitCode = 1;
  say(`\n${violation.what}\n  ${violation.trace.join('\n  ')}\n`);
}
say(
  `\n${sum.states} merged states, ${sum.steps} steps, depth ${sum.deepest}, ${sum.closed} of ${all.length} closed\n`,
);

say('| Without the guard | Seen after | By |');
say('| ----------------- | ---------: | -- |');
for (const guard of [...carriers.keys()].toSorted()) {
  const gone = [guard, ...(COVERED[guard] ?? [])];
  const options = { mostStates: Math.min(mostStates, FOR_GUARDS), alter: without(...gone) };
  let seen: string | undefined;
  for (const scenario of carriers.get(guard) ?? []) {
    const { violation, states } = await search(scenario, invariants(scenario.drift), options);
    if (violation === undefined) continue;
    seen = `${states} | ${violation.what}`;
    break;
  }
  if (seen === undefined) process.exitCode = 1;
  say(`| ${gone.join('; ')} | ${seen ?? 'never | **not seen**'} |`);
}
