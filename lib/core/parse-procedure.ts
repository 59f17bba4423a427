// From a definition as its author wrote it to a procedure, or every fault of it at once.
import * as z from 'zod';
import { approvalFaults } from './approval-faults.ts';
import type { InputFault } from './input-fault.ts';
import { checkJson, isJsonFault, pointer } from './json.ts';
import {
  escalationSchema,
  procedureSchema,
  ruleSchema,
  stepSchema,
  type Procedure,
  type Step,
} from './model/procedure.ts';
import { canonicalAsset, foldName } from './names.ts';
import { expectedOf, valueAt } from './shape-words.ts';
import { timeFaults, type TimedParts } from './time-faults.ts';
import { unitFaults } from './unit.ts';

/** Parses one definition; answers all its faults at once, those between its parts included. */
export function parseProcedure(
  input: unknown,
):
  | { readonly ok: true; readonly procedure: Procedure }
  | { readonly ok: false; readonly faults: readonly InputFault[] } {
  const parsed = procedureSchema.safeParse(input);
  const faults = [
    ...exactFaults(input),
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => shapeFaults(issue, input))),
    ...crossFaults(input),
  ];
  return parsed.success && faults.length === 0
    ? { ok: true, procedure: parsed.data }
    : { ok: false, faults };
}

/** What could not be kept exactly, such as a bound of 1e18. */
function exactFaults(input: unknown): readonly InputFault[] {
  try {
    checkJson(input);
    return [];
  } catch (error) {
    if (!isJsonFault(error)) throw error;
    // What else a text can have wrong is told by whoever reads it.
    if (error.code !== 'NUMBER_OUT_OF_RANGE') return [];
    return [{ path: error.path, message: error.message }];
  }
}

function shapeFaults(issue: z.core.$ZodIssue, input: unknown): readonly InputFault[] {
  const path = issue.path.reduce<string>((base, part) => pointer(base, String(part)), '');
  if (issue.code !== 'unrecognized_keys') {
    const absent = issue.code !== 'custom' && valueAt(input, issue.path) === undefined;
    return [{ path, message: `${absent ? 'missing; ' : ''}${expectedOf(issue)}` }];
  }
  return issue.keys.map((key) => ({
    path: pointer(path, key),
    message: 'expected no member of this name',
  }));
}

/** Faults between parts of a definition, as far as its parts can be read. */
function crossFaults(input: unknown): InputFault[] {
  const faults: InputFault[] = [];
  const fault = (path: string, message: string): void => {
    faults.push({ path, message });
  };
  const { asset, steps, rules, approval, ...times } = readable(input);
  if (asset !== undefined) assetFaults(asset, fault);
  const ids = steps.map(({ id }) => id);
  steps.forEach(({ id, step }, i) => {
    const at = `/steps/${i}`;
    if (id !== undefined && ids.indexOf(id) !== i) {
      fault(`${at}/id`, `the step id ${id} appears twice`);
    }
    step?.requires.forEach((required, j) => {
      const place = ids.indexOf(required);
      if (place < 0) fault(`${at}/requires/${j}`, `there is no step ${required}`);
      else if (place >= i) fault(`${at}/requires/${j}`, `${required} is not an earlier step`);
    });
    if (step !== undefined) stepFaults(step, at, fault);
  });
  rules.forEach((rule, i) => {
    if (rule === undefined) return;
    for (const side of ['step', 'than'] as const) {
      const meant = steps.find(({ id }) => id === rule[side]);
      const unreadable = meant !== undefined && meant.step === undefined;
      if (!unreadable && meant?.step?.kind !== 'reading') {
        fault(`/rules/${i}/${side}`, `expected the id of a reading step, not ${rule[side]}`);
      }
    }
    if (rule.step === rule.than) fault(`/rules/${i}/than`, 'expected another step');
  });
  const timed = { ...times, steps: steps.map(({ step }) => step) };
  timeFaults(timed, fault);
  approvalFaults({ ...timed, approval }, fault);
  return faults;
}

interface Readable extends Omit<TimedParts, 'steps'> {
  readonly asset: Procedure['asset'] | undefined;
  readonly steps: readonly { readonly id: string | undefined; readonly step: Step | undefined }[];
  readonly rules: readonly (Procedure['rules'][number] | undefined)[];
  readonly approval: Procedure['approval'];
}

