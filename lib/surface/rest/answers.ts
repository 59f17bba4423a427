// Answers of REST routes: JSON, and refusals of the core as problem details (RFC 9457).
import type { OperationReceipt } from '../../core/model/workflow.ts';
import type { Repeated } from '../../core/operations/operate.ts';
import type { Refusal } from '../../core/outcome.ts';
import type { RunRefusal } from '../../core/runs/outcome.ts';
import { problem } from '../reply.ts';

/** What the core answers in place of what was asked for. */
export type Refused = Refusal | RunRefusal | Repeated;

/** An answer that nobody may keep. */
export function answered(
  body: object,
  status = 200,
  headers: { readonly [name: string]: string } = {},
): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

/** A receipt under the names of this surface. */
export function repeated({ operation, workflow, seq, at }: OperationReceipt) {
  return { operation, workflow_id: workflow, event: seq, at };
}

const FORBIDDEN: { readonly [why: string]: string } = {
  scope: 'a scope is missing',
  person: 'only a person may do this',
  channel: 'decisions do not come this way',
  involved: 'who asked for it or worked on it does not decide on it',
};

/** What was not done, and why; or what was done before under the same key. */
export function refused(result: Refused): Response {
  switch (result.code) {
    case 'REPEATED':
      return answered({ ...repeated(result.receipt), duplicate: true });
    case 'IDEMPOTENCY_CONFLICT': {
      const { fields } = result;
      const title = 'this key was used with other arguments';
      return problem(422, result.code, title, { fields });
    }
    case 'FORBIDDEN':
      return problem(403, result.code, FORBIDDEN[result.why] ?? '', { need: result.need });
    case 'INVALID_ARGUMENT': {
      const errors = result.faults.map(({ path: pointer, message }) => ({ pointer, message }));
      return problem(400, result.code, 'some of the request cannot be used', { errors });
    }
    case 'NOT_FOUND':
      return problem(404, result.code, `there is no such ${result.what}`);
    case 'BACKEND_UNAVAILABLE': {
      const { retryable } = result;
      const headers = { 'retry-after': String(Math.ceil(result.retryAfterMs / 1_000)) };
      return problem(503, result.code, 'this cannot be done now', { retryable, headers });
    }
    case 'ALREADY_DECIDED': {
      const { decision, by: subject, name, at, action_hash } = result;
      const rest = { decision, decided_by: { subject, name }, decided_at: at, action_hash };
      return problem(409, result.code, `it was ${decision} before`, rest);
    }
    case 'STALE_PROPOSAL': {
      const { given } = result;
      const now = 'run' in result ? result.run.proposal?.action_hash : result.current;
      const title = 'the digest is not that of the action that is proposed now';
      return problem(409, result.code, title, { given, ...(now && { action_hash: now }) });
    }
    case 'APPROVAL_EXPIRED': {
      const { expires_at } = result;
      return problem(409, result.code, 'the time to decide is over', { expires_at });
    }
    case 'WRONG_STATE':
      return problem(409, result.code, `the run is ${result.state}`, { state: result.state });
    case 'LIMIT_REACHED': {
      const { limit, max } = result;
      return problem(409, result.code, 'no more of this is possible', { limit, max });
    }
    default:
      return problem(409, result.code, 'this cannot be done as things stand');
  }
}
