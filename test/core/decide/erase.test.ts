import { expect, test } from '@jest/globals';
import { decideErase } from '../../../lib/core/decide/erase.ts';
import { commandLine } from '../../../lib/core/erase.ts';
import { eventBody } from '../../../lib/core/events.ts';
import { compilePlan } from '../../../lib/core/plan.ts';
import { START_MS } from '../../support/harness.ts';
import { workflowOf } from '../../support/plans.ts';

const { workflow } = workflowOf({ tenant: 'acme' });
const command = { workflow: 'w1', step: 'code', reason: 'asked for' };
const context = { principal: commandLine('acme'), now: START_MS, requestId: 'r-1' };
const records = (...present: boolean[]) =>
  present.map((there, i) => ({ seq: i + 2, present: there }));

test('a plan deletes what is present, appends one event, and is fenced by version and head', () => {
  const state = { workflow, records: records(false, true, true) };
  const decision = decideErase(state, command, context);
  if (decision.kind !== 'commit') throw new Error('expected a plan');
  expect(decision).toMatchObject({ records: [3, 4], more: false });
  const [event] = decision.plan.events;
  expect(event && eventBody(event)).toMatchObject({
    type: 'value_erased',
    seq: 2,
    prev: workflow.head_hash,
    data: { step: 'code', records: [3, 4], reason: 'asked for', request_id: 'r-1' },
  });
  const { writes } = compilePlan(decision.plan);
  expect(writes.map(({ op, key }) => `${op} ${key.kind}`)).toEqual([
    'update workflow',
    'create event',
    'delete vault',
    'delete vault',
  ]);
  expect(writes[0]).toMatchObject({
    expect: { version: 1, head_seq: 1, head_hash: workflow.head_hash },
    set: { version: 2, head_seq: 2, head_hash: event?.hash },
  });
});

test('nothing is decided where no record was sensitive, or every value is gone', () => {
  expect(decideErase({ workflow, records: [] }, command, context)).toEqual({
    kind: 'nothing',
    why: 'never_sensitive',
  });
  expect(decideErase({ workflow, records: records(false, false) }, command, context)).toEqual({
    kind: 'nothing',
    why: 'already_erased',
  });
});

test('a transaction takes ninety values, and the rest is left for the next one', () => {
  const many = (count: number) => ({
    workflow,
    records: records(...Array.from({ length: count }, () => true)),
  });
  expect(decideErase(many(90), command, context)).toMatchObject({ more: false });
  const decision = decideErase(many(91), command, context);
  if (decision.kind !== 'commit') throw new Error('expected a plan');
  expect(decision.more).toBe(true);
  expect(compilePlan(decision.plan).writes).toHaveLength(92);
});

test('neither the length of a trail nor the size of a state is a reason to keep a value', () => {
  const long = { ...workflow, head_seq: 10_000 };
  expect(decideErase({ workflow: long, records: records(true) }, command, context).kind).toBe(
    'commit',
  );
  const large = { ...workflow, asset: 'x'.repeat(40_000) };
  const decision = decideErase({ workflow: large, records: records(true) }, command, context);
  if (decision.kind !== 'commit') throw new Error('expected a plan');
  expect(compilePlan(decision.plan).writes).toHaveLength(3);
});
