import { describe, expect, test } from '@jest/globals';
import { itemBytes } from '../../lib/core/keys.ts';
import { lastValues, previousValues } from '../../lib/core/last-values.ts';
import type { Slot, Workflow } from '../../lib/core/model/workflow.ts';
import { parsedProcedure } from '../support/parsed-procedure.ts';
import { workflowOf } from '../support/plans.ts';
import { smallProcedure } from '../support/small-procedure.ts';

const slot = (seq: number, rest: Partial<Slot>): Slot => ({
  seq,
  basis: 0,
  status: 'done',
  by: 'dev:ana',
  at: 'then',
  ...rest,
});
const having = (steps: Workflow['steps']): Workflow => ({
  ...workflowOf({ tenant: 'acme' }).workflow,
  procedure: 'round',
  steps,
});

describe('what a workflow leaves for the next one', () => {
  test('are values that count, in order of recording, and no text', () => {
    const workflow = having({
      look: slot(4, { value: 'good' }),
      high: slot(2, { value: 5 }),
      low: slot(3, { value: 4, status: 'retake' }),
      ready: slot(5, { value: true, status: 'awaiting_second' }),
      note: slot(6, { digest: 'd' }),
      skipped: slot(7, { status: 'skipped', digest: 'd' }),
    });
    const last = lastValues(workflow, 'now');
    expect(last).toEqual({
      procedure: 'round',
      version: 1,
      at: 'now',
      values: { high: 5, look: 'good' },
    });
    expect(Object.keys(last?.values ?? {})).toEqual(['high', 'look']);
  });

  test('is nothing where nothing counts', () => {
    expect(lastValues(having({ note: slot(2, { digest: 'd' }) }), 'now')).toBeUndefined();
  });

  test('is at most 4,096 bytes, also of a hundred steps with the longest names', () => {
    const of = (value: string, steps: number): Workflow =>
      having(
        Object.fromEntries(
          Array.from({ length: steps }, (_, i) => [
            `${'s'.repeat(45)}${String(i).padStart(3, '0')}`,
            slot(i + 2, { value }),
          ]),
        ),
      );
    const all = lastValues(of('o'.repeat(48), 100), 'now');
    expect(itemBytes(all)).toBeLessThanOrEqual(4_096);
    expect(Object.keys(all?.values ?? {}).length).toBeGreaterThan(38);
    const one = itemBytes(lastValues(of('', 1), 'now'));
    expect(itemBytes(lastValues(of('o'.repeat(4_096 - one), 1), 'now'))).toBe(4_096);
    expect(lastValues(of('o'.repeat(4_097 - one), 1), 'now')).toBeUndefined();
  });
});

describe('what a start takes over', () => {
  const procedure = parsedProcedure(smallProcedure());
  const last = { procedure: 'round', version: 1, at: 'then', values: { high: 5, look: 'good' } };

  test('are the values of the same procedure', () => {
    expect(previousValues(last, procedure, procedure)).toEqual({
      at: 'then',
      values: { high: 5, look: 'good' },
    });
    expect(previousValues({ ...last, procedure: 'other' }, procedure, undefined)).toBeUndefined();
    expect(previousValues(undefined, procedure, undefined)).toBeUndefined();
  });

  test('are of another version only those of steps that measure the same', () => {
    const changed = smallProcedure({
      version: 2,
      steps: smallProcedure().steps.map((step) =>
        step.kind === 'reading' ? { ...step, unit: { symbol: 'mV', spoken: 'millivolts' } } : step,
      ),
    });
    const now = parsedProcedure(changed);
    expect(previousValues(last, now, procedure)).toEqual({ at: 'then', values: { look: 'good' } });
    expect(previousValues(last, now, undefined)).toBeUndefined();
  });
});
