// Runs under the names of this surface. Texts of others come twice where people look at them: exact, and
// through the one display function.
import type * as z from 'zod';
import { display, displayFields } from '../../core/display.ts';
import type { ReadableEvent } from '../../core/events.ts';
import type { Json } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolVerdicts } from '../../core/evidence/report.ts';
import { REASON_WORDS } from '../../core/evidence/vet.ts';
import type { EvidenceRow, Run, RunReceipt } from '../../core/model/run.ts';
import type * as shapes from './shapes/runs.ts';

type Shape<N extends keyof typeof shapes> = z.input<(typeof shapes)[N]>;

/** A run in a list. */
export function runSummary(run: Run): Shape<'runSummary'> {
  const { end, proposal } = run;
  return {
    run_id: run.id,
    status: run.state,
    service: run.service,
    symptom: run.symptom,
    requester: run.requester,
    attempt: run.attempt,
    created_at: run.created_at,
    updated_at: run.updated_at,
    ...(proposal !== undefined && {
      action_hash: proposal.action_hash,
      expires_at: proposal.action.expires_at,
    }),
    ...(end !== undefined && {
      ended: { code: end.code, message: end.message, from: end.from, at: end.at },
    }),
  };
}

/** A run with its action and what its tools answered. */
export function runView(run: Run, evidence: readonly EvidenceRow[]): Shape<'run'> {
  const { proposal, approval, result, frozen } = run;
  return {
    ...runSummary(run),
    ...(proposal !== undefined && {
      proposed_action: { ...proposal.action, evidence: [...proposal.action.evidence] },
      proposed_action_display: [...displayFields(proposal.action as unknown as Json)],
      ...(proposal.missing !== undefined && { missing: proposal.missing }),
    }),
    ...(approval !== undefined && {
      approval: {
        decision: approval.decision,
        action_hash: approval.action_hash,
        decided_by: { subject: approval.subject, name: approval.name },
        via: approval.via,
        at: approval.at,
      },
    }),
    ...(result !== undefined && { result }),
    observations: evidence.map(observationSummary),
    ...(frozen !== undefined && { frozen: true }),
  };
}

function observationSummary(row: EvidenceRow): Shape<'observationSummary'> {
  const { seq, at, server, tool, untrusted, digest, bytes, is_error, truncated } = row;
  const told = { seq, at, server, tool, untrusted, digest, bytes, is_error, truncated };
  return { ...told, display: display(row.text) };
}

/** What a tool answered, in full. */
export function observationView(row: EvidenceRow): Shape<'observation'> {
  const { arguments: args, definition, text } = row;
  return { ...observationSummary(row), arguments: args, definition, text };
}

/** The receipt of a command on a run. */
export function runReceipt({ command, result, seq, at, action_hash }: RunReceipt) {
  return { command, result, event: seq, at, ...(action_hash !== undefined && { action_hash }) };
}

/** One event of a trail. */
export function runEventView(event: ReadableEvent): Shape<'runEvent'> {
  const { seq, type, at, actor, data, prev, hash } = event;
  return { seq, type, at, actor, untrusted: data['untrusted'] === true, data, prev, hash };
}

/** What evidence servers offer. Names of tools are texts of others. */
export function toolReportView({ tools, missing, problems }: ToolVerdicts): Shape<'toolReport'> {
  return {
    tools: tools.map(({ reason, name, ...tool }) => ({
      ...tool,
      name: display(name).text,
      reason: reason === null ? null : { code: reason, message: REASON_WORDS[reason] },
    })),
    missing: [...missing],
    problems: problems.map(({ lastWords, ...problem }) => ({
      ...problem,
      ...(lastWords !== undefined && {
        last_words: display(lastWords, LIMITS.evidenceNoteBytes.max),
      }),
    })),
  };
}
