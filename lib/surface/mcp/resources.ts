// Resources: procedures for everybody, workflows and their trails for whom a tool would show them.
// Each is JSON and a sentence to read out. A client may keep a procedure for a while; a workflow
// never, because its state is only true when it was read.
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { refusalForAuditing, refusalForLooking } from '../../core/authorize.ts';
import { LIMITS } from '../../core/limits.ts';
import { ID } from '../../core/model/procedure.ts';
import { refusalForReadingRuns } from '../../core/runs/authorize.ts';
import type { Principal } from '../../core/model/principal.ts';
import type { Refusal } from '../../core/outcome.ts';
import type { ProcedureRegistry } from '../../core/procedures.ts';
import { FOREIGN_CURSOR } from './message.ts';
import { answerRunRefusal, lacking, runParts } from './tools/runs.ts';
import { fitting, workflowParts } from './structured.ts';
import { speakRun } from '../speech/runs.ts';
import type { ToolCall, ToolKit } from './tool.ts';

/** Codes of our own for what a result cannot say, outside what the protocol reserves. */
const FORBIDDEN = -32_003;
const UNAVAILABLE = -32_000;

const JSON_TYPE = 'application/json';

/** The templates, in the order in which clients see them. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'workflow://{id}',
    name: 'workflow',
    title: 'A workflow',
    description: 'Where one workflow stands: state, steps, the next step. Read it again each time.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'workflow://{id}/events{?after}',
    name: 'workflow-events',
    title: 'The audit trail of a workflow',
    description:
      'Events in order, a page at a time: next is the URI of the following page. For auditors.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'procedure://{id}',
    name: 'procedure',
    title: 'A procedure',
    description: 'The newest version of a procedure: its steps, units, bounds and rules.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'run://{id}',
    name: 'run',
    title: 'An incident',
    description:
      'Where one run stands: its action, its decision, and what tools answered, which is untrusted.',
    mimeType: JSON_TYPE,
  },
] as const;

/** What a URI names; undefined where it is none of ours. */
export type ResourceName =
  | { readonly kind: 'workflow'; readonly id: string }
  | { readonly kind: 'events'; readonly id: string; readonly after: number }
  | { readonly kind: 'procedure'; readonly id: string }
  | { readonly kind: 'run'; readonly id: string };

/** Reads a URI by its exact form. */
export function resourceNamed(uri: string): ResourceName | undefined {
  const procedure = /^procedure:\/\/(.*)$/u.exec(uri)?.[1];
  if (procedure !== undefined) {
    return ID.test(procedure) ? { kind: 'procedure', id: procedure } : undefined;
  }
  const run = /^run:\/\/([a-z0-9-]{1,64})$/u.exec(uri)?.[1];
  if (run !== undefined) return { kind: 'run', id: run };
  const match = /^workflow:\/\/([A-Za-z0-9_-]{1,64})(\/events(?:\?after=(\d{1,9}))?)?$/u.exec(uri);
  const [, id, events, after = '0'] = match ?? [];
  if (id === undefined) return undefined;
  return events === undefined ? { kind: 'workflow', id } : { kind: 'events', id, after: +after };
}

/** What a caller lacks for a resource; known before anything is read. */
export function refusalForResource(principal: Principal, uri: string): Refusal | undefined {
  switch (resourceNamed(uri)?.kind) {
    case 'workflow':
      return refusalForLooking(principal);
    case 'events':
      return refusalForAuditing(principal);
    case 'run':
      return lacking(refusalForReadingRuns(principal));
    case 'procedure':
    case undefined:
      return undefined;
  }
}

/**
 * The procedures after a cursor; what is a cursor here is the last name of the page before. Throws
 * -32602 for one that this list cannot have given.
 */
export function listResources(registry: ProcedureRegistry, cursor: string | undefined) {
  if (cursor !== undefined && !registry.list().some(({ id }) => id === cursor)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, FOREIGN_CURSOR);
  }
  const rest = registry.list().filter(({ id }) => cursor === undefined || id > cursor);
  const page = rest.slice(0, LIMITS.pageItems.max).map(({ id, title, description }) => ({
    uri: `procedure://${id}`,
    name: id,
    title,
    description,
    mimeType: JSON_TYPE,
  }));
  const { shown, leftOut } = fitting(page, {});
  const more = rest.length > page.length || leftOut > 0;
  const last = shown.at(-1)?.name;
  return { resources: [...shown], ...(more && last !== undefined && { nextCursor: last }) };
}

