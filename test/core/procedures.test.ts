import { describe, expect, test } from '@jest/globals';
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { DomainPolicy, Finding } from '../../lib/core/ports/policy.ts';
import { hasDecimals, parseProcedure } from '../../lib/core/parse-procedure.ts';
import {
  buildRegistry,
  procedureDigest,
  type ProcedureRegistry,
} from '../../lib/core/procedures.ts';
import { smallProcedure } from '../support/small-procedure.ts';

type StepInput = ProcedureInput['steps'][number];

const approval = { on: ['deviation'], expires_minutes: 5, notify: 'a' } as const;

/** The faults of a definition as `path: message`. */
function faults(input: unknown): readonly string[] {
  const parsed = parseProcedure(input);
  return parsed.ok ? [] : parsed.faults.map(({ path, message }) => `${path}: ${message}`);
}

/** The small procedure with one step changed. */
function withStep(i: number, change: object): ProcedureInput {
  const { steps } = smallProcedure();
  return smallProcedure({
    steps: steps.map((step, j): StepInput =>
      i === j ? ({ ...step, ...change } as StepInput) : step,
    ),
  });
}

/** The small procedure with conversions of the unit of one reading. */
function withUnit(...conversions: readonly object[]): ProcedureInput {
  return withStep(1, { unit: { symbol: 'V', spoken: 'volts', conversions } });
}

function registryOf(...policies: DomainPolicy[]): ProcedureRegistry {
  const built = buildRegistry(policies);
  if (!built.ok) throw new Error(JSON.stringify(built.faults));
  return built.registry;
}

