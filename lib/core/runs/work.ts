// The steps of a worker on one attempt of a run, each an event before and after what it does. A step of
// an older attempt, or on a run that has moved on, is refused and does nothing. Pure.
import { cutAtChars } from '../cut.ts';
import type { Observation } from '../evidence/observation.ts';
import { LIMITS } from '../limits.ts';
import type { Action, Run, RunState } from '../model/run.ts';
import { FORMAT } from '../model/workflow.ts';
import { actionHash, writeKey } from './action.ts';
import { changed, type RunContext, type RunStep } from './change.ts';
import { refused, wrongState, type RunDecision } from './decision.ts';
import { isApproved } from './resume.ts';
import { RUN } from './timing.ts';

/** What a worker reports of its attempt. */
export type WorkStep =
  /** Evidence begins to be gathered. */
  | { readonly do: 'begin' }
  /** What a tool answered: data, never an instruction. */
  | { readonly do: 'observe'; readonly observation: Observation }
  /** One exact action, its arguments validated and complete. */
  | {
      readonly do: 'propose';
      readonly action: Pick<Action, 'type' | 'target' | 'arguments' | 'policy_version'>;
      readonly missing?: string;
    }
  /** The write is about to be sent to `provider`. */
  | { readonly do: 'intend'; readonly provider: string }
  /** The write was accepted, or found. */
  | { readonly do: 'written'; readonly provider: string; readonly reference: string }
  /** A read on another path found exactly what was approved. */
  | { readonly do: 'verified'; readonly provider: string; readonly reference: string }
  | { readonly do: 'fail'; readonly reason: string; readonly message: string };

/** The states in which each step can be taken. */
const FROM: { readonly [D in WorkStep['do']]: readonly RunState[] } = {
  begin: ['created', 'gathering'],
  observe: ['gathering'],
  propose: ['gathering'],
  intend: ['executing'],
  written: ['executing'],
  verified: ['verifying'],
  fail: ['created', 'gathering', 'executing', 'verifying'],
};

/** Decides on a step of the attempt with this number. */
export function decideWork(
  run: Run,
  attempt: number,
  step: WorkStep,
  context: RunContext,
): RunDecision {
  if (attempt !== run.attempt) return refused({ code: 'STALE_ATTEMPT', given: attempt, run });
  if (!FROM[step.do].includes(run.state)) return wrongState(run);
  switch (step.do) {
    case 'begin':
      return committed(run, context, {
        type: 'gathering_started',
        data: { attempt },
        change: () => ({ set: { state: 'gathering' } }),
      });
    case 'observe':
      return observe(run, step.observation, context);
    case 'propose':
      return propose(run, step, context);
    case 'intend': {
      const refusal = refusalForWriting(run, attempt, context.now);
      if (refusal !== undefined) return refusal;
      const key = run.proposal?.action.idempotency_key ?? '';
      const data = { provider: step.provider, idempotency_key: key, attempt };
      return committed(run, context, { type: 'write_intended', data });
    }
    case 'written': {
      const { provider, reference } = step;
      const change = () => ({ set: { state: 'verifying' } as const });
      return committed(run, context, { type: 'write_made', data: { provider, reference }, change });
    }
    case 'verified': {
      const { provider, reference } = step;
      return committed(run, context, {
        type: 'run_completed',
        data: { provider, reference },
        change: (_seq, at) => ({
          set: { state: 'completed', result: { provider, reference, verified_at: at } },
        }),
      });
    }
    case 'fail':
      return { kind: 'commit', ...failed(run, context, step) };
  }
}

/**
 * Why nothing may be sent now for an attempt, or undefined where it may: it is read again before every
 * external call, and by whatever delivers a start.
 */
export function refusalForWriting(run: Run, attempt: number, now: number): RunDecision | undefined {
  if (attempt !== run.attempt) return refused({ code: 'STALE_ATTEMPT', given: attempt, run });
  if (run.state !== 'executing') return wrongState(run);
  const { proposal } = run;
  if (proposal === undefined || !isApproved(run)) {
    return refused({ code: 'STALE_PROPOSAL', given: run.approval?.action_hash ?? '', run });
  }
  const { not_after } = proposal.action;
  return now > Date.parse(not_after) ? refused({ code: 'TOO_LATE', not_after, run }) : undefined;
}

/** Ends a run as failed; what it has of evidence and approval stays. */
export function failed(
  run: Run,
  context: RunContext,
  why: { readonly reason: string; readonly message: string },
  data: RunStep['data'] = {},
) {
  const { reason: code } = why;
  const message = cutAtChars(why.message, LIMITS.reasonChars.max);
  const { state: from } = run;
  return changed(run, context, {
    type: 'run_failed',
    data: { code, message, from, ...data },
    notify: 'run_failed',
    change: (seq, at) => ({ set: { state: 'failed', end: { code, message, from, seq, at } } }),
  });
}

function observe(run: Run, observation: Observation, context: RunContext): RunDecision {
  const { observations, observationBytes } = LIMITS;
  if (run.evidence.length >= observations.max) {
    return refused({ code: 'LIMIT_REACHED', limit: 'observations', max: observations.max });
  }
  const { text, ...told } = observation;
  if (Buffer.byteLength(text) > observationBytes.max) {
    return refused({ code: 'LIMIT_REACHED', limit: 'observationBytes', max: observationBytes.max });
  }
  const { tenant, id, evidence } = run;
  return committed(run, context, {
    type: 'observation_recorded',
    // The text is kept apart; its digest binds it to the event.
    data: { ...told },
    evidence: (seq, at) => ({ format: FORMAT, tenant, run: id, seq, at, ...observation }),
    change: () => ({
      set: {
        observations: run.observations + 1,
        evidence: [...evidence, observation.digest],
      },
    }),
  });
}

function propose(
  run: Run,
  { action: parts, missing }: Extract<WorkStep, { do: 'propose' }>,
  context: RunContext,
): RunDecision {
  const { tenant, id, requester, evidence } = run;
  const { type, target, arguments: args, policy_version } = parts;
  const expiresAt = context.now + RUN.approveMs;
  const action: Action = {
    type,
    target,
    arguments: args,
    evidence,
    policy_version,
    idempotency_key: writeKey(tenant, id),
    requester: requester.subject,
    expires_at: new Date(expiresAt).toISOString(),
    not_after: new Date(expiresAt + RUN.sendMs).toISOString(),
  };
  const action_hash = actionHash(action);
  const lacks =
    missing === undefined ? {} : { missing: cutAtChars(missing, LIMITS.reasonChars.max) };
  return committed(run, context, {
    type: 'action_proposed',
    data: { action: { ...action }, action_hash, ...lacks },
    notify: 'approval_requested',
    change: (seq, at) => ({
      set: {
        state: 'awaiting_approval',
        proposal: { action, action_hash, seq, at, ...lacks },
      },
    }),
  });
}

const committed = (run: Run, context: RunContext, step: RunStep): RunDecision => ({
  kind: 'commit',
  ...changed(run, context, step),
});
