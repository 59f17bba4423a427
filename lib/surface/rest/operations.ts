// REST routes of whoever is on call: outbox, locks, sweeps and findings, and trails that need a person.
// Every one wants `ops:admin`; every change is an event of the workflow's trail.
import { Hono } from 'hono';
import { isRunId } from '../../core/model/aggregate.ts';
import type { Lock, OutboxRow } from '../../core/model/workflow.ts';
import type { Operations, PageOf } from '../../core/operations/operations.ts';
import { dayOf } from '../../core/instant.ts';
import type { HostCall } from '../host-call.ts';
import { problem } from '../reply.ts';
import { answered, refused, repeated } from './answers.ts';
import { createCalls, foreignCursor, reading, type CallParts } from './calls.ts';
import { notAllowed, readQuery, sentWith, type Call } from './request.ts';
import { FINDINGS, LIST, NO_BODY, OUTBOX, RELEASE, SWEEPS, UNFREEZE } from './requests.ts';

/** What the routes are made of. */
export interface OperationRoutes extends CallParts {
  readonly operations: Operations;
}

/** Sweeps whose findings stand on one page: at most 500 findings. */
const SWEEPS_SHOWN = 5;
/** The routes. */
export function operationRoutes(parts: OperationRoutes): Hono<{ Bindings: HostCall }> {
  const { operations, secrets, clock, commandTimeoutMs } = parts;
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  const { calling, paged } = createCalls({ secrets, clock, commandTimeoutMs });

  app.get('/outbox', async (c) => {
    const query = readQuery(c, OUTBOX);
    if (!query.ok) return query.response;
    const { state, limit, cursor } = query.value;
    const now = clock.now();
    const shown = (rows: readonly OutboxRow[]) => rows.map((row) => rowView(row, now));
    if (state === 'parked') {
      const list = (page: PageOf) => operations.listParked(reading(c), page);
      return paged(c, query.value, ['outbox', state], list, shown);
    }
    // What waits is short where it is delivered, and has no second page.
    if (cursor !== undefined) return foreignCursor();
    const found = await operations.listWaiting(reading(c), limit);
    if (found.code !== 'FOUND') return refused(found);
    return answered({ items: shown(found.value), more: found.value.length === limit });
  });
  app.get('/outbox/:id', async (c) => {
    const found = await operations.showRow(reading(c), c.req.param('id'));
    if (found.code !== 'FOUND') return refused(found);
    const row = found.value;
    if (row === undefined) return problem(404, 'NOT_FOUND', 'there is no such notification');
    return answered({ ...rowView(row, clock.now()), payload: row.payload });
  });
  app.post('/outbox/:id/redrive', async (c) => {
    const sent = await sentWith(c, NO_BODY);
    if (!sent.ok) return sent.response;
    const result = await operations.redrive(calling(c, sent.value.key), { id: c.req.param('id') });
    switch (result.code) {
      case 'REDRIVEN':
        return answered({ ...repeated(result.receipt), duplicate: false });
      case 'NOT_PARKED':
        return problem(409, 'NOT_PARKED', 'no notification of this id is parked');
      default:
        return refused(result);
    }
  });

  app.get('/locks', async (c) => {
    const query = readQuery(c, LIST);
    if (!query.ok) return query.response;
    const list = (page: PageOf) => operations.listLocks(reading(c), page);
    return paged(c, query.value, ['locks'], list, (locks) => locks.map(lockView));
  });
  app.post('/locks/:asset/release', async (c) => {
    const sent = await sentWith(c, RELEASE);
    if (!sent.ok) return sent.response;
    const { key, body } = sent.value;
    const command = { asset: c.req.param('asset'), ...body };
    const result = await operations.releaseLock(calling(c, key), command);
    switch (result.code) {
      case 'RELEASED':
        return answered({ ...repeated(result.receipt), duplicate: false, holder: result.name });
      case 'FREE':
        return problem(409, 'NOT_HELD', 'nobody holds the asset');
      case 'HELD_ANEW':
        return problem(409, 'HELD_ANEW', 'the asset is held under another fence by now', {
          fence: result.fence,
          workflow_id: result.workflow,
        });
      case 'LEFT_BEHIND':
        return problem(
          409,
          'LEFT_BEHIND',
          'the lock was left behind: the next start takes it over',
        );
      default:
        return refused(result);
    }
  });

  app.get('/sweeps', async (c) => {
    const query = readQuery(c, SWEEPS);
    if (!query.ok) return query.response;
    const found = await operations.sweeps(reading(c), query.value.day ?? dayOf(clock.now()));
    return found.code === 'FOUND' ? answered(found.value) : refused(found);
  });
  app.get('/findings', async (c) => {
    const query = readQuery(c, FINDINGS);
    if (!query.ok) return query.response;
    const day = query.value.day ?? dayOf(clock.now());
    const page = { limit: SWEEPS_SHOWN, cursor: query.value.cursor };
    const list = (at: PageOf) => operations.findings(reading(c), day, at);
    return paged(
      c,
      page,
      ['findings', day],
      list,
      (sweeps) =>
        sweeps.flatMap(({ at, shard, findings }) =>
          findings.map(({ workflow, ...finding }) => ({
            at,
            shard,
            ...finding,
            workflow_id: workflow,
          })),
        ),
      { day },
    );
  });

  const repair = (what: 'workflow' | 'run') => async (c: Call) => {
    const sent = await sentWith(c, NO_BODY);
    if (!sent.ok) return sent.response;
    const command = { workflow: idOf(c, what) };
    const result = await operations.repairTorn(calling(c, sent.value.key), command);
    switch (result.code) {
      case 'MOVED': {
        const { events, faults } = result;
        return answered({ ...repeated(result.receipt), duplicate: false, events, faults });
      }
      case 'TORN':
      case 'WHOLE':
        return problem(409, 'NOT_TORN', 'nothing lies beyond the head of the trail');
      case 'NOT_FOUND':
        return problem(404, 'NOT_FOUND', `there is no such ${what}`);
      default:
        return refused(result);
    }
  };
  const unfreeze = (what: 'workflow' | 'run') => async (c: Call) => {
    const sent = await sentWith(c, UNFREEZE);
    if (!sent.ok) return sent.response;
    const { key, body } = sent.value;
    const command = { workflow: idOf(c, what), ...body };
    const result = await operations.acknowledge(calling(c, key), command);
    switch (result.code) {
      case 'ACKNOWLEDGED': {
        const { faults } = result;
        return answered({ ...repeated(result.receipt), duplicate: false, faults });
      }
      case 'FROZEN': {
        const { faults, seen } = result;
        const title = 'look at what is found first, and name it';
        return problem(409, 'LOOK_FIRST', title, { faults, seen });
      }
      case 'WELL':
        return problem(409, 'NOT_FROZEN', 'the work is not frozen and its trail has no open fault');
      case 'TORN':
        return problem(409, 'TRAIL_TORN', 'events beyond the head are moved aside first');
      case 'NOT_FOUND':
        return problem(404, 'NOT_FOUND', `there is no such ${what}`);
      default:
        return refused(result);
    }
  };
  for (const [place, what] of [
    ['/workflows', 'workflow'],
    ['/runs', 'run'],
  ] as const) {
    app.post(`${place}/:id/repair-torn`, repair(what));
    app.post(`${place}/:id/unfreeze`, unfreeze(what));
  }

  for (const path of ['/outbox', '/outbox/:id', '/locks', '/sweeps', '/findings']) {
    app.all(path, (c) => notAllowed(c, 'GET, HEAD'));
  }
  for (const path of [
    '/outbox/:id/redrive',
    '/locks/:asset/release',
    '/workflows/:id/repair-torn',
    '/workflows/:id/unfreeze',
    '/runs/:id/repair-torn',
    '/runs/:id/unfreeze',
  ]) {
    app.all(path, (c) => notAllowed(c, 'POST'));
  }
  return app;
}

/** The id in a path; one of the other kind names nothing there. */
function idOf(c: Call, what: 'workflow' | 'run'): string {
  const id = c.req.param('id') ?? '';
  return isRunId(id) === (what === 'run') ? id : '';
}

function rowView(row: OutboxRow, now: number) {
  const { id, workflow, lane, seq, attempts, due_at, claim, error, parked_at, payload } = row;
  return {
    id,
    workflow_id: workflow,
    lane,
    event: seq,
    kind: typeof payload['kind'] === 'string' ? payload['kind'] : null,
    attempts,
    due_at: new Date(due_at).toISOString(),
    being_sent: claim !== undefined && claim.until > now,
    ...(error !== undefined && { last_error: error }),
    ...(parked_at !== undefined && { parked_at }),
  };
}

function lockView({ asset, workflow, procedure, subject, name, since, fence }: Lock) {
  return { asset, workflow_id: workflow, procedure, holder: { subject, name }, since, fence };
}
