// Who decides on what, until when, and what is sent under an approval.
import { describe, expect, it } from '@jest/globals';
import type { Action, Run } from '../../../lib/core/model/run.ts';
import type { Principal } from '../../../lib/core/model/principal.ts';
import { decideApproval } from '../../../lib/core/runs/approve.ts';
import { refusalForRun, APPROVAL_CHANNELS } from '../../../lib/core/runs/authorize.ts';
import type { RunDecision } from '../../../lib/core/runs/decision.ts';
import { runAfter } from '../../../lib/core/runs/plan.ts';
import { decideResume } from '../../../lib/core/runs/resume.ts';
import { decideWork, refusalForWriting } from '../../../lib/core/runs/work.ts';
import { principal, START_MS } from '../../support/harness.ts';
import { ACTION, people, runOf } from '../../support/runs.ts';

const { ana, cara, dan } = people('acme');
const EXPIRES = START_MS + 3_600_000;
const NOT_AFTER = EXPIRES + 900_000;
const at = (now: number, who: Principal = cara) => ({ principal: who, now, sinks: [] });
const after = (decision: RunDecision): Run => {
  if (decision.kind !== 'commit') throw new Error(JSON.stringify(decision));
  return runAfter(decision.plan);
};
const gathering = runOf('acme', { state: 'gathering' });
const waiting = after(decideWork(gathering, 1, { do: 'propose', action: ACTION }, at(START_MS)));
const hash = waiting.proposal?.action_hash ?? '';
const yes = {
  type: 'decide_approval',
  run: waiting.id,
  approved: true,
  action_hash: hash,
} as const;
const no = { ...yes, approved: false } as const;
const executing = after(decideApproval(waiting, yes, at(START_MS)));

describe('a decision', () => {
  it.each([
    ['the requester', ana, { code: 'FORBIDDEN', why: 'involved' }],
    ['the requester under another name', { ...ana, name: 'Somebody' }, { why: 'involved' }],
    ['the requester by another channel', { ...ana, via: 'cli' as const }, { why: 'involved' }],
  ])('by %s is refused, either way', (_who, who, expected) => {
    expect(decideApproval(waiting, yes, at(START_MS, who))).toMatchObject({ outcome: expected });
    expect(decideApproval(waiting, no, at(START_MS, who))).toMatchObject({ outcome: expected });
  });

  it('by whoever resumed the run is refused', () => {
    const failed = after(
      decideWork(gathering, 1, { do: 'fail', reason: 'X', message: 'm' }, at(START_MS)),
    );
    const resumed = after(decideResume(failed, at(START_MS, cara)));
    const again = after(decideWork(resumed, 2, { do: 'propose', action: ACTION }, at(START_MS)));
    const command = { ...yes, action_hash: again.proposal?.action_hash ?? '' };
    expect(decideApproval(again, command, at(START_MS, cara))).toMatchObject({
      outcome: { code: 'FORBIDDEN', why: 'involved' },
    });
    expect(decideApproval(again, command, at(START_MS, dan)).kind).toBe('commit');
  });

  it.each([
    ['the first eight digits', hash.slice(0, 8)],
    ['upper case', hash.toUpperCase()],
    ['a digit more', `${hash}0`],
    ['nothing', ''],
  ])('under %s of its digest is not even compared', (_what, action_hash) => {
    expect(decideApproval(waiting, { ...yes, action_hash }, at(START_MS))).toMatchObject({
      outcome: { code: 'INVALID_ARGUMENT', faults: [{ path: '/action_hash' }] },
    });
  });

  it.each([0, 31, 63])('under a digest that differs in digit %i is stale', (n) => {
    const other = hash[n] === '0' ? '1' : '0';
    const action_hash = hash.slice(0, n) + other + hash.slice(n + 1);
    expect(decideApproval(waiting, { ...yes, action_hash }, at(START_MS))).toMatchObject({
      outcome: { code: 'STALE_PROPOSAL', given: action_hash },
    });
  });

  it('counts in the last moment, and not in the one after it', () => {
    expect(decideApproval(waiting, yes, at(EXPIRES)).kind).toBe('commit');
    for (const command of [yes, no]) {
      expect(decideApproval(waiting, command, at(EXPIRES + 1))).toMatchObject({
        outcome: { code: 'APPROVAL_EXPIRED', expires_at: new Date(EXPIRES).toISOString() },
      });
    }
  });

  it('the same again is its stored answer, whoever gives it; otherwise it names who, what and when', () => {
    const again = decideApproval(executing, yes, at(EXPIRES + 1, dan));
    expect(again).toMatchObject({
      kind: 'duplicate',
      receipt: { result: 'approved', action_hash: hash, seq: executing.approval?.seq },
    });
    expect(decideApproval(executing, no, at(START_MS, dan))).toMatchObject({
      outcome: {
        code: 'ALREADY_DECIDED',
        decision: 'approved',
        by: 'dev:cara',
        name: 'Cara',
        at: new Date(START_MS).toISOString(),
        action_hash: hash,
      },
    });
    const other = { ...yes, action_hash: 'f'.repeat(64) };
    expect(decideApproval(executing, other, at(START_MS))).toMatchObject({
      outcome: { code: 'ALREADY_DECIDED' },
    });
  });

  it('that denies cancels the run, spends nothing and starts nothing', () => {
    const decision = decideApproval(waiting, no, at(START_MS));
    expect(after(decision)).toMatchObject({
      state: 'cancelled',
      attempt: 1,
      approval: { decision: 'denied', spent: false },
      end: { code: 'DENIED' },
    });
    expect(decision.kind === 'commit' && decision.plan.outbox).toEqual([]);
    expect(decideResume(after(decision), at(START_MS))).toMatchObject({
      outcome: { code: 'WRONG_STATE', state: 'cancelled' },
    });
  });
});

