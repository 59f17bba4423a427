// The routes of procedures and the work on them, as they are documented.
import * as z from 'zod';
import * as requests from '../../surface/rest/requests.ts';
import { workProblem } from '../../surface/rest/shapes/work-problem.ts';
import * as shapes from '../../surface/rest/shapes/workflows.ts';
import type { RouteDoc } from './route.ts';

const tag = 'procedures';
const READ = ['procedures:run', 'procedures:supervise', 'audit:read'] as const;
const RUN = ['procedures:run'] as const;
const EITHER = ['procedures:run', 'procedures:supervise'] as const;
const NOT_FOUND = { '404': ['NOT_FOUND'] };
const CONFLICT = { '422': ['IDEMPOTENCY_CONFLICT'] };
const ETAG = { etag: 'Changes with the work; give it back as If-None-Match.' };
const changed = { '200': { description: 'It is done.', shape: shapes.workflowChanged } };
const ON_STEPS = [
  'NEEDS_CONFIRMATION',
  'NOT_ASSIGNED',
  'STALE_REFERENCE',
  'WORKFLOW_COMPLETED',
  'WORKFLOW_BLOCKED',
  'SECOND_PERSON_REQUIRED',
  'NOT_SKIPPABLE',
  'STEP_NOT_READY',
  'LIMIT_REACHED',
];

/** A command on work, named in its path. */
const command = (
  name: string,
  part: Pick<RouteDoc, 'id' | 'summary' | 'scopes' | 'body'> & {
    readonly description?: string;
    readonly conflicts: readonly string[];
  },
): RouteDoc => {
  const { conflicts, ...rest } = part;
  return {
    ...rest,
    method: 'post',
    path: `/v1/workflows/{workflow_id}/${name}`,
    tag,
    answers: changed,
    problems: { ...NOT_FOUND, '409': conflicts, ...CONFLICT },
    problemShapes: { '409': workProblem },
  };
};

/** The routes. */
export const WORKFLOW_ROUTES: readonly RouteDoc[] = [
  {
    method: 'get',
    path: '/v1/procedures',
    id: 'listProcedures',
    tag,
    summary: 'List the procedures that can be started',
    scopes: [],
    query: requests.NO_BODY,
    answers: { '200': { description: 'All of them.', shape: shapes.procedureList } },
  },
  {
    method: 'get',
    path: '/v1/procedures/{id}',
    id: 'getProcedure',
    tag,
    summary: 'Read a procedure',
    scopes: [],
    answers: { '200': { description: 'Its newest version.', shape: shapes.procedure } },
    problems: NOT_FOUND,
  },
  {
    method: 'post',
    path: '/v1/workflows',
    id: 'startWorkflow',
    tag,
    summary: 'Start a procedure on an asset',
    description: 'Takes the asset, so that nobody else works on it.',
    scopes: RUN,
    body: requests.START,
    answers: {
      '201': {
        description: 'It is started, or was before.',
        shape: shapes.workflowChanged,
        headers: { location: 'The work.' },
      },
    },
    problems: { ...NOT_FOUND, '409': ['ASSET_BUSY'], ...CONFLICT },
    problemShapes: { '409': workProblem },
  },
  {
    method: 'get',
    path: '/v1/workflows',
    id: 'listWorkflows',
    tag,
    summary: 'List active work',
    description:
      'The work of the caller; with show=blocked, for supervisors, what is blocked; with asset, the work on it.',
    scopes: READ,
    query: requests.WORKFLOWS,
    answers: { '200': { description: 'Oldest first.', shape: shapes.workflowList } },
    problems: NOT_FOUND,
  },
  {
    method: 'get',
    path: '/v1/workflows/{workflow_id}',
    id: 'getWorkflow',
    tag,
    summary: 'Read where work stands',
    scopes: [...READ, 'approvals:decide'],
    headers: z.object({ 'If-None-Match': z.string().optional().describe('An ETag of before.') }),
    answers: {
      '200': { description: 'The work.', shape: shapes.workflow, headers: ETAG },
      '304': { description: 'It did not change.', headers: ETAG },
    },
    problems: NOT_FOUND,
  },
  {
    method: 'get',
    path: '/v1/workflows/{workflow_id}/events',
    id: 'listWorkflowEvents',
    tag,
    summary: 'Read the audit trail of work',
    scopes: ['audit:read'],
    query: requests.TRAIL,
    answers: { '200': { description: 'A page, in order.', shape: shapes.workflowEventPage } },
    problems: { '400': ['INVALID_CURSOR'], ...NOT_FOUND },
  },
  command('steps', {
    id: 'recordStep',
    summary: 'Record, correct, confirm or skip a step',
    description:
      'A value out of bounds, or a step that is on record, is not written: the answer is 409 NEEDS_CONFIRMATION with what the second call gives back.',
    scopes: RUN,
    body: requests.STEP,
    conflicts: ON_STEPS,
  }),
  command('resolve-block', {
    id: 'resolveBlock',
    summary: 'Decide about blocked work',
    description: 'Only a person decides.',
    scopes: ['procedures:supervise'],
    body: requests.RESOLVE,
    conflicts: ['STALE_REFERENCE', 'WORKFLOW_COMPLETED', 'SECOND_PERSON_REQUIRED', 'ASSET_BUSY'],
  }),
  command('approval', {
    id: 'decideProposal',
    summary: 'Approve or deny what blocked work proposes',
    description:
      'Decides on exactly the action whose full digest is named. Approved, the work goes on; denied, the block stays, for resolve-block alone. Only a person decides, and never on what they worked on. The same decision again is the stored answer.',
    scopes: ['approvals:decide'],
    body: requests.DECISION,
    conflicts: ['ALREADY_DECIDED', 'STALE_PROPOSAL', 'APPROVAL_EXPIRED', 'ASSET_BUSY'],
  }),
  command('hand-over', {
    id: 'handOver',
    summary: 'Give work to another person',
    scopes: EITHER,
    body: requests.HAND_OVER,
    conflicts: ['NEEDS_CONFIRMATION', 'AMBIGUOUS', 'NOT_ASSIGNED', 'STALE_REFERENCE'],
  }),
  command('complete', {
    id: 'completeWorkflow',
    summary: 'Complete work of which every required step is done',
    scopes: RUN,
    body: requests.NO_BODY,
    conflicts: ['NOT_ASSIGNED', 'STEPS_MISSING', 'WORKFLOW_BLOCKED'],
  }),
  command('abandon', {
    id: 'abandonWorkflow',
    summary: 'End work early and free the asset',
    scopes: EITHER,
    body: requests.ABANDON,
    conflicts: ['NEEDS_CONFIRMATION', 'NOT_ASSIGNED', 'STALE_REFERENCE', 'WORKFLOW_COMPLETED'],
  }),
];
