import { expect, test } from '@jest/globals';
import { Fault } from '../../lib/core/fault.ts';
import { toldError } from '../../lib/core/told-error.ts';

test('our own fault is told with its message, what lies under it without', () => {
  const cause = new RangeError('operator_remarks: "knee hurts"');
  const told = toldError(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'the table', { cause }));
  expect(told).toMatchObject({
    type: 'CheckpointFault',
    message: 'the table',
    cause: { type: 'RangeError' },
  });
  expect(JSON.stringify(told)).not.toContain('knee');
});

test('a foreign error keeps its places and loses its message, even one of several lines', () => {
  const told = toldError(new Error('said:\nPUMP-07 knee hurts'));
  expect(told.stack).toMatch(/^ +at .*told-error\.test\.ts/);
  expect(JSON.stringify(told)).not.toContain('knee');
});

test('what is no error is told by its type', () => {
  expect(toldError('knee hurts')).toEqual({ type: 'string', stack: '' });
});
