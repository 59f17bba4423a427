import { describe, expect, it } from '@jest/globals';
import { canonicalHash } from '../../../lib/core/canonical.ts';
import type { Action } from '../../../lib/core/model/run.ts';
import { actionHash, BOUND_FIELDS, isIntact, writeKey } from '../../../lib/core/runs/action.ts';

const action: Action = {
  type: 'create_ticket',
  target: 'builtin',
  arguments: { title: 'Checkout fails', severity: 'high' },
  evidence: ['e'.repeat(64)],
  policy_version: 'incident-tickets@1',
  idempotency_key: 'k1',
  requester: 'dev:ana',
  expires_at: '2026-03-01T10:00:00.000Z',
  not_after: '2026-03-01T10:15:00.000Z',
};

/** Every member with another value than the action's. */
const OTHER: { readonly [F in keyof Action]: Action[F] } = {
  type: 'close_ticket',
  target: 'opscenter',
  arguments: { title: 'Checkout fails', severity: 'low' },
  evidence: ['f'.repeat(64)],
  policy_version: 'incident-tickets@2',
  idempotency_key: 'k2',
  requester: 'dev:bob',
  expires_at: '2026-03-01T10:00:00.001Z',
  not_after: '2026-03-01T10:15:00.001Z',
};

describe('the digest of an action', () => {
  it('is SHA-256 over the canonical JSON of a domain tag and the action', () => {
    expect(actionHash(action)).toBe(canonicalHash({ domain: 'checkpoint/action/1', action }));
    expect(actionHash(action)).toMatch(/^[0-9a-f]{64}$/u);
  });

  it.each(Object.keys(OTHER) as (keyof Action)[])('changes with %s', (name) => {
    const digest = actionHash({ ...action, [name]: OTHER[name] });
    expect(digest).not.toBe(actionHash(action));
  });

  it.each([
    ['an argument more', { ...action.arguments, queue: 'q' }],
    ['an argument less', { title: 'Checkout fails' }],
    ['a type of an argument', { title: 'Checkout fails', severity: 1 }],
    ['a space', { title: 'Checkout fails ', severity: 'high' }],
    ['a character that is not seen', { title: 'Checkout fails\u200b', severity: 'high' }],
  ])('changes with %s', (_what, args) => {
    expect(actionHash({ ...action, arguments: args })).not.toBe(actionHash(action));
  });

  it('changes with the order of the evidence', () => {
    const [one, two] = ['1'.repeat(64), '2'.repeat(64)];
    const forth = actionHash({ ...action, evidence: [one, two] });
    expect(actionHash({ ...action, evidence: [two, one] })).not.toBe(forth);
  });

  it('does not change with the order of members', () => {
    const turned = Object.fromEntries(Object.entries(action).toReversed());
    expect(actionHash(turned as unknown as Action)).toBe(actionHash(action));
  });

  it('covers every member there is', () => {
    expect([...BOUND_FIELDS].toSorted()).toEqual(Object.keys(OTHER).toSorted());
  });

  it('refuses a member that is not bound, and a bound one that is missing', () => {
    const more = { ...action, note: 'please' };
    const { requester: _, ...less } = action;
    expect(() => actionHash(more)).toThrow('not those of its digest');
    expect(() => actionHash(less as Action)).toThrow('not those of its digest');
    expect(() => actionHash({ ...less, note: 'x' } as unknown as Action)).toThrow();
  });
});

describe('a stored proposal', () => {
  const proposal = { action, action_hash: actionHash(action), seq: 4, at: action.expires_at };

  it('is intact as it was made, whatever is told with it', () => {
    expect(isIntact(proposal)).toBe(true);
    expect(isIntact({ ...proposal, missing: 'the runbook was not found' })).toBe(true);
  });

  it.each(Object.keys(OTHER) as (keyof Action)[])('is not intact once %s changed', (name) => {
    expect(isIntact({ ...proposal, action: { ...action, [name]: OTHER[name] } })).toBe(false);
  });

  it('is not intact under a short form of its digest, or with a member more', () => {
    expect(isIntact({ ...proposal, action_hash: proposal.action_hash.slice(0, 8) })).toBe(false);
    const more = { ...action, force: true } as Action;
    expect(isIntact({ ...proposal, action: more })).toBe(false);
  });
});

it('the key of a write is the same for a run, and another one for any other', () => {
  expect(writeKey('acme', 'run-1')).toBe(writeKey('acme', 'run-1'));
  expect(writeKey('acme', 'run-2')).not.toBe(writeKey('acme', 'run-1'));
  expect(writeKey('beta', 'run-1')).not.toBe(writeKey('acme', 'run-1'));
});
