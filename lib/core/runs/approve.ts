// A person's decision on one exact action. The transaction that approves is the one that spends the
// approval: it moves the run to executing and starts the work. Pure.
// Invariant I7: an action runs only under an approval of exactly its digest, by a person who is neither
// its requester nor involved.
import { sameDigest } from '../canonical.ts';
import type { Principal } from '../model/principal.ts';
import type { Approval, Run, RunReceipt } from '../model/run.ts';
import { DIGEST, isIntact } from './action.ts';
import { INVOLVED } from './authorize.ts';
import { changed, type RunContext } from './change.ts';
import type { DecideApproval } from './commands.ts';
import { refused, wrongState, type RunDecision } from './decision.ts';
import type { RunRefusal } from './outcome.ts';

/** Refuses whoever asked for an action or worked on what it is about; no claim of theirs counts. */
export function refusalForInvolved(
  { subject }: Pick<Principal, 'subject'>,
  { requester, people }: { readonly requester: string; readonly people: Iterable<string> },
): RunRefusal | undefined {
  if (subject !== requester && ![...people].includes(subject)) return undefined;
  return INVOLVED;
}

/** Decides on an approval or a denial. */
export function decideApproval(
  run: Run,
  command: DecideApproval,
  context: RunContext,
): RunDecision {
  const { principal, now } = context;
  const { action_hash } = command;
  if (!DIGEST.test(action_hash)) {
    const message = 'expected the full digest of the action: 64 lower-case hex digits';
    return refused({ code: 'INVALID_ARGUMENT', faults: [{ path: '/action_hash', message }] });
  }
  const { approval, proposal, requester, people, state } = run;
  const involved = refusalForInvolved(principal, { requester: requester.subject, people });
  if (involved !== undefined) return refused(involved);
  if (approval !== undefined) return decidedBefore(run, approval, command);
  if (run.end?.code === 'APPROVAL_EXPIRED' && proposal !== undefined) {
    return refused({ code: 'APPROVAL_EXPIRED', expires_at: proposal.action.expires_at, run });
  }
  if (state !== 'awaiting_approval' || proposal === undefined) return wrongState(run);
  if (!isIntact(proposal) || !sameDigest(proposal.action_hash, action_hash)) {
    return refused({ code: 'STALE_PROPOSAL', given: action_hash, run });
  }
  const { expires_at, not_after } = proposal.action;
  if (now > Date.parse(expires_at)) {
    return refused({ code: 'APPROVAL_EXPIRED', expires_at, run });
  }
  const { approved } = command;
  const decision = approved ? 'approved' : 'denied';
  const { subject, name, via } = principal;
  const record = (seq: number, at: string): Approval => ({
    decision,
    action_hash,
    subject,
    name,
    via,
    at,
    seq,
    expires_at,
    not_after,
    spent: approved,
  });
  const answer = { command: 'decide_approval', result: decision, action_hash } as const;
  const end = { code: 'DENIED', message: 'the action was denied', from: state } as const;
  const step = approved
    ? changed(run, context, {
        type: 'action_approved',
        data: { expires_at, not_after },
        receipt: answer,
        starts: true,
        change: (seq, at) => ({ set: { state: 'executing', approval: record(seq, at) } }),
      })
    : changed(run, context, {
        type: 'action_denied',
        data: {},
        receipt: answer,
        change: (seq, at) => ({
          set: { state: 'cancelled', approval: record(seq, at), end: { ...end, seq, at } },
        }),
      });
  return { kind: 'commit', ...step };
}

/** The same decision again is its stored answer; any other learns who decided what, and when. */
function decidedBefore(run: Run, approval: Approval, command: DecideApproval): RunDecision {
  const { decision, action_hash, subject, name, at, seq } = approval;
  const again = decision === (command.approved ? 'approved' : 'denied');
  if (again && sameDigest(action_hash, command.action_hash)) {
    const answer = { command: 'decide_approval', result: decision, action_hash } as const;
    const receipt: RunReceipt = { ...answer, run: run.id, seq, at };
    return { kind: 'duplicate', receipt };
  }
  return refused({ code: 'ALREADY_DECIDED', decision, by: subject, name, at, action_hash, run });
}
