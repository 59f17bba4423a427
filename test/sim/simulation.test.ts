import { expect, test } from '@jest/globals';
import { simulate } from './world/world.ts';

const MOVES = 40;
const SEEDS = 60;
/** Faults at the steps they can meet; one that never happened proves nothing. */
const REACHED = ['snapshot', 'commit', 'keep', 'listDue', 'takeLease']
  .flatMap((step) => [`held up × ${step}`, `lost reply × ${step}`])
  .concat(['crash × snapshot sent', 'crash × commit sent'])
  .concat(['refused × deliver', 'lost reply × deliver', 'repeat × command']);

test('one seed gives one run, step by step', async () => {
  const [one, two] = [await simulate(7, MOVES), await simulate(7, MOVES)];
  expect(one.trace.length).toBeGreaterThan(MOVES);
  expect(two).toEqual(one);
});

test(`I1, I2, I3, I4 and I8 hold in ${SEEDS} simulated deployments`, async () => {
  const faults = new Map<string, number>();
  const answers = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    const report = await simulate(seed, MOVES);
    expect({ seed, breaches: report.breaches }).toEqual({ seed, breaches: [] });
    for (const [total, part] of [
      [faults, report.faults],
      [answers, report.answers],
    ] as const) {
      for (const [name, n] of part) total.set(name, (total.get(name) ?? 0) + n);
    }
  }
  const happened = new Set(faults.keys());
  expect(REACHED.filter((cell) => !happened.has(cell))).toEqual([]);
  expect(answers.get('start_workflow OK')).toBeGreaterThan(0);
  expect(answers.get('record_step OK')).toBeGreaterThan(0);
}, 120_000);
