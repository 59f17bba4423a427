// The routes of whoever is on call, as they are documented.
import {
  NO_BODY,
  LIST,
  RELEASE,
  OUTBOX,
  SWEEPS,
  FINDINGS,
  UNFREEZE,
} from '../../surface/rest/requests.ts';
import * as shapes from '../../surface/rest/shapes/operations.ts';
import type { RouteDoc } from './route.ts';

const common = { tag: 'operations', scopes: ['ops:admin'] } as const;
const CURSOR = { '400': ['INVALID_CURSOR'] };
const CONFLICT = { '422': ['IDEMPOTENCY_CONFLICT'] };
const NOT_FOUND = { '404': ['NOT_FOUND'] };

/** The routes. */
export const OPERATION_ROUTES: readonly RouteDoc[] = [
  {
    ...common,
    method: 'get',
    path: '/v1/outbox',
    id: 'listOutbox',
    summary: 'List notifications that wait or are parked',
    query: OUTBOX,
    answers: { '200': { description: 'A page.', shape: shapes.notificationPage } },
    problems: CURSOR,
  },
  {
    ...common,
    method: 'get',
    path: '/v1/outbox/{id}',
    id: 'getNotification',
    summary: 'Read a notification',
    answers: { '200': { description: 'It.', shape: shapes.notificationInFull } },
    problems: NOT_FOUND,
  },
  {
    ...common,
    method: 'post',
    path: '/v1/outbox/{id}/redrive',
    id: 'redriveNotification',
    summary: 'Send a parked notification again',
    body: NO_BODY,
    answers: { '200': { description: 'It is sent again.', shape: shapes.redriven } },
    problems: { '409': ['NOT_PARKED'], ...CONFLICT },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/locks',
    id: 'listLocks',
    summary: 'List who holds which asset',
    query: LIST,
    answers: { '200': { description: 'A page, oldest first.', shape: shapes.lockPage } },
    problems: CURSOR,
  },
  {
    ...common,
    method: 'post',
    path: '/v1/locks/{asset}/release',
    id: 'releaseLock',
    summary: 'Take an asset away from its holder',
    description: 'Blocks the work that holds it. Only a person does this.',
    body: RELEASE,
    answers: { '200': { description: 'It is free.', shape: shapes.lockReleased } },
    problems: { '409': ['NOT_HELD', 'LEFT_BEHIND', 'HELD_ANEW'], ...CONFLICT },
    problemShapes: { '409': shapes.heldProblem },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/sweeps',
    id: 'getSweeps',
    summary: 'Read what the reconciler did on a day',
    query: SWEEPS,
    answers: { '200': { description: 'The day.', shape: shapes.sweepDay } },
  },
  {
    ...common,
    method: 'get',
    path: '/v1/findings',
    id: 'listFindings',
    summary: 'List what sweeps found on a day',
    query: FINDINGS,
    answers: { '200': { description: 'A page, the earliest first.', shape: shapes.findingPage } },
    problems: CURSOR,
  },
  ...trailRoutes('workflow'),
  ...trailRoutes('run'),
];

/** The two ways back of a trail that needs a person, for one kind of work. */
function trailRoutes(kind: 'workflow' | 'run'): readonly RouteDoc[] {
  const place = `/v1/${kind}s/{${kind}_id}`;
  const of = kind === 'run' ? 'Run' : 'Workflow';
  return [
    {
      ...common,
      method: 'post',
      path: `${place}/repair-torn`,
      id: `repairTornTrailOf${of}`,
      summary: 'Move events beyond the head of a trail aside',
      body: NO_BODY,
      answers: { '200': { description: 'They are.', shape: shapes.trailRepaired } },
      problems: { ...NOT_FOUND, '409': ['NOT_TORN'], ...CONFLICT },
    },
    {
      ...common,
      method: 'post',
      path: `${place}/unfreeze`,
      id: `unfreeze${of}`,
      summary: 'Let frozen work go on, once a person has looked at its trail',
      description:
        'Only a person does this. Without `seen`, or where it is not what is found, nothing changes.',
      body: UNFREEZE,
      answers: { '200': { description: 'It goes on.', shape: shapes.trailAcknowledged } },
      problems: { ...NOT_FOUND, '409': ['NOT_FROZEN', 'LOOK_FIRST', 'TRAIL_TORN'], ...CONFLICT },
      problemShapes: { '409': shapes.unseenProblem },
    },
  ];
}
