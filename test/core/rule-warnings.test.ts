import { expect, test } from '@jest/globals';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import { ruleWarnings } from '../../lib/core/rule-warnings.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';
import { smallProcedure } from '../support/small-procedure.ts';

type Rule = NonNullable<ProcedureInput['rules']>[number];
type Band = readonly [min: number, max: number];

/** The warnings of rules between `high` and `low`, with these bounds. */
function warnings(high: Band, low: Band, rules: readonly Partial<Rule>[], unit = 'V') {
  const basic: Rule = {
    id: 'order',
    kind: 'greater_than',
    step: 'high',
    than: 'low',
    message: 'no',
    on_deviation: 'block',
  };
  const steps = smallProcedure().steps.map((step) => {
    if (step.kind !== 'reading') return step;
    const [min, max] = step.id === 'high' ? high : low;
    const { warning: _warning, ...rest } = step;
    const symbol = step.id === 'high' ? 'V' : unit;
    const bounds = { min, max };
    return { ...rest, unit: { symbol, spoken: symbol }, bounds, expected: bounds };
  });
  const all = rules.map((rule, i) => ({ ...basic, id: `r${i}`, ...rule }));
  return ruleWarnings(parsedProcedure(smallProcedure({ steps, rules: all }))).map(
    ({ path, message }) => `${path} ${message}`,
  );
}

const KEEP = '/rules/0 no values within the bounds keep this rule';
const BREAK = '/rules/0 no values within the bounds break this rule';

test.each<[string, Band, Band, Partial<Rule>, readonly string[]]>([
  ['bands that meet in one value', [0, 5], [5, 9], {}, [KEEP]],
  ['bands that overlap by a little', [0, 5.1], [5, 9], {}, []],
  ['a margin just beyond what is possible', [0, 5], [0, 9], { margin: 5.1 }, [KEEP]],
  ['a margin that is just possible', [0, 5], [0, 9], { margin: 5 }, []],
  ['bands that touch', [5, 9], [0, 5], {}, []],
  ['bands that are apart', [5.1, 9], [0, 5], {}, [BREAK]],
  ['bands that are apart by the margin', [6, 9], [0, 5], { margin: 1 }, [BREAK]],
  ['bands that are apart by less than the margin', [5.9, 9], [0, 5], { margin: 1 }, []],
  ['the other kind of rule', [5, 9], [0, 5], { kind: 'less_than' }, [KEEP]],
])('a rule over %s', (_what, high, low, rule, expected) => {
  expect(warnings(high, low, [rule])).toEqual(expected);
});

test('two rules that exclude each other, in either form', () => {
  const both = '/rules/1 no values keep both this rule and r0';
  expect(warnings([0, 9], [0, 9], [{}, { kind: 'less_than' }])).toEqual([both]);
  expect(warnings([0, 9], [0, 9], [{}, { step: 'low', than: 'high' }])).toEqual([both]);
  expect(warnings([0, 9], [0, 9], [{}, { margin: 2 }])).toEqual([]);
});

test('a rule over two units', () => {
  expect(warnings([0, 9], [0, 9], [{}], 'mV')).toEqual(['/rules/0 compares V with mV']);
});

test('rules that say something have no warning', () => {
  expect(ruleWarnings(parsedProcedure(smallProcedure()))).toEqual([]);
});
