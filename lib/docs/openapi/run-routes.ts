// The routes of runs, as they are documented.
import * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';
import {
  DECISION,
  INCIDENT,
  LIST,
  NO_BODY,
  OBSERVATIONS,
  RUNS,
} from '../../surface/rest/requests.ts';
import * as shapes from '../../surface/rest/shapes/runs.ts';
import type { RouteDoc } from './route.ts';

const tag = 'runs';
const READ = ['runs:create', 'approvals:decide', 'audit:read'] as const;
const NOT_FOUND = { '404': ['NOT_FOUND'] };
const ETAG = { etag: 'Changes with the run; give it back as If-None-Match.' };

/** The routes. */
export const RUN_ROUTES: readonly RouteDoc[] = [
  {
    method: 'get',
    path: '/v1/tools',
    id: 'listTools',
    tag,
    summary: 'What evidence servers offer',
    description:
      'Every tool that a configured server offers, whether it may be called, and why not. A tool is called only where our own allowlist names it and pins its definition.',
    scopes: READ,
    answers: { '200': { description: 'The tools.', shape: shapes.toolReport } },
    problems: { '501': ['NOT_ASKED_HERE'] },
  },
  {
    method: 'post',
    path: '/v1/runs',
    id: 'createRun',
    tag,
    summary: 'Report an incident',
    description: `Starts a run: evidence is gathered, and one exact action is proposed. The same incident of the same caller attaches to its run for ten minutes; with an Idempotency-Key, for ${LIMITS.ledgerDays.max} days.`,
    scopes: ['runs:create'],
    body: INCIDENT,
    headers: z.object({
      Prefer: z
        .string()
        .optional()
        .describe(
          `wait=N: wait up to N seconds for the proposal, 10 where it is left out, at most ${LIMITS.runWaitSeconds.max}.`,
        ),
    }),
    answers: {
      '201': {
        description: 'The proposal is there, or the run has ended; ended.code says why.',
        shape: shapes.runCreated,
        headers: {
          location: 'The run.',
          'preference-applied': 'The wait, where one was asked for.',
        },
      },
      '202': {
        description: 'Evidence is still gathered: read the run at Location.',
        shape: shapes.runAccepted,
        headers: {
          location: 'The run.',
          'retry-after': 'Seconds.',
          'preference-applied': 'The wait, where one was asked for.',
        },
      },
    },
    problems: { '422': ['IDEMPOTENCY_CONFLICT'] },
  },
  {
    method: 'get',
    path: '/v1/runs',
    id: 'listRuns',
    tag,
    summary: 'List runs',
    description:
      'Runs of one state, or of all in the order of the states; oldest first within a state. The list may lag; a run read by its id does not.',
    scopes: READ,
    query: RUNS,
    answers: { '200': { description: 'A page.', shape: shapes.runPage } },
    problems: { '400': ['INVALID_CURSOR'] },
  },
  {
    method: 'get',
    path: '/v1/runs/{run_id}',
    id: 'getRun',
    tag,
    summary: 'Read a run',
    description:
      'The run with its action, exact and as it may be looked at, and with what its tools answered. What tools answered is untrusted.',
    scopes: READ,
    headers: z.object({ 'If-None-Match': z.string().optional().describe('An ETag of before.') }),
    query: NO_BODY,
    answers: {
      '200': { description: 'The run.', shape: shapes.run, headers: ETAG },
      '304': { description: 'It did not change.', headers: ETAG },
    },
    problems: NOT_FOUND,
  },
  {
    method: 'get',
    path: '/v1/runs/{run_id}/observations',
    id: 'listObservations',
    tag,
    summary: 'Read what tools answered, in full',
    scopes: READ,
    query: OBSERVATIONS,
    answers: { '200': { description: 'A page, oldest first.', shape: shapes.observationPage } },
    problems: { '400': ['INVALID_CURSOR'], ...NOT_FOUND },
  },
  {
    method: 'get',
    path: '/v1/runs/{run_id}/events',
    id: 'listRunEvents',
    tag,
    summary: 'Read the audit trail of a run',
    scopes: ['audit:read'],
    query: LIST,
    answers: { '200': { description: 'A page, in order.', shape: shapes.runEventPage } },
    problems: { '400': ['INVALID_CURSOR'], ...NOT_FOUND },
  },
  {
    method: 'post',
    path: '/v1/runs/{run_id}/approval',
    id: 'decideApproval',
    tag,
    summary: 'Approve or deny the proposed action',
    description:
      'Decides on exactly the action whose full digest is named. Only a person decides, and never on what they asked for or worked on. The same decision again is the stored answer.',
    scopes: ['approvals:decide'],
    body: DECISION,
    answers: { '200': { description: 'The decision stands.', shape: shapes.runChanged } },
    problems: {
      ...NOT_FOUND,
      '409': ['ALREADY_DECIDED', 'STALE_PROPOSAL', 'APPROVAL_EXPIRED', 'WRONG_STATE'],
      '422': ['IDEMPOTENCY_CONFLICT'],
    },
  },
  {
    method: 'post',
    path: '/v1/runs/{run_id}/resume',
    id: 'resumeRun',
    tag,
    summary: 'Let a failed run go on',
    description:
      'Into gathering where nothing was approved; otherwise into executing, under the approval that was spent on its very action.',
    scopes: ['runs:create', 'approvals:decide'],
    body: NO_BODY,
    answers: { '200': { description: 'It goes on.', shape: shapes.runChanged } },
    problems: {
      ...NOT_FOUND,
      '409': ['WRONG_STATE', 'STALE_PROPOSAL', 'LIMIT_REACHED'],
      '422': ['IDEMPOTENCY_CONFLICT'],
    },
  },
];