/** The parts of a definition that fit their own schema, each in its place. */
function readable(input: unknown): Readable {
  const parts = z
    .object({
      asset: z.unknown(),
      steps: z.array(z.unknown()).catch([]),
      rules: z.array(z.unknown()).catch([]),
      escalation: z.array(z.unknown()).catch([]),
      deadline: z.unknown().optional(),
      reminder: z.unknown().optional(),
      approval: z.unknown().optional(),
    })
    .safeParse(input);
  const none = {
    steps: [],
    rules: [],
    escalation: [],
    asset: null,
    deadline: null,
    reminder: null,
    approval: null,
  };
  const { asset, steps, rules, escalation, deadline, reminder, approval } = parts.data ?? none;
  const { shape } = procedureSchema;
  return {
    asset: shape.asset.safeParse(asset).data,
    deadline: shape.deadline.safeParse(deadline).data,
    reminder: shape.reminder.safeParse(reminder).data,
    approval: shape.approval.safeParse(approval).data,
    escalation: escalation.map((raw) => escalationSchema.safeParse(raw).data),
    steps: steps.map((raw) => ({
      id: z.object({ id: z.string() }).safeParse(raw).data?.id,
      step: stepSchema.safeParse(raw).data,
    })),
    rules: rules.map((raw) => ruleSchema.safeParse(raw).data),
  };
}

function assetFaults(
  asset: Procedure['asset'],
  fault: (path: string, message: string) => void,
): void {
  let pattern: RegExp;
  try {
    pattern = assetPattern({ asset });
  } catch {
    fault('/asset/pattern', 'expected a valid regular expression');
    return;
  }
  if (!pattern.test(canonicalAsset(asset.example))) {
    fault('/asset/example', 'expected an example that matches the pattern in upper case');
  }
}

function stepFaults(step: Step, at: string, fault: (path: string, message: string) => void): void {
  if (step.kind === 'choice') {
    step.options.forEach((option, j) => {
      if (step.options.findIndex((other) => other.id === option.id) !== j) {
        fault(`${at}/options/${j}/id`, `the option id ${option.id} appears twice`);
      }
      const title = foldName(option.title);
      const clash = step.options.some(
        (other, k) => k !== j && (other.id === title || (k < j && foldName(other.title) === title)),
      );
      if (clash) fault(`${at}/options/${j}/title`, `${option.title} names another option too`);
    });
    if (step.options.every((option) => option.deviates)) {
      fault(`${at}/options`, 'expected at least one option that does not deviate');
    }
  }
  if (step.kind === 'text' && step.sensitive && step.second_person) {
    fault(`${at}/second_person`, 'expected no second person on a sensitive text');
  }
  if (step.kind !== 'reading') return;
  for (const { path, message } of unitFaults(step.unit)) fault(`${at}/unit${path}`, message);
  const { bounds, warning, expected, decimals } = step;
  const within = (
    inner: { min: number; max: number },
    outer: { min: number; max: number },
  ): boolean => inner.min >= outer.min && inner.max <= outer.max && inner.min <= inner.max;
  if (bounds.min >= bounds.max) fault(`${at}/bounds`, 'expected min below max');
  if (warning !== undefined && !within(warning, bounds)) {
    fault(`${at}/warning`, 'expected a band within the bounds');
  }
  if (!within(expected, warning ?? bounds)) {
    fault(`${at}/expected`, 'expected a range within the bounds and the warning band');
  }
  for (const [name, band] of Object.entries({ bounds, warning, expected })) {
    for (const side of ['min', 'max'] as const) {
      if (band !== undefined && !hasDecimals(band[side], decimals)) {
        fault(`${at}/${name}/${side}`, `expected at most ${decimals} decimal places`);
      }
    }
  }
}

/** Whether a number has at most this many decimal places. */
export function hasDecimals(value: number, decimals: number): boolean {
  return Number(value.toFixed(decimals)) === value;
}

/** The pattern for a whole asset id of a procedure. */
export function assetPattern(procedure: Pick<Procedure, 'asset'>): RegExp {
  const { pattern } = procedure.asset;
  // By itself first: a bracket closed in the pattern must not close the one around it.
  void new RegExp(pattern, 'u');
  return new RegExp(`^(?:${pattern})$`, 'u');
}
