// From outcomes and views to the structured part of an answer. Exact and complete, never spoken.
import { LIMITS } from '../../core/limits.ts';
import type { CommandType } from '../../core/model/workflow.ts';
import type { Outcome, Refusal } from '../../core/outcome.ts';
import type { WorkflowView } from '../../core/view.ts';
import type { ToolAnswer, ToolCall, ToolKit } from './tool.ts';

type Structured = { readonly [name: string]: unknown };

/** Refusals that ask the person something: answered as a normal result, because nothing failed. */
const ASKS: ReadonlySet<Outcome['code']> = new Set(['NEEDS_CONFIRMATION', 'AMBIGUOUS']);

/** The answer to a command. */
export function answerOutcome(
  kit: ToolKit,
  outcome: Outcome,
  asked: CommandType,
  call: ToolCall,
): ToolAnswer {
  const text = kit.speech.outcome(outcome, asked);
  if (outcome.code !== 'OK') return { ...answerRefusal(kit, outcome, call), text };
  const { workflow: id, ...receipt } = outcome.receipt;
  return {
    text,
    isError: false,
    structured: {
      ...done(call),
      duplicate: outcome.duplicate,
      receipt,
      workflow_id: id,
      ...workflowParts(outcome.workflow, call),
    },
  };
}

/** The answer to a refused command or read. */
export function answerRefusal(kit: ToolKit, refusal: Refusal, call: ToolCall): ToolAnswer {
  return {
    text: kit.speech.refusal(refusal),
    structured: refusalParts(refusal, call),
    isError: !ASKS.has(refusal.code),
  };
}

/** The common fields of a success. */
export function done({ requestId }: ToolCall): Structured {
  return { code: 'OK', request_id: requestId, retryable: false };
}

/** A workflow with its next step. */
export function workflowParts(view: WorkflowView, call: ToolCall): Structured {
  const { next } = view;
  return {
    workflow_id: view.workflow,
    workflow: workflowSummary(view, call),
    ...(next !== undefined && { next_step: next }),
  };
}

/** A workflow without its steps. */
export function workflowSummary(view: WorkflowView, { principal }: ToolCall): Structured {
  const { workflow, steps: _steps, next: _next, holder_subject: subject, ...rest } = view;
  return { workflow_id: workflow, ...rest, mine: subject === principal.subject };
}

/**
 * As many entries as a reply holds beside what is `spent`, and how many are left out. JSON within a
 * text is longer than JSON: `asText` says that it will be one.
 */
export function fitting<T>(
  entries: readonly T[],
  spent: unknown,
  asText = false,
): { readonly shown: readonly T[]; readonly leftOut: number } {
  const bytes = (value: unknown): number => {
    const json = JSON.stringify(value);
    return Buffer.byteLength(asText ? JSON.stringify(json) : json, 'utf8') + 1;
  };
  // The sentence and the protocol's own fields share the reply.
  let room = LIMITS.replyBytes.max - 1_500 - bytes(spent);
  const shown: T[] = [];
  for (const entry of entries) {
    room -= bytes(entry);
    if (room < 0) break;
    shown.push(entry);
  }
  return { shown, leftOut: entries.length - shown.length };
}

function refusalParts(refusal: Refusal, call: ToolCall): Structured {
  const base = { ...done(call), code: refusal.code };
  switch (refusal.code) {
    case 'BACKEND_UNAVAILABLE':
      return {
        ...base,
        retryable: refusal.retryable,
        ...(refusal.retryable && { retry_after_ms: refusal.retryAfterMs }),
      };
    case 'INVALID_ARGUMENT': {
      const { faults, suggestions } = refusal;
      return { ...base, faults, ...(suggestions !== undefined && { suggestions }) };
    }
    case 'NOT_FOUND': {
      const { code: _code, suggestions, ...detail } = refusal;
      return { ...base, detail, ...(suggestions !== undefined && { suggestions }) };
    }
    case 'AMBIGUOUS':
      return {
        ...base,
        detail: { about: refusal.about },
        choices:
          refusal.people ??
          refusal.choices.map(({ workflow, asset, title }) => ({
            workflow_id: workflow,
            asset,
            title,
          })),
        total: refusal.total,
      };
    case 'NEEDS_CONFIRMATION': {
      const {
        code: _code,
        confirmation,
        state: _state,
        replaces,
        confirms,
        tenure,
        to_subject: to,
        workflow,
        ...detail
      } = refusal;
      return {
        ...base,
        detail,
        ...(confirmation !== undefined && { confirmation_token: confirmation }),
        ...(replaces !== undefined && { replaces }),
        ...(confirms !== undefined && { confirms }),
        ...(tenure !== undefined && { tenure }),
        ...(to !== undefined && { to }),
        ...workflowParts(workflow, call),
      };
    }
    case 'FORBIDDEN':
    case 'IDEMPOTENCY_CONFLICT':
    case 'ASSET_BUSY':
    case 'LIMIT_REACHED': {
      const { code: _code, ...detail } = refusal;
      return { ...base, detail };
    }
    case 'NOT_ASSIGNED':
    case 'ALREADY_DECIDED':
    case 'STALE_PROPOSAL':
    case 'APPROVAL_EXPIRED':
    case 'STALE_REFERENCE':
    case 'WORKFLOW_COMPLETED':
    case 'WORKFLOW_BLOCKED':
    case 'SECOND_PERSON_REQUIRED':
    case 'NOT_SKIPPABLE':
    case 'STEP_NOT_READY':
    case 'STEPS_MISSING': {
      const { code: _code, workflow, ...detail } = refusal;
      return { ...base, detail, ...workflowParts(workflow, call) };
    }
  }
}
