import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseJson } from '../../lib/core/json.ts';
import { parseProcedure } from '../../lib/core/parse-procedure.ts';
import { instrumentCalibration } from '../../lib/policies/instrument-calibration/policy.ts';
import { pumpInspection } from '../../lib/policies/pump-inspection/policy.ts';
import { projectRoot } from '../support/project-files.ts';

const text = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const schema = JSON.parse(text('docs/procedure.schema.json')) as object;
const validate = new Ajv2020({ allErrors: true, strict: true }).compile(schema);

const example = (): unknown => {
  const [, block] = /```json\n([\s\S]*?)```/.exec(text('docs/procedures.md')) ?? [];
  return parseJson(block ?? '');
};

function faults(input: unknown): readonly string[] {
  return validate(input) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

test('the schema names its draft and itself', () => {
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:checkpoint:procedure:1',
    title: 'Checkpoint procedure',
  });
});

describe.each([
  ['the pump inspection', pumpInspection.procedures[0]],
  ['the calibration', instrumentCalibration.procedures[0]],
  ['the example of the documents', example()],
])('%s', (_what, input) => {
  test('is accepted by the published schema and by the reader', () => {
    expect(faults(input)).toEqual([]);
    expect(parseProcedure(input)).toMatchObject({ ok: true });
  });
});

test('the example shows every kind of step and a rule', () => {
  const parsed = parseProcedure(example());
  const procedure = parsed.ok ? parsed.procedure : undefined;
  expect(new Set(procedure?.steps.map(({ kind }) => kind))).toEqual(
    new Set(['confirm', 'reading', 'choice', 'text']),
  );
  expect(procedure?.rules).toHaveLength(1);
});

test.each([
  ['an unknown member', { extra: 1 }],
  ['a version of 0', { version: 0 }],
  ['an id in upper case', { id: 'Round' }],
  ['no step', { steps: [] }],
])('%s is refused by the published schema and by the reader', (_what, change) => {
  const input = { ...(example() as object), ...change };
  expect(faults(input).length).toBeGreaterThan(0);
  expect(parseProcedure(input)).toMatchObject({ ok: false });
});
