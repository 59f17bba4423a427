// `npm run sim -- --seeds N [--from N]`: simulated runs, what went wrong in them by fault and step, and of
// a failure the seed, the shortest beginning that still fails, and what happened. `--bugs` plants each bug instead.
import { parseArgs } from 'node:util';
import { BUGS } from './bugs/bugs.ts';
import { FAULTS, STEPS } from './scheduler.ts';
import { simulate, shortest } from './simulate.ts';

/** Every bug is found within this many seeds. */
const SEEDS_FOR_BUGS = 2_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    bugs: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
if (values.bugs) await plantBugs();
else await runSeeds(Number(values.from), Number(values.seeds));

async function runSeeds(from: number, seeds: number): Promise<void> {
  const began = performance.now();
  const faults = new Map<string, number>();
  let steps = 0;
  let failures = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await simulate(seed);
    steps += report.steps;
    for (const [name, n] of report.faults) faults.set(name, (faults.get(name) ?? 0) + n);
    if (report.violation === undefined) continue;
    failures += 1;
    if (failures > 1) continue;
    const { moves, report: shorter } = await shortest(seed);
    say(`seed ${seed}: ${report.violation}`);
    say(`the first ${moves} moves are enough: ${shorter.violation}`);
    for (const line of shorter.trace.slice(-200)) say(`  ${line}`);
  }
  const cells = FAULTS.flatMap((fault) => STEPS.map((step) => `${fault} × ${step}`));
  say(`| Fault | ${STEPS.join(' | ')} |`);
  say(`| ----- |${STEPS.map(() => ' ---: |').join('')}`);
  for (const fault of FAULTS) {
    say(`| ${fault} | ${STEPS.map((step) => faults.get(`${fault} × ${step}`) ?? 0).join(' | ')} |`);
  }
  const never = cells.filter((cell) => !faults.has(cell));
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const happened = [...faults.values()].reduce((a, b) => a + b, 0);
  say(
    `\n${seeds} seeds from ${from}: ${steps} steps, ${happened} faults, ${seconds} s, ${failures} violations`,
  );
  if (never.length > 0 && seeds >= 1_000) say(`never happened: ${never.join(', ')}`);
  if (failures > 0 || (never.length > 0 && seeds >= 1_000)) process.exitCode = 1;
}

async function plantBugs(): Promise<void> {
  say('| Planted | Seed | Found by |');
  say('| ------- | ---: | -------- |');
  for (const [what, bug] of Object.entries(BUGS)) {
    let found: string | undefined;
    for (let seed = 1; seed <= SEEDS_FOR_BUGS && found === undefined; seed++) {
      const { violation } = await simulate(seed, { bug });
      if (violation !== undefined) found = `${seed} | ${violation}`;
    }
    say(`| ${what} | ${found ?? 'never | **not found**'} |`);
    if (found === undefined) process.exitCode = 1;
  }
}