/** Reads one resource for a caller. `hints` says whether the era knows cache hints. */
export async function readResource(
  kit: ToolKit,
  uri: string,
  call: ToolCall,
  hints: boolean,
): Promise<ReadResourceResult> {
  const named = resourceNamed(uri);
  switch (named?.kind) {
    case 'procedure': {
      const cache = hints ? { ttlMs: 300_000, cacheScope: 'public' as const } : {};
      return { ...readProcedure(kit, uri, named.id), ...cache };
    }
    case 'workflow':
      return readWorkflow(kit, uri, named.id, call);
    case 'events':
      return readEvents(kit, uri, named, call);
    case 'run':
      return readRun(kit, uri, named.id, call);
    case undefined:
      throw notFound(uri);
  }
}

function readProcedure(kit: ToolKit, uri: string, id: string): ReadResourceResult {
  const procedure = kit.registry.find(id);
  if (procedure === undefined) throw notFound(uri);
  const { steps, ...rest } = procedure;
  const { shown, leftOut } = fitting(steps, rest, true);
  const json = { ...rest, steps: shown, ...(leftOut > 0 && { left_out: leftOut }) };
  return contents(uri, json, kit.speech.procedure(procedure));
}

async function readWorkflow(
  kit: ToolKit,
  uri: string,
  workflow: string,
  call: ToolCall,
): Promise<ReadResourceResult> {
  const found = await kit.queries.getWorkflow(call.principal, { workflow });
  if (found.code !== 'FOUND') throw refused(kit, uri, found);
  const parts = workflowParts(found.value, call);
  const { shown, leftOut } = fitting(found.value.steps, parts, true);
  const json = { ...parts, steps: shown, ...(leftOut > 0 && { left_out: leftOut }) };
  return contents(uri, json, kit.speech.workflow(found.value));
}

async function readEvents(
  kit: ToolKit,
  uri: string,
  { id, after }: Extract<ResourceName, { kind: 'events' }>,
  { principal }: ToolCall,
): Promise<ReadResourceResult> {
  const found = await kit.queries.listEvents(principal, id, after);
  if (found.code !== 'FOUND') throw refused(kit, uri, found);
  const { workflow, events, head } = found.value;
  const { shown } = fitting(events, {}, true);
  const last = shown.at(-1)?.seq ?? head;
  const json = {
    workflow_id: id,
    events: shown,
    head,
    ...(last < head && { next: `workflow://${id}/events?after=${last}` }),
  };
  return contents(uri, json, kit.speech.trail(workflow, shown, head));
}

async function readRun(
  kit: ToolKit,
  uri: string,
  id: string,
  call: ToolCall,
): Promise<ReadResourceResult> {
  const found = await kit.runQueries.getWithEvidence(call, id);
  if (found.code === 'FOUND') {
    const { run, evidence } = found.value;
    return contents(uri, runParts(run, evidence, call, true).run, speakRun(run));
  }
  if (found.code === 'NOT_FOUND') throw notFound(uri);
  const { text, structured } = answerRunRefusal(found, call);
  const code = found.code === 'BACKEND_UNAVAILABLE' ? UNAVAILABLE : FORBIDDEN;
  throw new ProtocolError(code, text, structured);
}

function contents(uri: string, json: object, text: string): ReadResourceResult {
  return {
    contents: [
      { uri, mimeType: JSON_TYPE, text: JSON.stringify(json) },
      { uri, mimeType: 'text/plain', text },
    ],
  };
}

function notFound(uri: string): ProtocolError {
  if (uri.length <= LIMITS.uriChars.max) {
    return new ResourceNotFoundError(uri, 'There is nothing under this URI.');
  }
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'This URI is too long.');
}

/** A refusal of the core as an error of the protocol, in words that can be read out. */
function refused(kit: ToolKit, uri: string, refusal: Refusal): ProtocolError {
  if (refusal.code === 'NOT_FOUND') return notFound(uri);
  const said = kit.speech.refusal(refusal);
  if (refusal.code === 'BACKEND_UNAVAILABLE') {
    const data = { code: refusal.code, retryable: true, retry_after_ms: refusal.retryAfterMs };
    return new ProtocolError(UNAVAILABLE, said, data);
  }
  const data = { code: refusal.code, ...(refusal.code === 'FORBIDDEN' && { need: refusal.need }) };
  return new ProtocolError(FORBIDDEN, said, data);
}