describe('a definition', () => {
  test('is accepted, with its defaults filled in', () => {
    const parsed = parseProcedure(smallProcedure());
    expect(parsed.ok && parsed.procedure.escalation).toEqual([]);
    expect(parsed.ok && parsed.procedure.steps[0]).toMatchObject({
      optional: false,
      requires: [],
      second_person: false,
    });
  });

  test.each([
    [
      'an asset pattern that is no regular expression',
      smallProcedure({ asset: { type: 'cabinet', pattern: '[', example: 'CAB-1' } }),
      '/asset/pattern: expected a valid regular expression',
    ],
    [
      'an example that the pattern refuses',
      smallProcedure({ asset: { type: 'cabinet', pattern: 'CAB-[0-9]', example: 'CAB-10' } }),
      '/asset/example: expected an example that matches the pattern in upper case',
    ],
    [
      'a step id that appears twice',
      withStep(4, { id: 'ready' }),
      '/steps/4/id: the step id ready appears twice',
    ],
    [
      'a required step that does not exist',
      withStep(2, { requires: ['none'] }),
      '/steps/2/requires/0: there is no step none',
    ],
    [
      'a required step that comes later',
      withStep(1, { requires: ['ready', 'low'] }),
      '/steps/1/requires/1: low is not an earlier step',
    ],
    [
      'a step that requires itself',
      withStep(1, { requires: ['high'] }),
      '/steps/1/requires/0: high is not an earlier step',
    ],
    [
      'a deadline on an optional step',
      withStep(0, { optional: true, deadline: { minutes: 5, on_overdue: 'block' } }),
      '/steps/0/deadline: expected no deadline on an optional step, which nobody has to do',
    ],
    [
      'the deadline of a step that nobody is told of',
      withStep(0, { deadline: { minutes: 5 } }),
      '/steps/0/deadline: expected an escalation on overdue, or nobody is told of it',
    ],
    [
      'the deadline of the whole that nobody is told of',
      smallProcedure({ deadline: { minutes: 5 }, escalation: [{ on: 'block', notify: 'a' }] }),
      '/deadline: expected an escalation on overdue, or nobody is told of it',
    ],
    [
      'a reminder that nobody is told of',
      smallProcedure({ reminder: { idle_minutes: 5 } }),
      '/reminder: expected an escalation on reminder, or nobody is told of it',
    ],
    [
      'a later escalation of something that is over at once',
      smallProcedure({ escalation: [{ on: 'warning', notify: 'a', after_minutes: 5 }] }),
      '/escalation/0/after_minutes: expected it on a block only',
    ],
    [
      'an escalation that is repeated without a time',
      smallProcedure({ escalation: [{ on: 'block', notify: 'a', times: 2 }] }),
      '/escalation/0/times: expected after_minutes with it',
    ],
    [
      'an approval that is asked for twice',
      smallProcedure({ approval: { ...approval, on: ['deviation', 'deviation'] as const } }),
      '/approval/on/1: deviation appears twice',
    ],
    [
      'an approval after a deadline that never blocks',
      smallProcedure({ approval: { ...approval, on: ['deviation', 'overdue'] } }),
      '/approval/on/1: expected a deadline with on_overdue block, or nothing is ever proposed',
    ],
    [
      'an approval of nothing',
      smallProcedure({ approval: { ...approval, on: [] } }),
      '/approval/on: expected at least 1 entries',
    ],
    [
      'an approval without a time',
      smallProcedure({ approval: { on: ['deviation'], notify: 'a' } as never }),
      '/approval/expires_minutes: missing; expected a number',
    ],
    [
      'an approval that nobody is asked for',
      smallProcedure({ approval: { on: ['deviation'], expires_minutes: 5 } as never }),
      '/approval/notify: missing; expected a string',
    ],
    [
      'an option that appears twice',
      withStep(3, {
        options: [
          { id: 'good', title: 'good' },
          { id: 'good', title: 'fine' },
        ],
      }),
      '/steps/3/options/1/id: the option id good appears twice',
    ],
    [
      'a choice whose options all deviate',
      withStep(3, {
        options: [
          { id: 'bad', title: 'bad', deviates: true },
          { id: 'worse', title: 'worse', deviates: true },
        ],
      }),
      '/steps/3/options: expected at least one option that does not deviate',
    ],
    [
      'a warning band beyond the bounds',
      withStep(1, { warning: { min: 1, max: 10.1 } }),
      '/steps/1/warning: expected a band within the bounds',
    ],
    [
      'a warning band that is upside down',
      withStep(1, { warning: { min: 9, max: 1 } }),
      '/steps/1/warning: expected a band within the bounds',
    ],
    [
      'an expected range beyond the warning band',
      withStep(1, { expected: { min: 0.9, max: 8 } }),
      '/steps/1/expected: expected a range within the bounds and the warning band',
    ],
    [
      'a limit with more decimals than are kept',
      withStep(1, { expected: { min: 2.25, max: 8 } }),
      '/steps/1/expected/min: expected at most 1 decimal places',
    ],
    [
      'a conversion whose symbol is a name of the unit',
      withUnit({ symbol: 'Volts', spoken: 'other', factor: 2 }),
      '/steps/1/unit/conversions/0/symbol: Volts is the name of another unit of this step',
    ],
    [
      'a conversion whose alias is a name of another conversion',
      withUnit(
        { symbol: 'mV', spoken: 'millivolts', factor: 0.001 },
        { symbol: 'kV', spoken: 'kilovolts', aliases: ['high', ' MILLIVOLTS'], factor: 1_000 },
      ),
      '/steps/1/unit/conversions/1/aliases/1: MILLIVOLTS is the name of another unit of this step',
    ],
    [
      'a conversion with the factor 0',
      withUnit({ symbol: 'mV', spoken: 'millivolts', factor: 0 }),
      '/steps/1/unit/conversions/0/factor: expected a factor that is not 0',
    ],
    [
      'a conversion with a factor without end',
      withUnit({ symbol: 'mV', spoken: 'millivolts', factor: Infinity }),
      '/steps/1/unit/conversions/0/factor: expected a number',
    ],
    [
      'a rule on a step that is not a reading',
      smallProcedure({ rules: [{ ...rule(), step: 'look' }] }),
      '/rules/0/step: expected the id of a reading step, not look',
    ],
    [
      'a rule on a step that does not exist',
      smallProcedure({ rules: [{ ...rule(), than: 'none' }] }),
      '/rules/0/than: expected the id of a reading step, not none',
    ],
    [
      'a rule that compares a step with itself',
      smallProcedure({ rules: [{ ...rule(), than: 'high' }] }),
      '/rules/0/than: expected another step',
    ],
  ])('is refused for %s', (_what, input, fault) => {
    expect(faults(input)).toContain(fault);
  });

  test('may have 8 conversions of a unit, and not 9', () => {
    const conversions = Array.from({ length: 9 }, (_, i) => ({
      symbol: `u${i}`,
      spoken: `unit ${i}`,
      factor: i + 1,
    }));
    expect(faults(withUnit(...conversions.slice(0, 8)))).toEqual([]);
    expect(faults(withUnit(...conversions)).map(placeOf)).toEqual(['/steps/1/unit/conversions']);
  });

  test('is refused for bounds without room between them', () => {
    expect(faults(withStep(1, { bounds: { min: 5, max: 5 } }))).toContain(
      '/steps/1/bounds: expected min below max',
    );
  });

  test('is refused for unknown members and wrong types, with their places', () => {
    expect(faults({ ...smallProcedure(), extra: true, version: '1' }).map(placeOf)).toEqual(
      expect.arrayContaining(['/extra', '/version']),
    );
    expect(faults(null).map(placeOf)).toEqual(['']);
  });

  test('is answered with all its cross-field faults at once', () => {
    const input = smallProcedure({
      asset: { type: 'cabinet', pattern: '[', example: 'x' },
      steps: [
        ...withStep(1, { requires: ['none'], bounds: { min: 9, max: 1 } }).steps,
        { id: 'note', kind: 'text', title: 'note', instruction: 'Speak.', max_chars: 1 },
      ],
      rules: [{ ...rule(), than: 'ready' }],
      deadline: { minutes: 5 },
      reminder: { idle_minutes: 5 },
      escalation: [{ on: 'warning', notify: 'a', after_minutes: 5, times: 2 }],
    });
    expect(faults(input).map(placeOf)).toEqual([
      '/asset/pattern',
      '/steps/1/requires/0',
      '/steps/1/bounds',
      '/steps/1/warning',
      '/steps/5/id',
      '/rules/0/than',
      '/deadline',
      '/reminder',
      '/escalation/0/after_minutes',
    ]);
  });
});

