// The route of what waits for a decision, as it is documented.
import { LIST } from '../../surface/rest/requests.ts';
import { pendingApprovalPage } from '../../surface/rest/shapes/approvals.ts';
import type { RouteDoc } from './route.ts';

/** The routes. */
export const APPROVAL_ROUTES: readonly RouteDoc[] = [
  {
    method: 'get',
    path: '/v1/approvals',
    id: 'listApprovals',
    tag: 'approvals',
    summary: 'List what waits for a decision',
    description:
      'Actions of runs, then those that blocked work proposes; oldest first within each, and only what the token may read: with runs:create the runs, with procedures:supervise the work. A page may hold fewer than asked for and still have a next one. The list may lag; what is read by its id does not.',
    scopes: ['approvals:decide', 'audit:read', 'runs:create', 'procedures:supervise'],
    query: LIST,
    answers: { '200': { description: 'A page.', shape: pendingApprovalPage } },
    problems: { '400': ['INVALID_CURSOR'] },
  },
];
