// `checkpoint why`: the story of one workflow, event by event. Sensitive values never stand in it.
import { display, visibleJson } from '../../core/display.ts';
import type { Json } from '../../core/json.ts';
import type { Lock, Workflow } from '../../core/model/workflow.ts';
import type { Timeline, TimelineEvent } from '../../core/timeline.ts';
import { chainText } from '../chain-words.ts';
import { aligned, cell, counted, facts, lasted, shownTime, wrapped } from '../text.ts';
import { waitingCells } from './outbox.ts';
import { timeTexts } from './times.ts';

/** The lines of a timeline. */
export function whyLines(timeline: Timeline, now: number, requests: boolean): readonly string[] {
  const { workflow, lock, events, outbox, verification } = timeline;
  const { faults } = verification;
  const { frozen } = workflow;
  const verdict =
    faults.length === 0
      ? `${counted(verification.events, 'event')}, every one verifies`
      : `BROKEN: ${faults.map(chainText).join('; ')}`;
  const times = timeTexts(workflow, now);
  const about: (readonly [string, string])[] = [
    ['workflow', `${workflow.id} (tenant ${workflow.tenant})`],
    ['procedure', `${workflow.procedure}@${workflow.procedure_version} on ${workflow.asset}`],
    ['state', stateText(workflow, now)],
    ['holder', `${workflow.holder.name} (${workflow.holder.subject})${offered(workflow)}`],
    ['lock', lockText(workflow, lock, now)],
    ...(times.length === 0 ? [] : ([['times', times.join('; ')]] as const)),
    ...(frozen === undefined
      ? []
      : [['frozen', `since ${shownTime(frozen.at)}: ${frozen.what}`] as const]),
    ['trail', `${verdict}; head ${workflow.head_seq} ${workflow.head_hash.slice(0, 16)}…`],
  ];
  const waiting = outbox.map((row) => [
    row.lane,
    `for event ${row.seq}`,
    ...waitingCells(row, now),
  ]);
  return [
    ...facts(about),
    '',
    ...events.flatMap((event) => eventLines(event, requests)),
    '',
    ...(waiting.length === 0 ? ['outbox: nothing waits'] : ['outbox', ...aligned(waiting)]),
  ];
}

/** The timeline as data: everything the lines say, and no more. */
export function whyJson({ workflow, lock, events, outbox, verification }: Timeline): string {
  const story = { workflow, lock: lock ?? null, events, outbox, verification };
  return visibleJson(JSON.stringify(story, null, 2));
}

function stateText({ state, result, block, updated_at }: Workflow, now: number): string {
  if (block !== undefined) {
    const since = lasted(now - Date.parse(block.at));
    return `${state} for ${since} (block ${block.seq}${block.step === undefined ? '' : ` at ${block.step}`}): ${block.message}`;
  }
  return `${state}${result === undefined ? '' : ` (${result})`}, last change ${shownTime(updated_at)}`;
}

function offered(workflow: Workflow): string {
  return workflow.offered ? ', handed over and not yet taken up' : '';
}

function lockText({ id, asset, fence }: Workflow, lock: Lock | undefined, now: number): string {
  if (lock === undefined) return `${asset} was never locked`;
  const fences = `fence ${lock.fence}${lock.fence === fence ? '' : `, this workflow's was ${fence}`}`;
  if (!lock.held) return `${asset} is free, ${fences}`;
  const since = lock.since === undefined ? '' : ` for ${lasted(now - Date.parse(lock.since))}`;
  const whose = lock.workflow === id ? 'this workflow' : `workflow ${lock.workflow ?? '?'}`;
  return `${asset} is held by ${whose}${since}, ${fences}`;
}

/** The columns before what happened. */
const HEAD = 44;

/** What happened, and below it what was said about it. */
function eventLines({ actor, ...event }: TimelineEvent, requests: boolean): readonly string[] {
  const who = cell(actor.name, 14);
  const head = `${String(event.seq).padStart(5)}  ${shownTime(event.at)}  ${who}  `;
  const [first = '', ...more] = wrapped(whatHappened(event), HEAD);
  const notes = notesOf(event.data, requests).flatMap((note) => wrapped(note, HEAD + 2));
  return [`${head}${first.trimStart()}`, ...more, ...notes];
}

