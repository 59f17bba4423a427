// R7: decisions that nobody made in time, and writes of which nobody knows. An approval past its expiry is
// cancelled with the reason. A run past its deadline is completed where its write is found as it was
// approved, and failed, to be resumed, where it is certain that nothing was written, or something else was.
import { changed } from '../runs/change.ts';
import { isIntact } from '../runs/action.ts';
import { isApproved } from '../runs/resume.ts';
import { failed } from '../runs/work.ts';
import type { Run } from '../model/run.ts';
import { isLate, type RunObservation, type RunRepair, type RunRule } from './run-rules.ts';

/** The rule. */
export const stalledRun: RunRule = (seen, context) => {
  const { run } = seen;
  if (run.state === 'awaiting_approval') return undecided(run, context);
  if (run.state !== 'executing' && run.state !== 'verifying') return undefined;
  return isLate(run, context.now) ? unverified(seen, context) : undefined;
};

type Context = Parameters<RunRule>[1];

const RULE = { rule: 'R7' } as const;

function undecided(run: Run, context: Context): RunRepair | undefined {
  const { id, proposal, state: from } = run;
  if (proposal === undefined || !isIntact(proposal)) {
    const message = 'the proposal is not the one that its digest was made over';
    const { plan } = failed(run, context, { reason: 'PROPOSAL_CHANGED', message }, RULE);
    return { rule: 'R7', finding: `the proposal of ${id} was changed`, plan };
  }
  const { expires_at } = proposal.action;
  if (context.now <= Date.parse(expires_at)) return undefined;
  const end = { code: 'APPROVAL_EXPIRED', message: 'nobody decided in time', from };
  const { plan } = changed(run, context, {
    type: 'approval_expired',
    data: { expires_at, action_hash: proposal.action_hash, ...RULE },
    change: (seq, at) => ({ set: { state: 'cancelled', end: { ...end, seq, at } } }),
  });
  return { rule: 'R7', finding: `nobody decided on ${id} in time`, plan };
}

function unverified({ run, written }: RunObservation, context: Context): RunRepair | undefined {
  const { id, state, proposal } = run;
  if (!isApproved(run)) {
    const message = 'the action is not the one that was approved';
    const { plan } = failed(run, context, { reason: 'PROPOSAL_CHANGED', message }, RULE);
    return { rule: 'R7', finding: `the action of ${id} was changed after its approval`, plan };
  }
  if (written === undefined) return undefined;
  const { provider, ticket, settlesInMs } = written;
  if (ticket === undefined) {
    const until = Date.parse(proposal?.action.not_after ?? '') + settlesInMs;
    // It may still be under way: unknown never becomes failed.
    if (!(context.now > until)) return undefined;
    const message = 'nothing was written, and nothing can be on its way any more';
    const { plan } = failed(run, context, { reason: 'NOT_DONE', message }, { provider, ...RULE });
    return { rule: 'R7', finding: `nothing was written for ${id}`, plan };
  }
  const { reference, differs } = ticket;
  if (differs.length > 0) {
    const message = `what was written differs from what was approved: ${differs.join(', ')}`;
    const why = { reason: 'READ_BACK_DIFFERS', message };
    const { plan } = failed(run, context, why, { provider, reference, ...RULE });
    return { rule: 'R7', finding: `the write of ${id} is not what was approved`, plan };
  }
  const data = { provider, reference, ...RULE };
  if (state === 'executing') {
    const { plan } = changed(run, context, {
      type: 'write_made',
      data,
      // The next look completes it: what was found is read once more.
      lastingTimes: true,
      change: () => ({ set: { state: 'verifying' } }),
    });
    return { rule: 'R7', finding: `the write of ${id} was found`, plan };
  }
  const { plan } = changed(run, context, {
    type: 'run_completed',
    data,
    change: (_seq, at) => ({
      set: { state: 'completed', result: { provider, reference, verified_at: at } },
    }),
  });
  return { rule: 'R7', finding: `${id} was left before its end`, plan };
}
