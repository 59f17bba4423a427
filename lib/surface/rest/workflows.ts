// REST routes of procedures: the commands and reads that the tools have, under names of this surface.
import { Hono } from 'hono';
import { LIMITS } from '../../core/limits.ts';
import type { Command } from '../../core/model/commands.ts';
import type { ProcedureRegistry } from '../../core/procedures.ts';
import type { Queries } from '../../core/queries.ts';
import type { Service } from '../../core/service/service.ts';
import type { HostCall } from '../host-call.ts';
import { stepCommand } from '../step-arguments.ts';
import { answered, refused } from './answers.ts';
import { createCalls, reading, type CallParts } from './calls.ts';
import { etagOf, isKnown, notModified } from './etag.ts';
import { notAllowed, readQuery, sentWith, type Call } from './request.ts';
import * as requests from './requests.ts';
import { refusedWork, workReceipt, workView } from './workflow-view.ts';
import { problem } from '../reply.ts';

/** What the routes are made of. */
export interface WorkflowRoutes extends CallParts {
  readonly service: Service;
  readonly queries: Queries;
  readonly registry: ProcedureRegistry;
}

/** The routes. */
export function workflowRoutes(parts: WorkflowRoutes): Hono<{ Bindings: HostCall }> {
  const { service, queries, registry } = parts;
  const { calling, paged } = createCalls(parts);
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });

  const run = async (c: Call, command: Command, key: string | undefined, created = false) => {
    const { principal, deadlineMs, requestId } = calling(c, key);
    const full = { ...command, ...(key !== undefined && { key }) };
    const outcome = await service.execute(principal, full, deadlineMs, requestId);
    if (outcome.code !== 'OK') return refusedWork(outcome);
    const { duplicate, receipt, workflow } = outcome;
    const body = { duplicate, receipt: workReceipt(receipt), workflow: workView(workflow) };
    if (!created) return answered(body);
    return answered(body, 201, { location: `/v1/workflows/${workflow.workflow}` });
  };

  app.get('/procedures', (c) => {
    const query = readQuery(c, requests.NO_BODY);
    if (!query.ok) return query.response;
    const items = registry.list().map(({ id, version, title, description, asset, steps }) => ({
      procedure: id,
      version,
      title,
      description,
      asset_type: asset.type,
      asset_example: asset.example,
      steps: steps.length,
    }));
    return answered({ items });
  });
  app.get('/procedures/:id', (c) => {
    const found = registry.find(c.req.param('id'));
    if (found === undefined) return problem(404, 'NOT_FOUND', 'there is no such procedure');
    return answered(found);
  });

  app.post('/workflows', async (c) => {
    const sent = await sentWith(c, requests.START);
    if (!sent.ok) return sent.response;
    const { key, body } = sent.value;
    return run(c, { type: 'start_workflow', ...body }, key, true);
  });
  app.get('/workflows', async (c) => {
    const query = readQuery(c, requests.WORKFLOWS);
    if (!query.ok) return query.response;
    const { principal, requestId } = reading(c);
    const { show, asset } = query.value;
    if (asset !== undefined) {
      const found = await queries.getWorkflow(principal, { asset }, requestId);
      if (found.code !== 'FOUND') return refused(found);
      return answered({ items: [workView(found.value)], more: false });
    }
    const found = await (show === 'blocked'
      ? queries.listBlocked(principal, requestId)
      : queries.listMine(principal, requestId));
    if (found.code !== 'FOUND') return refused(found);
    const { workflows, more } = found.value;
    return answered({ items: workflows.map(workView), more });
  });
  app.get('/workflows/:workflow_id', async (c) => {
    const { principal, requestId } = reading(c);
    const workflow = c.req.param('workflow_id');
    const found = await queries.getWorkflow(principal, { workflow }, requestId);
    if (found.code !== 'FOUND') return refused(found);
    const etag = etagOf(found.value);
    if (isKnown(c, etag)) return notModified(etag);
    return answered(workView(found.value), 200, { etag, 'cache-control': 'no-cache' });
  });
  app.get('/workflows/:workflow_id/events', (c) => {
    const query = readQuery(c, requests.TRAIL);
    if (!query.ok) return query.response;
    const { principal, requestId } = reading(c);
    const id = c.req.param('workflow_id');
    const more: { workflow_id: string; head?: number } = { workflow_id: id };
    const page = { limit: LIMITS.pageItems.max, cursor: query.value.cursor };
    return paged(
      c,
      page,
      ['workflow-events', id],
      async ({ after }) => {
        const found = await queries.listEvents(principal, id, Number(after ?? 0), requestId);
        if (found.code !== 'FOUND') return found;
        const { events: items, head } = found.value;
        more.head = head;
        const last = items.at(-1)?.seq ?? head;
        return { code: 'FOUND', value: { items, ...(last < head && { next: String(last) }) } };
      },
      (all) => all,
      more,
    );
  });

  const commands: { readonly [name: string]: (c: Call) => Promise<Response> } = {
    steps: async (c) => {
      const sent = await sentWith(c, requests.STEP);
      if (!sent.ok) return sent.response;
      return run(c, stepCommand(sent.value.body, named(c)), sent.value.key);
    },
    'resolve-block': async (c) => {
      const sent = await sentWith(c, requests.RESOLVE);
      if (!sent.ok) return sent.response;
      return run(c, { type: 'resolve_block', ...named(c), ...sent.value.body }, sent.value.key);
    },
    approval: async (c) => {
      const sent = await sentWith(c, requests.DECISION);
      if (!sent.ok) return sent.response;
      return run(c, { type: 'decide_approval', ...named(c), ...sent.value.body }, sent.value.key);
    },
    'hand-over': async (c) => {
      const sent = await sentWith(c, requests.HAND_OVER);
      if (!sent.ok) return sent.response;
      const { to, tenure } = sent.value.body;
      const ends = tenure === undefined ? {} : { tenure };
      return run(c, { type: 'hand_over', ...named(c), to, ...ends }, sent.value.key);
    },
    complete: async (c) => {
      const sent = await sentWith(c, requests.NO_BODY);
      if (!sent.ok) return sent.response;
      return run(c, { type: 'complete_workflow', ...named(c) }, sent.value.key);
    },
    abandon: async (c) => {
      const sent = await sentWith(c, requests.ABANDON);
      if (!sent.ok) return sent.response;
      const { reason, tenure } = sent.value.body;
      const ends = tenure === undefined ? {} : { tenure };
      return run(c, { type: 'abandon_workflow', ...named(c), reason, ...ends }, sent.value.key);
    },
  };
  for (const [name, answer] of Object.entries(commands)) {
    const path = `/workflows/:workflow_id/${name}`;
    app.post(path, answer);
    app.all(path, (c) => notAllowed(c, 'POST'));
  }
  app.all('/workflows', (c) => notAllowed(c, 'GET, HEAD, POST'));
  for (const path of [
    '/procedures',
    '/procedures/:id',
    '/workflows/:workflow_id',
    '/workflows/:workflow_id/events',
  ]) {
    app.all(path, (c) => notAllowed(c, 'GET, HEAD'));
  }
  return app;
}

const named = (c: Call) => ({ workflow: c.req.param('workflow_id') ?? '' });
