// `checkpoint policy show`: one procedure on one screen.
import type { Deadline, Procedure, Step } from '../../core/model/procedure.ts';
import type { RegisteredProcedure } from '../../core/procedures.ts';
import type { Settings } from '../../settings.ts';
import { loadRegistry } from '../../wiring/registry.ts';
import { proceduresOf } from '../../wiring/local.ts';
import { CliProblem } from '../failure.ts';
import { COMMAND } from '../form.ts';
import { aligned, counted, facts, wrapped } from '../text.ts';

/** What a name stands for: the procedures of a file, or the one of an id. */
export async function findProcedures(
  settings: Settings,
  name: string,
): Promise<readonly RegisteredProcedure[]> {
  if (!/[/\\]|\.(?:json|mjs|js|ts)$/u.test(name)) return [await findProcedure(settings, name)];
  const found = await proceduresOf(name);
  if (found !== undefined && found.length > 0) return found;
  throw new CliProblem(
    found === undefined
      ? `${name} has faults: ${COMMAND} policy check ${name} says which.`
      : `${name} has no procedure.`,
  );
}

/** Finds `ID` (the newest version) or `ID@VERSION` among the shipped and the configured ones. */
async function findProcedure(settings: Settings, name: string): Promise<RegisteredProcedure> {
  const [, id = '', version] = /^([^@]*)(?:@([0-9]{1,4}))?$/.exec(name) ?? [];
  const registry = await loadRegistry(settings);
  const wanted = registry.find(id, version === undefined ? undefined : Number(version));
  const found = registry.all().find(({ procedure }) => procedure === wanted);
  if (found !== undefined) return found;
  const known = registry.all().map(({ procedure }) => `${procedure.id}@${procedure.version}`);
  throw new CliProblem(`There is no procedure ${name}; known are ${known.toSorted().join(', ')}.`);
}

/** The lines of a procedure. */
export function procedureLines({ procedure, coded, digest }: RegisteredProcedure): string[] {
  const { id, version, title, description, asset, rules, escalation } = procedure;
  const told = escalation.map(escalationText).join(', ');
  const { deadline, reminder, approval } = procedure;
  return [
    ...wrapped(`${title} (${id}@${version}): ${description}`),
    ...facts([
      ['asset', `${asset.type}, such as ${asset.example}; pattern ${asset.pattern}`],
      ['told', told === '' ? 'nobody' : told],
      ...(deadline === undefined ? [] : ([['deadline', deadlineText(deadline)]] as const)),
      ...(reminder === undefined ? [] : ([['reminder', reminderText(reminder)]] as const)),
      ...(approval === undefined ? [] : ([['approval', approvalText(approval)]] as const)),
      ['digest', digest],
    ]),
    '',
    ...stepLines(procedure.steps),
    ...ruleLines(rules, coded),
  ];
}

function escalationText(rule: Procedure['escalation'][number]): string {
  const { on, notify, after_minutes, times = 1 } = rule;
  if (after_minutes === undefined) return `${on} to ${notify}`;
  const often = times === 1 ? '' : `, ${times} times`;
  return `${on} to ${notify} after ${after_minutes} min${often}`;
}

function deadlineText({ minutes, on_overdue }: Deadline): string {
  return `within ${minutes} min, else ${on_overdue}`;
}

function approvalText({ on, expires_minutes, notify }: NonNullable<Procedure['approval']>): string {
  return `asked of ${notify} after ${on.join(' or ')}, within ${expires_minutes} min`;
}

function reminderText({ idle_minutes, times }: NonNullable<Procedure['reminder']>): string {
  return `after ${idle_minutes} min without a record, ${counted(times, 'time')} at most`;
}

function stepLines(steps: readonly Step[]): readonly string[] {
  const [head = '', ...lines] = aligned([
    ['#', 'step', 'kind', 'bounds', 'warning', 'expected', 'deviation', 'more'],
    ...steps.map((step, i) => [String(i + 1), ...stepCells(step)]),
  ]);
  const notes = steps.map((step) => [
    ...(step.kind === 'choice' ? [`options: ${step.options.map(optionText).join(', ')}`] : []),
    ...(step.requires.length > 0 ? [`after: ${step.requires.join(', ')}`] : []),
    ...(step.deadline === undefined ? [] : [deadlineText(step.deadline)]),
  ]);
  return [
    head,
    ...lines.flatMap((line, i) => [
      line,
      ...(notes[i] ?? []).flatMap((note) => wrapped(note, NOTE_INDENT)),
    ]),
  ];
}

/** Notes stand below the name of their step. */
const NOTE_INDENT = 7;

function optionText({ id, deviates }: { readonly id: string; readonly deviates: boolean }): string {
  return deviates ? `${id} (deviates)` : id;
}

function stepCells(step: Step): readonly string[] {
  const more = [
    ...(step.optional ? ['optional'] : []),
    ...(step.second_person ? ['second person'] : []),
  ];
  const cells = (bounds: string, warning: string, expected: string, also: readonly string[]) => [
    step.id,
    step.kind,
    bounds,
    warning,
    expected,
    step.kind === 'text' ? '' : DEVIATION[step.on_deviation],
    [...also, ...more].join('; '),
  ];
  switch (step.kind) {
    case 'reading': {
      const { bounds, warning, expected, unit, decimals } = step;
      const places = decimals === 0 ? 'whole numbers' : counted(decimals, 'decimal');
      const band = warning === undefined ? '' : range(warning);
      return cells(`${range(bounds)} ${unit.symbol}`, band, range(expected), [places]);
    }
    case 'text':
      return cells(`${step.max_chars} chars`, '', '', step.sensitive ? ['sensitive'] : []);
    case 'choice':
    case 'confirm':
      return cells('', '', '', []);
  }
}

const DEVIATION = { retake: 'retake', record_and_notify: 'notify', block: 'block' } as const;

function range({ min, max }: { readonly min: number; readonly max: number }): string {
  return `${min}..${max}`;
}

function ruleLines(rules: Procedure['rules'], coded: boolean): readonly string[] {
  const lines = rules.flatMap(({ id, kind, step, than, margin, on_deviation, message }) => {
    const sign = kind === 'greater_than' ? '>' : '<';
    const by = margin === 0 ? '' : ` by at least ${margin}`;
    const head = `${id}: ${step} ${sign} ${than}${by}, else ${DEVIATION[on_deviation]}`;
    return [...wrapped(head, 2), ...wrapped(message, NOTE_INDENT)];
  });
  const inCode = coded ? ['  Its domain has rules in code too, which cannot be shown.'] : [];
  if (lines.length + inCode.length === 0) return ['', 'rules: none'];
  return ['', 'rules', ...lines, ...inCode];
}
