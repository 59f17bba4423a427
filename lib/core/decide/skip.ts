// Skipping an optional step with a reason. A skipped step counts as passed over, never as done, and
// can be recorded later by naming the skip. Repeats are recognised as those of other records are.
// The reason of a sensitive step is kept as its text would be: people say in it what they leave out.
import { canonicalHash, canonicalJson } from '../canonical.ts';
import type { CorrectStep, RecordStep } from '../model/commands.ts';
import type { Procedure, Step } from '../model/procedure.ts';
import {
  FORMAT,
  type EventBody,
  type Slot,
  type VaultRow,
  type Workflow,
} from '../model/workflow.ts';
import type { Refusal } from '../outcome.ts';
import { isBlank } from '../names.ts';
import { commitment } from '../redact.ts';
import { isNeeded, viewOf } from '../view.ts';
import {
  closedFor,
  commitChange,
  invalid,
  notAssigned,
  refuse,
  type DecideContext,
  type Decision,
} from './decision.ts';
import { searchFor } from './repeated.ts';

/** A skip under decision. */
interface Skip {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly step: Step;
  readonly slot: Slot | undefined;
  /** What is kept apart for the step's present record. */
  readonly vault: VaultRow | undefined;
  readonly reason: string;
  readonly sensitive: boolean;
  readonly replaces: number | undefined;
}

/** Decides the skipping of a step. */
export function decideSkip(
  { workflow, procedure, step, vault }: Pick<Skip, 'workflow' | 'procedure' | 'step' | 'vault'>,
  command: RecordStep | CorrectStep,
  said: string,
  context: DecideContext,
): Decision {
  const reason = said.normalize('NFC').trim();
  if (isBlank(reason)) return invalid('/skip_reason', 'expected a reason that is not empty');
  if ('confirms' in command) return invalid('/confirms', 'expected no skip_reason with it');
  const replaces = command.type === 'correct_step' ? command.replaces : undefined;
  const slot = workflow.steps[step.id];
  const sensitive = step.kind === 'text' && step.sensitive;
  const skip: Skip = { workflow, procedure, step, slot, vault, reason, sensitive, replaces };
  return repeatedSkip(skip, context) ?? hinderedSkip(skip, context) ?? writeSkip(skip, context);
}

function repeatedSkip(skip: Skip, context: DecideContext): Decision | undefined {
  const { slot, replaces, workflow } = skip;
  const { subject } = context.principal;
  if (replaces !== undefined && slot?.seq !== replaces) {
    return searchFor('replaces', replaces, skip, subject, (event, vault) =>
      eventHolds(event, vault, skip),
    );
  }
  if (slot?.status !== 'skipped' || !slotHolds(slot, skip)) return undefined;
  // Whoever did not say a sensitive reason is not told whether a guess of it is right.
  const assigned = !skip.sensitive && workflow.holder.subject === subject;
  const concerned = slot.by === subject || assigned;
  return concerned ? { kind: 'duplicate', seq: slot.seq } : undefined;
}

function slotHolds({ digest }: Slot, { sensitive, vault, reason }: Skip): boolean {
  if (!sensitive) return digest === digestOf(reason);
  return vault !== undefined && canonicalJson(vault.value) === canonicalJson(keptOf(reason));
}

function eventHolds(
  { type, data }: EventBody,
  vault: VaultRow | undefined,
  { sensitive, reason }: Skip,
): boolean {
  if (type !== 'step_skipped') return false;
  if (!sensitive) return data['reason'] === reason;
  return vault !== undefined && data['commitment'] === commitment(vault.key, keptOf(reason));
}

function hinderedSkip(skip: Skip, context: DecideContext): Decision | undefined {
  const { workflow, procedure, step, slot, replaces } = skip;
  if (workflow.holder.subject !== context.principal.subject) return notAssigned(skip);
  const closed = closedFor(workflow, procedure);
  if (closed !== undefined) return closed;
  const why = notSkippable(skip);
  const view = viewOf(workflow, procedure);
  if (why !== undefined)
    return refuse({ code: 'NOT_SKIPPABLE', step: step.id, why, workflow: view });
  if (slot === undefined || replaces !== undefined) return undefined;
  return refuse({
    code: 'NEEDS_CONFIRMATION',
    reason: slot.status === 'skipped' ? 'already_skipped' : 'already_recorded',
    step: step.id,
    replaces: slot.seq,
    workflow: view,
  });
}

function notSkippable({
  procedure,
  step,
  slot,
}: Skip): Extract<Refusal, { code: 'NOT_SKIPPABLE' }>['why'] | undefined {
  if (!step.optional) return 'required';
  // What has to be repeated is not on record: where it cannot be repeated it can only be skipped.
  if (slot !== undefined && !['skipped', 'retake'].includes(slot.status)) return 'recorded';
  return isNeeded(procedure, step.id) ? 'needed' : undefined;
}

function writeSkip(skip: Skip, context: DecideContext): Decision {
  const { workflow, procedure, step, slot, reason, sensitive, replaces } = skip;
  const { vaultKey: key } = context.fresh;
  const { tenant, id } = workflow;
  return commitChange(context, {
    workflow,
    procedure,
    event: {
      type: 'step_skipped',
      data: {
        ...(replaces !== undefined && { replaces }),
        ...(sensitive ? { commitment: commitment(key, keptOf(reason)) } : { reason }),
      },
    },
    receipt: {
      command: replaces === undefined ? 'record_step' : 'correct_step',
      result: 'skipped',
      step: step.id,
    },
    change: (seq, at) => ({
      set: { state: 'RUNNING' },
      steps: {
        [step.id]: {
          seq,
          basis: slot?.seq ?? 0,
          status: 'skipped',
          by: context.principal.subject,
          at,
          ...(!sensitive && { digest: digestOf(reason) }),
        },
      },
    }),
    ...(sensitive && {
      vault: (seq: number) => ({
        format: FORMAT,
        tenant,
        workflow: id,
        seq,
        key,
        value: keptOf(reason),
      }),
    }),
  });
}

function digestOf(reason: string): string {
  return canonicalHash(keptOf(reason));
}

/** What stands for a reason: no text, so that no text on record equals it. */
function keptOf(reason: string): { readonly skipped: string } {
  return { skipped: reason };
}
