// Simulates seed after seed: `npm run sim -- --seeds 1000 [--from N]`. The first failure ends it, with the
// fewest moves of the seed that still fail and what happened in them.
import { parseArgs } from 'node:util';
import { simulate } from './world/world.ts';

const MOVES = 40;
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
  },
});
const [seeds, from] = [Number(values.seeds), Number(values.from)];
if (!Number.isInteger(seeds) || seeds < 1)
  throw new Error('--seeds: expected a whole number from 1');
if (!Number.isInteger(from) || from < 0) throw new Error('--from: expected a whole number from 0');

const faults = new Map<string, number>();
let steps = 0;
for (let seed = from; seed < from + seeds; seed++) {
  const report = await simulate(seed, MOVES);
  steps += report.trace.length;
  for (const [name, n] of report.faults) faults.set(name, (faults.get(name) ?? 0) + n);
  if (report.breaches.length === 0) continue;
  let moves = 1;
  let failed = await simulate(seed, moves);
  while (failed.breaches.length === 0 && moves < MOVES) failed = await simulate(seed, ++moves);
  console.log(failed.trace.join('\n'));
  console.log(`seed ${seed} fails after ${moves} moves:\n${failed.breaches.join('\n')}`);
  process.exitCode = 1;
  break;
}
for (const [name, n] of [...faults].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(n).padStart(8)}  ${name}`);
console.log(`seeds ${from} and up, ${steps} steps`);
