// REST routes of runs: create, read, decide, resume, and what evidence servers offer. Waits for a proposal
// by reading the run, and knows no worker.
import { Hono } from 'hono';
import * as z from 'zod';
import type { ToolVerdicts } from '../../core/evidence/report.ts';
import { isFault } from '../../core/fault.ts';
import type { EvidenceRow, Run } from '../../core/model/run.ts';
import type { RunQueries } from '../../core/runs/queries.ts';
import type { RunService } from '../../core/runs/service.ts';
import type { RunCommand } from '../../core/runs/commands.ts';
import { deadlineOf, type HostCall } from '../host-call.ts';
import { problem } from '../reply.ts';
import { answered, refused } from './answers.ts';
import { createCalls, reading, type CallParts } from './calls.ts';
import { etagOf, isKnown, notModified } from './etag.ts';
import { notAllowed, readQuery, sentWith, type Call } from './request.ts';
import { DECISION, INCIDENT, LIST, NO_BODY, OBSERVATIONS, RUNS } from './requests.ts';
import { observationView, runEventView, runReceipt, runSummary, runView } from './run-view.ts';
import { toolReportView } from './run-view.ts';
import { lookUntil, preferredSeconds, waitMs } from './wait.ts';

/** Asks every evidence server what it offers, until `deadlineMs`. */
export type EvidenceTools = (deadlineMs: number) => Promise<ToolVerdicts>;

/** What the routes are made of. */
export interface RunRoutes extends CallParts {
  readonly runs: RunService;
  readonly runQueries: RunQueries;
  /** Absent where a process asks no server. */
  readonly evidenceTools?: EvidenceTools;
}

/** How long evidence servers have to say what they offer. */
const REPORT_MS = 10_000;
const DIGITS = /^\d{1,9}$/;