describe('a definition with faults of both kinds', () => {
  test('is answered with the faults of its shape and those between its parts together', () => {
    const input = {
      ...withStep(1, { requires: ['none'], decimals: 'two' }),
      version: '1',
      'a/b': 1,
      rules: [{ ...rule(), than: 'ready' }],
      asset: { type: 'cabinet', pattern: '[', example: 'x' },
    };
    expect(faults(input).map(placeOf).sort()).toEqual(
      ['/a~1b', '/asset/pattern', '/rules/0/than', '/steps/1/decimals', '/version'].sort(),
    );
  });
});

describe('rules in code', () => {
  const asked = { step: 'high', values: {} };
  const withCheck = (check: unknown): (() => unknown) => {
    const registry = registryOf({
      domain: 'test',
      procedures: [smallProcedure()],
      check,
    } as DomainPolicy);
    const [procedure] = registry.list();
    if (procedure === undefined) throw new Error('expected a procedure');
    return () => registry.check(procedure, asked);
  };

  test.each([
    [
      'that throw',
      () => {
        throw new TypeError('oops');
      },
    ],
    ['that answer no list', () => 'bad'],
    ['that answer a promise', () => Promise.resolve([])],
    ['that answer an unknown consequence', () => [{ rule: 'r', message: 'm', follows: 'explode' }]],
  ])('%s are a fault, never a decision', (_name, check) => {
    expect(withCheck(check)).toThrow(expect.objectContaining({ code: 'POLICY_FAILED' }));
  });
});