describe('who may decide at all', () => {
  const scopes = ['approvals:decide'];
  it.each([
    ['a person by REST', principal({ via: 'rest', scopes }), undefined],
    ['a person by the command line', principal({ via: 'cli', scopes }), undefined],
    ['a person through an assistant', principal({ via: 'mcp', scopes }), 'channel'],
    ['a person without the scope', principal({ via: 'rest', scopes: ['runs:create'] }), 'scope'],
    ['an agent', principal({ via: 'rest', kind: 'agent', scopes }), 'person'],
    ['a service', principal({ via: 'rest', kind: 'service', scopes }), 'person'],
  ])('%s', (_who, who, why) => {
    const refusal = refusalForRun(who, 'decide_approval', APPROVAL_CHANNELS);
    expect(refusal && 'why' in refusal ? refusal.why : refusal).toBe(why);
  });
});

describe('what may be sent', () => {
  const sent = (run: Run, attempt = run.attempt, now = START_MS) =>
    refusalForWriting(run, attempt, now) === undefined;

  it('is what was approved, by its own attempt, until the last moment', () => {
    expect(sent(executing)).toBe(true);
    expect(sent(executing, 1)).toBe(false);
    expect(sent(executing, 3)).toBe(false);
    expect(sent(executing, 2, NOT_AFTER)).toBe(true);
    expect(sent(executing, 2, NOT_AFTER + 1)).toBe(false);
    expect(sent(waiting)).toBe(false);
    expect(sent({ ...executing, state: 'verifying' })).toBe(false);
    expect(sent({ ...executing, state: 'failed' })).toBe(false);
  });

  const OTHER: { readonly [F in keyof Action]: Action[F] } = {
    type: 'close_ticket',
    target: 'elsewhere',
    arguments: { ...ACTION.arguments, severity: 'low' },
    evidence: ['e'.repeat(64)],
    policy_version: 'incident-tickets@2',
    idempotency_key: 'other',
    requester: 'dev:bob',
    expires_at: new Date(EXPIRES + 1).toISOString(),
    not_after: new Date(NOT_AFTER + 1).toISOString(),
  };
  it.each(Object.keys(OTHER) as (keyof Action)[])(
    'is nothing once %s was changed after the approval',
    (name) => {
      const { proposal } = executing;
      if (proposal === undefined) throw new Error('there is a proposal');
      const action = { ...proposal.action, [name]: OTHER[name] };
      const run = { ...executing, proposal: { ...proposal, action } };
      expect(sent(run)).toBe(false);
      const failed = { ...run, state: 'failed' as const };
      expect(decideResume(failed, at(START_MS))).toMatchObject({
        outcome: { code: 'STALE_PROPOSAL' },
      });
    },
  );

  it.each([
    ['an unspent approval', { spent: false }],
    ['a denial', { decision: 'denied' as const }],
    ['an approval of another digest', { action_hash: 'f'.repeat(64) }],
    ['an approval with another expiry', { expires_at: new Date(EXPIRES + 1).toISOString() }],
    ['an approval with another last moment', { not_after: new Date(NOT_AFTER + 1).toISOString() }],
  ])('is nothing under %s', (_what, part) => {
    const { approval } = executing;
    if (approval === undefined) throw new Error('there is an approval');
    expect(sent({ ...executing, approval: { ...approval, ...part } })).toBe(false);
  });
});