function whatHappened({ type, data, sensitive }: Omit<TimelineEvent, 'actor'>): string {
  const text = (name: string): string => {
    const value = data[name];
    return typeof value === 'string' ? value : JSON.stringify(value ?? '?');
  };
  switch (type) {
    case 'workflow_started':
      return `started ${text('procedure')}@${text('procedure_version')} on ${text('asset')}`;
    case 'step_recorded':
      return `${text('step')}: ${valueText(data, sensitive)}, ${spaced(text('result'))}`;
    case 'step_corrected':
      return `${text('step')}: ${valueText(data, sensitive)}, ${spaced(text('result'))}, in place of event ${text('replaces')}`;
    case 'step_confirmed':
      return `${text('step')}: ${valueText(data, sensitive)}, confirmed what event ${text('confirms')} says`;
    case 'step_skipped':
      return `${text('step')}: skipped${sensitive === undefined ? '' : `, reason ${SENSITIVE[sensitive]}`}`;
    case 'block_resolved':
      return `block ${text('block')}${data['step'] === undefined ? '' : ` at ${text('step')}`} resolved: ${text('result')}`;
    case 'action_approved':
      return `what block ${text('block')} proposed was approved (${text('action_hash')})`;
    case 'action_denied':
      return `what block ${text('block')} proposed was denied (${text('action_hash')})`;
    case 'approval_expired':
      return `nobody decided in time on what block ${text('block')} proposed (rule ${text('rule')})`;
    case 'proposal_withdrawn':
      return `what block ${text('block')} proposed was changed, and is taken back (rule ${text('rule')})`;
    case 'workflow_handed_over':
      return `handed over to ${text('to_name')} (${text('to')})`;
    case 'workflow_completed':
      return 'completed';
    case 'workflow_abandoned':
      return 'ended early';
    case 'value_erased':
      return `${text('step')}: values erased, of events ${listText(data['records'])}`;
    case 'lock_released':
      return `lost ${text('asset')}: its lock was released by force`;
    case 'orphan_lock_released':
      return `the lock of ${text('asset')} was left behind and is free (rule ${text('rule')})`;
    case 'pointers_rebuilt':
      return `lists of people were put right (rule ${text('rule')})`;
    case 'stray_event_moved':
      return movedText(data['moved']);
    case 'faults_acknowledged':
      return `let go on by a person who looked at its trail: event ${listText(data['faults'])}`;
    case 'notification_redriven':
      return `its notification of event ${text('for_event')} to ${text('lane')} was sent again`;
    case 'lock_restored':
      return `has the lock of ${text('asset')} again (rule ${text('rule')})`;
    case 'asset_conflict_found':
      return `blocked: workflow ${text('held_by')} holds ${text('asset')} (rule ${text('rule')})`;
    case 'deadline_passed':
      return `${data['follows'] === 'block' ? 'blocked, overdue' : 'overdue'} (rule ${text('rule')})`;
    case 'reminder_sent':
      return `reminder ${text('reminder')} of ${text('of')} after ${text('minutes')} min without a record (rule ${text('rule')})`;
    case 'block_escalated':
      return `block ${text('block')} still stands after ${text('minutes')} min, level ${text('level')} of ${text('of')} told (rule ${text('rule')})`;
    default:
      return spaced(type);
  }
}

function movedText(moved: Json | undefined): string {
  const { seq, intact, missing } = (moved ?? {}) as {
    readonly seq?: number;
    readonly intact?: boolean;
    readonly missing?: boolean;
  };
  if (missing === true)
    return `event ${seq ?? '?'} was lost by a restore; its number is not used again`;
  const changed = intact === false ? ', not as it was hashed' : '';
  return `an event beyond the head (${seq ?? '?'}${changed}) was moved aside and is kept here`;
}

const SENSITIVE = { kept: '(kept apart)', erased: '(erased)', missing: '(missing)' } as const;

function valueText(data: TimelineEvent['data'], sensitive: TimelineEvent['sensitive']): string {
  if (sensitive !== undefined) return SENSITIVE[sensitive];
  const { value, unit } = data;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return display(value, 300).text;
  if (typeof value !== 'number') return '?';
  return `${value}${typeof unit === 'string' ? ` ${unit}` : ''}`;
}

function notesOf(data: TimelineEvent['data'], requests: boolean): readonly string[] {
  const { message, reason, deviations, request_id: request, proposal, withdrawn } = data;
  return [
    ...(deviations === undefined ? [] : [`deviates: ${listText(deviations)}`]),
    ...(typeof message === 'string' ? [message] : []),
    ...(typeof reason === 'string' ? [`reason: ${display(reason).text}`] : []),
    ...(proposal === undefined ? [] : [`proposes to go on: ${digestIn(proposal)}`]),
    ...(typeof withdrawn === 'string' ? [`withdraws ${withdrawn}`] : []),
    ...(requests && typeof request === 'string' ? [`request ${request}`] : []),
  ];
}

function digestIn(proposal: Json): string {
  const { action_hash } = proposal as { readonly action_hash?: string };
  return action_hash ?? '?';
}

function listText(list: Json | undefined): string {
  return Array.isArray(list) ? list.map(String).join(', ') : '?';
}

function spaced(code: string): string {
  return code.replaceAll('_', ' ');
}