describe('the registry', () => {
  const policy = (...procedures: ProcedureInput[]): DomainPolicy => ({
    domain: 'test',
    procedures,
  });

  test('lists the newest version of each procedure by id, and finds the older ones', () => {
    const registry = registryOf(
      policy(smallProcedure({ version: 2, title: 'second' }), smallProcedure()),
      policy(smallProcedure({ id: 'check-up', title: 'check-up' })),
    );
    expect(registry.list().map(({ id, version }) => [id, version])).toEqual([
      ['check-up', 1],
      ['round', 2],
    ]);
    expect(registry.find('round')?.title).toBe('second');
    expect(registry.find('round', 1)?.title).toBe('round');
    expect(registry.find('round', 3)).toBeUndefined();
    expect(registry.all()).toHaveLength(3);
  });

  test('refuses one version with two contents, and one version of two domains', () => {
    const fault = { path: '/version', message: 'round@1 is defined twice' };
    expect(buildRegistry([policy(smallProcedure(), smallProcedure({ title: 'other' }))])).toEqual({
      ok: false,
      faults: [{ source: 'test, procedure 2', ...fault }],
    });
    expect(buildRegistry([policy(smallProcedure()), policy(smallProcedure())])).toEqual({
      ok: false,
      faults: [{ source: 'test, procedure 1', ...fault }],
    });
  });

  test('answers the faults of every domain together, each with its source', () => {
    const built = buildRegistry([
      policy(smallProcedure(), withStep(2, { requires: ['none'] })),
      { domain: 'other', procedures: [withStep(1, { requires: ['later'] })] },
    ]);
    expect(built.ok ? [] : built.faults.map(({ source, path }) => [source, path])).toEqual([
      ['test, procedure 2', '/steps/2/requires/0'],
      ['other, procedure 1', '/steps/1/requires/0'],
    ]);
  });
});

describe('a digest', () => {
  test('covers what the author wrote, so that a default of a later release keeps it', () => {
    const input = smallProcedure();
    const parsed = parseProcedure(input);
    const registry = registryOf({ domain: 'test', procedures: [input] });
    expect(registry.all()[0]?.digest).toBe(procedureDigest(input));
    expect(parsed.ok && procedureDigest(parsed.procedure) === procedureDigest(input)).toBe(false);
  });

  test('does not depend on the order of members or on the schema that an editor uses', () => {
    const input = smallProcedure();
    const reversed = Object.fromEntries(Object.entries(input).toReversed()) as ProcedureInput;
    expect(procedureDigest({ ...reversed, $schema: './x.json' })).toBe(procedureDigest(input));
  });

  test('changes with any content', () => {
    expect(procedureDigest(smallProcedure({ title: 'other' }))).not.toBe(
      procedureDigest(smallProcedure()),
    );
  });
});

describe('rules', () => {
  const input = smallProcedure();
  const parsed = parseProcedure(input);

  function findings(
    step: string,
    values: Record<string, number>,
    check?: DomainPolicy['check'],
  ): readonly Finding[] {
    if (!parsed.ok) throw new Error('the procedure is not valid');
    const policy = { domain: 'test', procedures: [input], ...(check !== undefined && { check }) };
    return registryOf(policy).check(parsed.procedure, { step, values });
  }

  test('hold exactly at the margin, in spite of binary fractions', () => {
    expect(findings('high', { high: 0.3, low: 0.1 })).toEqual([]);
    expect(findings('high', { high: 0.3, low: 0.2 })).toEqual([
      { rule: 'order', message: 'high is not above low', follows: 'block' },
    ]);
  });

  test('are asked from either side, and only with both values', () => {
    expect(findings('low', { high: 1, low: 2 })).toHaveLength(1);
    expect(findings('low', { low: 2 })).toEqual([]);
    expect(findings('note', { high: 1, low: 2 })).toEqual([]);
  });

  test('in code follow the declared ones, and are told procedure and version', () => {
    const coded = findings('low', { high: 1, low: 2 }, ({ procedure, version, step }) => [
      { rule: 'coded', message: `${procedure}@${version} ${step}`, follows: 'retake' },
    ]);
    expect(coded).toEqual([
      { rule: 'order', message: 'high is not above low', follows: 'block' },
      { rule: 'coded', message: 'round@1 low', follows: 'retake' },
    ]);
  });
});

test.each([
  [1.5, 1, true],
  [1.55, 1, false],
  [0.1, 1, true],
  [42, 0, true],
  [1e21, 0, true],
  [-0.25, 2, true],
])('%d has at most %d decimal places: %s', (value, decimals, answer) => {
  expect(hasDecimals(value, decimals)).toBe(answer);
});

function rule() {
  return {
    id: 'order',
    kind: 'greater_than',
    step: 'high',
    than: 'low',
    message: 'high is not above low',
    on_deviation: 'block',
  } as const;
}

function placeOf(fault: string): string {
  return fault.slice(0, fault.indexOf(':'));
}
