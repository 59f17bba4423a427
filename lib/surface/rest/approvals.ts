// The REST route of what waits for a decision, whether a run or blocked work proposes it.
import { Hono } from 'hono';
import type * as z from 'zod';
import { displayFields } from '../../core/display.ts';
import type { Json } from '../../core/json.ts';
import type { Proposal } from '../../core/model/run.ts';
import { listPending, type Pending, type PendingParts } from '../../core/pending.ts';
import type { HostCall } from '../host-call.ts';
import { createCalls, reading, type CallParts } from './calls.ts';
import { notAllowed, readQuery } from './request.ts';
import { LIST } from './requests.ts';
import type { pendingApproval } from './shapes/approvals.ts';

/** What the route is made of. */
export type ApprovalRoutes = CallParts & PendingParts;

/** The route. */
export function approvalRoutes(parts: ApprovalRoutes): Hono<{ Bindings: HostCall }> {
  const { paged } = createCalls(parts);
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  app.get('/approvals', (c) => {
    const query = readQuery(c, LIST);
    if (!query.ok) return query.response;
    return paged(
      c,
      query.value,
      ['approvals'],
      (at) => listPending(parts, reading(c), at),
      (all) => all.flatMap(pendingView),
    );
  });
  app.all('/approvals', (c) => notAllowed(c, 'GET, HEAD'));
  return app;
}

/** One action that waits, with all that somebody who decides has to see. */
function pendingView(pending: Pending): readonly z.input<typeof pendingApproval>[] {
  if ('run' in pending) {
    const { id: run_id, service: about, requester, proposal } = pending.run;
    if (proposal === undefined) return [];
    const { missing } = proposal;
    const told = missing === undefined ? {} : { missing };
    const requested_by = requester.subject;
    return [{ kind: 'run', run_id, about, requested_by, ...proposalView(proposal), ...told }];
  }
  const { workflow: workflow_id, asset: about, block } = pending.workflow;
  if (block?.proposal === undefined) return [];
  const { proposed_action, proposed_action_display, ...rest } = block.proposal;
  return [
    {
      kind: 'workflow',
      workflow_id,
      about,
      requested_by: proposed_action.requester,
      reason: block.message,
      ...rest,
      proposed_action: { ...proposed_action, evidence: [...proposed_action.evidence] },
      proposed_action_display: [...proposed_action_display],
    },
  ];
}

function proposalView({ action, action_hash }: Proposal) {
  return {
    action_hash,
    expires_at: action.expires_at,
    proposed_action: { ...action, evidence: [...action.evidence] },
    proposed_action_display: [...displayFields(action as unknown as Json)],
  };
}
