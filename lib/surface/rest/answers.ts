// Answers of REST routes: JSON, and refusals of the core as problem details (RFC 9457).
import type { OperationReceipt } from '../../core/model/workflow.ts';
import type { Repeated } from '../../core/operations/operate.ts';
import type { Refusal } from '../../core/outcome.ts';
import { problem } from '../reply.ts';

/** An answer that nobody may keep. */
export function answered(body: object): Response {
  return Response.json(body, { headers: { 'cache-control': 'no-store' } });
}

/** A receipt under the names of this surface. */
export function repeated({ operation, workflow, seq, at }: OperationReceipt) {
  return { operation, workflow_id: workflow, event: seq, at };
}

/** What was not done, and why; or what was done before under the same key. */
export function refused(result: Refusal | Repeated): Response {
  switch (result.code) {
    case 'REPEATED':
      return answered({ ...repeated(result.receipt), duplicate: true });
    case 'IDEMPOTENCY_CONFLICT': {
      const { fields } = result;
      const title = 'this key was used with other arguments';
      return problem(422, result.code, title, { fields });
    }
    case 'FORBIDDEN': {
      const what = result.why === 'person' ? 'only a person may do this' : 'a scope is missing';
      return problem(403, result.code, what, { need: result.need });
    }
    case 'NOT_FOUND':
      return problem(404, result.code, `there is no such ${result.what}`);
    case 'BACKEND_UNAVAILABLE': {
      const { retryable } = result;
      const headers = { 'retry-after': String(Math.ceil(result.retryAfterMs / 1_000)) };
      return problem(503, result.code, 'this cannot be done now', { retryable, headers });
    }
    default:
      return problem(409, result.code, 'this cannot be done as things stand');
  }
}
