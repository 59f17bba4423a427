// A failed run goes on: into gathering where nothing was approved, into executing under the approval that
// was spent on its very action. Pure.
import { sameDigest } from '../canonical.ts';
import { LIMITS } from '../limits.ts';
import { WORKING, type Run } from '../model/run.ts';
import { isIntact } from './action.ts';
import { changed, type RunContext } from './change.ts';
import { refused, wrongState, type RunDecision } from './decision.ts';

/** Decides on a resumption. */
export function decideResume(run: Run, context: RunContext): RunDecision {
  const { subject } = context.principal;
  const { resumed, state, attempt, people, proposal } = run;
  const answer = { command: 'resume_run', result: 'resumed' } as const;
  if (resumed?.subject === subject && WORKING.has(state)) {
    const { seq, at } = resumed;
    return { kind: 'duplicate', receipt: { ...answer, run: run.id, seq, at } };
  }
  if (state !== 'failed') return wrongState(run);
  const { max } = LIMITS.runAttempts;
  if (attempt >= max) return refused({ code: 'LIMIT_REACHED', limit: 'runAttempts', max });
  const approved = isApproved(run);
  if (run.approval !== undefined && !approved) {
    return refused({ code: 'STALE_PROPOSAL', given: run.approval.action_hash, run });
  }
  const to = approved ? 'executing' : 'gathering';
  const step = changed(run, context, {
    type: 'run_resumed',
    data: { to, ...(approved && proposal !== undefined && { action_hash: proposal.action_hash }) },
    receipt: answer,
    starts: true,
    change: (seq, at) => ({
      set: {
        state: to,
        resumed: { subject, seq, at },
        people: people.includes(subject) ? people : [...people, subject],
        ...(!approved && { evidence: [] }),
      },
      remove: approved ? ['end'] : ['end', 'proposal'],
    }),
  });
  return { kind: 'commit', ...step };
}

/** Whether a run has the spent approval of exactly the action that it still holds. */
export function isApproved({ approval, proposal }: Run): boolean {
  return (
    approval?.decision === 'approved' &&
    approval.spent &&
    proposal !== undefined &&
    isIntact(proposal) &&
    sameDigest(approval.action_hash, proposal.action_hash) &&
    approval.expires_at === proposal.action.expires_at &&
    approval.not_after === proposal.action.not_after
  );
}
