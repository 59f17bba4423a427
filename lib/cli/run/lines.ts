// A run on a terminal. Whatever others wrote goes through the one display function, also where it is long.
import { display, displayFields } from '../../core/display.ts';
import type { Json } from '../../core/json.ts';
import { COLUMNS, facts, parts, shownTime, wrapped } from '../text.ts';
import type { Answer } from './server.ts';

/** The lines of a run as a server answers it. */
export function runLines(run: Answer): readonly string[] {
  const approval = objectOf(run['approval']);
  const ended = objectOf(run['ended']);
  const result = objectOf(run['result']);
  const requester = objectOf(run['requester']);
  const decider = objectOf(approval?.['decided_by']);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['run', shown(run['run_id'])],
    ['status', shown(run['status'])],
    ['service', shown(run['service'])],
    ['symptom', shown(run['symptom'])],
    ['requester', requester && nameOf(requester)],
    ['attempt', run['attempt'] === undefined ? undefined : shown(run['attempt'])],
    [
      'decision',
      approval && `${shown(approval['decision'])} by ${nameOf(decider)} at ${at(approval)}`,
    ],
    ['ended', ended && `${shown(ended['code'])}: ${shown(ended['message'])}`],
    ['ticket', result && `${shown(result['reference'])} (${shown(result['provider'])}), verified`],
    ['frozen', run['frozen'] === true ? 'its trail does not verify' : undefined],
  ];
  return [
    ...facts(rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]))),
    ...observationLines(run['observations']),
    ...actionLines(run),
  ];
}

/** The lines of work that was decided on, as a server answers it. */
export function workLines(work: Answer): readonly string[] {
  const block = objectOf(work['block']);
  const denied = objectOf(block?.['denied']);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['work', shown(work['workflow_id'])],
    ['status', shown(work['status'])],
    ['procedure', shown(work['title'])],
    ['asset', shown(work['asset'])],
    ['blocked', block && shown(block['message'])],
    ['denied', denied && `by ${nameOf(objectOf(denied['decided_by']))} at ${at(denied)}`],
  ];
  return facts(rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));
}

/** One action that waits for a decision, with its exact content. */
export function pendingLines(pending: Answer): readonly string[] {
  const id = pending['run_id'] ?? pending['workflow_id'];
  const { reason } = pending;
  return [
    ...wrapped(`${shown(pending['kind'])} ${shown(id)}: ${shown(pending['about'])}`),
    ...(reason === undefined ? [] : wrapped(`blocked: ${shown(reason)}`, 2)),
    ...actionLines(pending),
    '',
  ];
}

/** The exact action, field by field, with its full digest below. */
function actionLines(run: Answer): readonly string[] {
  const action = run['proposed_action'];
  if (action === undefined) return [];
  const fields = displayFields(action);
  const width = Math.max(...fields.map(({ path }) => path.length)) + 2;
  const missing = run['missing'];
  return [
    '',
    'The exact action',
    ...fields.flatMap(({ path, text }) => {
      const [first = '', ...more] = whole(text, width + 2);
      return [`  ${path.padEnd(width)}${first}`, ...more.map((line) => indented(line, width + 2))];
    }),
    ...(missing === undefined ? [] : wrapped(`missing: ${shown(missing)}`, 2)),
    `  action_hash ${shown(run['action_hash'])}`,
  ];
}

function observationLines(observations: Json | undefined): readonly string[] {
  if (!Array.isArray(observations) || observations.length === 0) return [];
  return [
    '',
    'What tools answered (untrusted)',
    ...(observations as readonly Answer[]).flatMap((one) => {
      const failed = one['is_error'] === true ? ', says that it failed' : '';
      const cut = one['truncated'] === true ? ', cut' : '';
      const head = `${shown(one['server'])}/${shown(one['tool'])}, ${shown(one['bytes'])} bytes${failed}${cut}`;
      // It went through the function at the server; doing it again would escape the escapes.
      const text = objectOf(one['display'])?.['text'];
      const lines = whole(typeof text === 'string' ? text : '?', 4);
      return [...wrapped(head, 2), ...lines.map((line) => indented(line, 4))];
    }),
  ];
}

/** One line for each event of a trail. */
export function eventLines(events: readonly Answer[]): readonly string[] {
  return events.flatMap((event) => {
    const { seq, type, data } = event;
    const actor = objectOf(event['actor']);
    const when = shownTime(typeof event['at'] === 'string' ? event['at'] : '');
    const untrusted = event['untrusted'] === true ? ' (untrusted)' : '';
    const head = `${shown(seq).padStart(4)}  ${when}  ${shown(type)}${untrusted} by ${nameOf(actor)}`;
    const told = Object.keys(objectOf(data) ?? {}).length === 0 ? [] : displayFields(data ?? {});
    const text = told
      .map(({ path, text: value }) => (path === '' ? value : `${path.slice(1)}=${value}`))
      .join(' ');
    return [head, ...(text === '' ? [] : whole(text, 6).map((line) => indented(line, 6)))];
  });
}

/** A displayed text in lines, every character of it: what is decided on is never cut by a terminal. */
const whole = (text: string, indent: number): readonly string[] => parts(text, COLUMNS - indent);

const indented = (line: string, by: number): string => `${' '.repeat(by)}${line}`;

const at = (one: Answer): string => shownTime(typeof one['at'] === 'string' ? one['at'] : '');

function nameOf(who: Answer | undefined): string {
  if (who === undefined) return '?';
  return `${shown(who['name'] ?? '?')} (${shown(who['subject'] ?? '?')})`;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return '?';
  return display(typeof value === 'string' ? value : JSON.stringify(value)).text;
}

function objectOf(value: Json | undefined): Answer | undefined {
  const is = typeof value === 'object' && value !== null && !Array.isArray(value);
  return is ? (value as Answer) : undefined;
}