/** The routes. */
export function runRoutes(parts: RunRoutes): Hono<{ Bindings: HostCall }> {
  const { runs, runQueries, clock, evidenceTools } = parts;
  const { calling, paged } = createCalls(parts);
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  const hostLeftMs = (c: Call): number =>
    (deadlineOf(c.env).deadlineMs ?? Number.POSITIVE_INFINITY) - clock.now();

  const command = (c: Call, key: string | undefined, asked: RunCommand) => {
    const { principal, requestId, deadlineMs } = calling(c, key);
    const full = { ...asked, ...(key !== undefined && { key }) };
    return runs.execute(principal, full, deadlineMs, requestId);
  };
  /** The observations of a run that was just committed; an answer without them is still true. */
  const evidenceOf = async (c: Call, { id }: Run): Promise<readonly EvidenceRow[]> => {
    const found = await runQueries.getWithEvidence(reading(c), id);
    return found.code === 'FOUND' ? found.value.evidence : [];
  };
  const changed = async (c: Call, asked: RunCommand, key: string | undefined) => {
    const outcome = await command(c, key, asked);
    if (outcome.code !== 'OK') return refused(outcome);
    const { duplicate, receipt, run } = outcome;
    const view = runView(run, await evidenceOf(c, run));
    return answered({ duplicate, receipt: runReceipt(receipt), run: view });
  };

  app.get('/tools', async (c) => {
    const { principal } = reading(c);
    const refusal = parts.runQueries.refusal(principal);
    if (refusal !== undefined) return refused(refusal);
    if (evidenceTools === undefined) {
      return problem(501, 'NOT_ASKED_HERE', 'this process asks no evidence server');
    }
    const until = clock.now() + Math.min(REPORT_MS, Math.max(0, hostLeftMs(c)));
    try {
      return answered(toolReportView(await evidenceTools(until)));
    } catch (error) {
      if (!isFault(error)) throw error;
      return problem(503, 'BACKEND_UNAVAILABLE', 'this cannot be done now', { retryable: true });
    }
  });

  app.post('/runs', async (c) => {
    const sent = await sentWith(c, INCIDENT);
    if (!sent.ok) return sent.response;
    const { key, body } = sent.value;
    const outcome = await command(c, key, { type: 'create_run', ...body });
    if (outcome.code !== 'OK') return refused(outcome);
    const { duplicate, run } = outcome;
    const asked = preferredSeconds(c.req.header('prefer'));
    const until = clock.now() + waitMs(asked, hostLeftMs(c));
    const look = async () => {
      const found = await runQueries.get(reading(c), run.id);
      // The run is there: whoever cannot see it now is told where it is.
      return found.code === 'FOUND' ? found.value : run;
    };
    const now = await lookUntil(look, isReady, clock, until, c.req.raw.signal);
    const headers = {
      location: `/v1/runs/${run.id}`,
      ...(asked !== undefined && { 'preference-applied': `wait=${asked}` }),
    };
    if (isReady(now)) {
      return answered({ ...runView(now, await evidenceOf(c, now)), duplicate }, 201, headers);
    }
    const { id: run_id, service, symptom } = now;
    const body202 = { run_id, status: 'gathering', service, symptom, duplicate };
    return answered(body202, 202, { ...headers, 'retry-after': '1' });
  });
  app.get('/runs', (c) => {
    const query = readQuery(c, RUNS);
    if (!query.ok) return query.response;
    const { state } = query.value;
    return paged(
      c,
      query.value,
      ['runs', state ?? ''],
      (at) => runQueries.list(reading(c), state, at),
      (all) => all.map(runSummary),
    );
  });
  app.get('/runs/:run_id', async (c) => {
    const query = readQuery(c, z.strictObject({}));
    if (!query.ok) return query.response;
    const id = c.req.param('run_id');
    if (c.req.header('if-none-match') !== undefined) {
      // Whoever has it already is answered by one read.
      const found = await runQueries.get(reading(c), id);
      if (found.code !== 'FOUND') return refused(found);
      const etag = etagOf(found.value);
      if (isKnown(c, etag)) return notModified(etag);
    }
    const found = await runQueries.getWithEvidence(reading(c), id);
    if (found.code !== 'FOUND') return refused(found);
    const { run, evidence } = found.value;
    return answered(runView(run, evidence), 200, {
      etag: etagOf(run),
      'cache-control': 'no-cache',
    });
  });
  app.get('/runs/:run_id/observations', (c) => {
    const query = readQuery(c, OBSERVATIONS);
    if (!query.ok) return query.response;
    const id = c.req.param('run_id');
    return paged(
      c,
      query.value,
      ['observations', id],
      async ({ after, limit }) => {
        const page = { after: seqOf(after), limit };
        const found = await runQueries.observations(reading(c), id, page);
        if (found.code !== 'FOUND') return found;
        const items = found.value;
        const last = items.length < limit ? undefined : items.at(-1)?.seq;
        return { code: 'FOUND', value: { items, ...(last && { next: String(last) }) } };
      },
      (all) => all.map(observationView),
      { run_id: id },
    );
  });
  app.get('/runs/:run_id/events', (c) => {
    const query = readQuery(c, LIST);
    if (!query.ok) return query.response;
    const id = c.req.param('run_id');
    const more: { run_id: string; head?: number } = { run_id: id };
    return paged(
      c,
      query.value,
      ['run-events', id],
      async ({ after, limit }) => {
        const page = { after: seqOf(after), limit };
        const found = await runQueries.events(reading(c), id, page);
        if (found.code !== 'FOUND') return found;
        const { events: items, head } = found.value;
        more.head = head;
        const last = items.at(-1)?.seq ?? head;
        return { code: 'FOUND', value: { items, ...(last < head && { next: String(last) }) } };
      },
      (all) => all.map(runEventView),
      more,
    );
  });
  app.post('/runs/:run_id/approval', async (c) => {
    const sent = await sentWith(c, DECISION);
    if (!sent.ok) return sent.response;
    const { key, body } = sent.value;
    const run = c.req.param('run_id');
    return changed(c, { type: 'decide_approval', run, ...body }, key);
  });
  app.post('/runs/:run_id/resume', async (c) => {
    const sent = await sentWith(c, NO_BODY);
    if (!sent.ok) return sent.response;
    return changed(c, { type: 'resume_run', run: c.req.param('run_id') }, sent.value.key);
  });

  for (const path of [
    '/tools',
    '/runs/:run_id',
    '/runs/:run_id/observations',
    '/runs/:run_id/events',
  ]) {
    app.all(path, (c) => notAllowed(c, 'GET, HEAD'));
  }
  app.all('/runs', (c) => notAllowed(c, 'GET, HEAD, POST'));
  for (const path of ['/runs/:run_id/approval', '/runs/:run_id/resume']) {
    app.all(path, (c) => notAllowed(c, 'POST'));
  }
  return app;
}

/** Whether there is something to decide, or nothing more to wait for. */
const isReady = ({ state }: Pick<Run, 'state'>): boolean =>
  state !== 'created' && state !== 'gathering';

/** The sequence that a cursor of ours holds. */
const seqOf = (after: string | undefined): number =>
  after !== undefined && DIGITS.test(after) ? Number(after) : 0;
