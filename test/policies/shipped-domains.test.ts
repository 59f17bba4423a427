import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { assetPattern } from '../../lib/core/parse-procedure.ts';
import { buildRegistry } from '../../lib/core/procedures.ts';
import { instrumentCalibration } from '../../lib/policies/instrument-calibration/policy.ts';
import { pumpInspection } from '../../lib/policies/pump-inspection/policy.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';
import { projectRoot } from '../support/project-files.ts';

const policies = [pumpInspection, instrumentCalibration];

test('the shipped domains make one registry', () => {
  const built = buildRegistry(policies);
  expect(built.ok && built.registry.list().map(({ id, version }) => `${id}@${version}`)).toEqual([
    'instrument-calibration@2',
    'pump-inspection@2',
  ]);
});

test('the digests of the shipped versions are pinned: a changed content needs a new version', () => {
  const built = buildRegistry(policies);
  const digests = built.ok ? built.registry.all() : [];
  expect(digests.map(({ procedure, digest }) => [procedure.id, procedure.version, digest])).toEqual(
    [
      ['pump-inspection', 1, '4451b8ccfd84c4e0475853d56d92cfcad94a67e528705344fd9d7ec84fa28a15'],
      ['pump-inspection', 2, '38147061f08c494cc9fc842e1b33c6f2cc9e980f4cc8735f67c9656bc6e6b74d'],
      [
        'instrument-calibration',
        1,
        'e5838739f83b417cd59c4db771274feebe8996d50edaf80a10b63b2589b4cc4f',
      ],
      [
        'instrument-calibration',
        2,
        '58742b4f3a7810571e46feeee42941e405eb574751471a8e28352ab01b27c550',
      ],
    ],
  );
});

describe.each(policies)('$domain', (policy) => {
  const procedure = parsedProcedure(policy.procedures.at(-1));

  test('has an asset pattern that takes its example and nothing around it', () => {
    const pattern = assetPattern(procedure);
    const { example } = procedure.asset;
    expect([example, `${example}0`, `X${example}`].map((id) => pattern.test(id))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('can be spoken: short titles in lower case, and words without symbols', () => {
    const titles = procedure.steps.flatMap((step) => [
      step.title,
      ...(step.kind === 'choice' ? step.options.map(({ title }) => title) : []),
    ]);
    const sentences = procedure.steps.map(({ instruction }) => instruction);
    expect([procedure.title, ...titles].filter((text) => !/^[a-z ]{2,24}$/.test(text))).toEqual([]);
    expect(sentences.filter((text) => !/^[A-Z][A-Za-z ,.]{10,110}\.$/.test(text))).toEqual([]);
    const units = procedure.steps.flatMap((step) =>
      step.kind === 'reading' ? [step.unit.spoken] : [],
    );
    expect(units.filter((unit) => !/^[A-Za-z ]+$/.test(unit))).toEqual([]);
  });

  test('has readings with aliases and a warning band, a choice that deviates, and a block', () => {
    const readings = procedure.steps.filter((step) => step.kind === 'reading');
    expect(readings.filter(({ warning }) => warning !== undefined).length).toBeGreaterThan(2);
    expect(readings.every(({ unit }) => unit.aliases.length > 0)).toBe(true);
    const deviating = procedure.steps.some(
      (step) => step.kind === 'choice' && step.options.some((option) => option.deviates),
    );
    expect(deviating).toBe(true);
    expect(
      procedure.steps.some((step) => step.kind !== 'text' && step.on_deviation === 'block'),
    ).toBe(true);
  });
});

test('the core knows no word of a shipped domain', () => {
  const words =
    /\b(pumps?|bar|suction|discharge|bearings?|vibration|seals?|shaft|valves?|pressure|temperature|celsius|inspections?|calibrations?|balances?|instruments?|milligrams?|grams?|weights?|thermometer|laborator(?:y|ies)|customers?)\b/i;
  const files = globSync('lib/core/**/*.ts', { cwd: projectRoot });
  expect(files.length).toBeGreaterThan(30);
  const found = files.filter((path) => words.test(readFileSync(join(projectRoot, path), 'utf8')));
  expect(found).toEqual([]);
});
