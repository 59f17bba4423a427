// Asking the person through a client that can: questions as `input_required` results, and the
// answers that come back. Every question has its way in two calls too; a client that declares no
// elicitation is never sent one. Nothing is remembered between the rounds.
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type ClientCapabilities,
  inputResponse,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { occasionOf } from '../../core/confirmation.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Answer } from '../../core/model/commands.ts';
import type { Outcome } from '../../core/outcome.ts';

/** What a call brought along from a round before, and whether its client can be asked. */
export interface Dialogue {
  readonly canAsk: boolean;
  readonly state?: string;
  readonly reply?: { readonly accepted: boolean; readonly content: Content };
}

/** A question for the client to put to the person. */
export interface Ask {
  readonly schema: Schema;
  readonly state: string;
}

type Content = { readonly [name: string]: unknown };
type Schema = {
  type: 'object';
  properties: { [name: string]: Property };
  required: string[];
};
type Property =
  | { type: 'boolean'; title: string }
  | { type: 'string'; title: string; oneOf: { const: string; title: string }[] };

/** The one key under which a question is asked and answered. */
const KEY = 'answer';

/** Reads the dialogue of a request; the handshake era has none. */
export function dialogueOf({ mcpReq }: ServerContext): Dialogue {
  const envelope = mcpReq.envelope as { readonly [key: string]: unknown } | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = capabilities?.elicitation;
  // A client that names no mode means forms. Source: 2026-07-28, client/elicitation.
  const canAsk =
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  const state = mcpReq.requestState<unknown>();
  const view = inputResponse(mcpReq.inputResponses, KEY);
  return {
    canAsk,
    ...(typeof state === 'string' && { state }),
    ...(view.kind === 'elicit' && {
      reply: { accepted: view.action === 'accept', content: view.content ?? {} },
    }),
  };
}

/**
 * The answer for the core; `declined` where the person said no or turned away. An answer without
 * its question, or of another shape than was asked for, is none: the question is asked again.
 */
export function answerIn({ state, reply }: Dialogue): Answer | 'declined' | undefined {
  if (state === undefined || reply === undefined) return undefined;
  if (!reply.accepted) return 'declined';
  if (state.length > LIMITS.requestStateChars.max) return { state: '' };
  const { confirm, workflow_id: workflow, to } = reply.content;
  switch (occasionOf(state)?.question) {
    case 'workflow':
      return isShort(workflow, LIMITS.workflowIdChars.max) ? { state, workflow } : undefined;
    case 'person':
      return isShort(to, LIMITS.subjectChars.max) ? { state, to } : undefined;
    case 'value':
    case 'replace':
    case 'witness':
    case 'end':
      if (confirm === false) return 'declined';
      return confirm === true ? { state } : undefined;
    case undefined:
      return { state };
  }
}

/** The question in an outcome, if there is one that a form can hold and the client can be asked. */
export function askIn({ canAsk }: Dialogue, outcome: Outcome): Ask | undefined {
  if (!canAsk) return undefined;
  if (outcome.code === 'NEEDS_CONFIRMATION' && outcome.state !== undefined) {
    return { state: outcome.state, schema: form('confirm', { type: 'boolean', title: 'Yes' }) };
  }
  if (outcome.code !== 'AMBIGUOUS' || outcome.state === undefined) return undefined;
  const { about, choices, people = [], total, state } = outcome;
  const oneOf =
    about === 'workflow'
      ? choices.map(({ workflow, title, asset }) => ({
          const: workflow,
          title: `${title}, ${asset}`,
        }))
      : people.map(({ subject, name }) => ({ const: subject, title: `${name} (${subject})` }));
  // A form that leaves some out would be a guess.
  if (oneOf.length === 0 || oneOf.length < total) return undefined;
  const name = about === 'workflow' ? 'workflow_id' : 'to';
  const title = about === 'workflow' ? 'Which work' : 'Which person';
  return { state, schema: form(name, { type: 'string', title, oneOf }) };
}

/** The result that asks; the sentence is the one that would have been spoken. */
export function asking(message: string, { schema, state }: Ask): InputRequiredResult {
  return inputRequired({
    inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema: schema }) },
    requestState: state,
  });
}

function form(name: string, property: Property): Schema {
  return { type: 'object', properties: { [name]: property }, required: [name] };
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}
