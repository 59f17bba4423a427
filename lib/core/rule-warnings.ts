// Rules that say nothing: the bounds of their steps decide them, or another rule says the opposite.
import type { InputFault } from './input-fault.ts';
import type { Procedure, ReadingStep } from './model/procedure.ts';

type Rule = Procedure['rules'][number];

/** What is odd about the rules of a definition, by JSON pointer. Nothing of it keeps it from being used. */
export function ruleWarnings({ rules, steps }: Procedure): readonly InputFault[] {
  const readings = new Map(
    steps.flatMap((step) => (step.kind === 'reading' ? [[step.id, step] as const] : [])),
  );
  return rules.flatMap((rule, i) => {
    const [upper, lower] = sides(rule).map((id) => readings.get(id));
    if (upper === undefined || lower === undefined) return [];
    const opposite = rules.findIndex((other, j) => j < i && opposes(rule, other));
    const messages = [
      boundsWarning(upper, lower, rule.margin),
      ...(opposite < 0 ? [] : [`no values keep both this rule and ${rules[opposite]?.id ?? ''}`]),
      ...(upper.unit.symbol === lower.unit.symbol
        ? []
        : [`compares ${upper.unit.symbol} with ${lower.unit.symbol}`]),
    ];
    return messages.flatMap((message) =>
      message === undefined ? [] : [{ path: `/rules/${i}`, message }],
    );
  });
}

/** The step that has to be above, and the one that has to be below. */
function sides({ kind, step, than }: Rule): readonly [upper: string, lower: string] {
  return kind === 'greater_than' ? [step, than] : [than, step];
}

function opposes(a: Rule, b: Rule): boolean {
  const [upper, lower] = sides(a);
  const [otherUpper, otherLower] = sides(b);
  return upper === otherLower && lower === otherUpper;
}

function boundsWarning(upper: ReadingStep, lower: ReadingStep, margin: number): string | undefined {
  const most = upper.bounds.max - lower.bounds.min;
  const least = upper.bounds.min - lower.bounds.max;
  // Without a margin equal values break a rule.
  if (margin === 0 ? most <= 0 : most < margin) return 'no values within the bounds keep this rule';
  if (margin === 0 ? least > 0 : least >= margin) {
    return 'no values within the bounds break this rule';
  }
  return undefined;
}
