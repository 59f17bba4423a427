// The registry of procedures: validates every definition at once, knows every version, asks rules.
// Does not know where definitions come from.
import * as z from 'zod';
import { canonicalHash } from './canonical.ts';
import { Fault } from './fault.ts';
import { pointer, type Json } from './json.ts';
import {
  procedureSchema,
  ruleSchema,
  stepSchema,
  type Procedure,
  type ProcedureInput,
  type Step,
} from './model/procedure.ts';
import type { InputFault } from './input-fault.ts';
import { canonicalAsset } from './names.ts';
import type { DomainPolicy, Finding, RuleInput } from './ports/policy.ts';

/** A procedure with the digest of its content. */
export interface RegisteredProcedure {
  readonly procedure: Procedure;
  readonly digest: string;
}

/** Every procedure version this process knows. */
export interface ProcedureRegistry {
  /** The newest version of each procedure, by id. */
  list(): readonly Procedure[];
  /** All versions. */
  all(): readonly RegisteredProcedure[];
  /** One version, or the newest where `version` is left out. */
  find(id: string, version?: number): Procedure | undefined;
  /** Declarative and coded rules that concern the step, in that order. */
  check(procedure: Procedure, input: Omit<RuleInput, 'procedure' | 'version'>): readonly Finding[];
}

/** A fault of a definition, with where it came from. */
export interface ProcedureFault extends InputFault {
  readonly source: string;
}

/** Parses one definition; answers all its faults at once, those between its parts included. */
export function parseProcedure(
  input: unknown,
):
  | { readonly ok: true; readonly procedure: Procedure }
  | { readonly ok: false; readonly faults: readonly InputFault[] } {
  const parsed = procedureSchema.safeParse(input);
  const faults = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap(shapeFaults)),
    ...crossFaults(input),
  ];
  return parsed.success && faults.length === 0
    ? { ok: true, procedure: parsed.data }
    : { ok: false, faults };
}

function shapeFaults(issue: z.core.$ZodIssue): readonly InputFault[] {
  const path = issue.path.reduce<string>((base, part) => pointer(base, String(part)), '');
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({
    path: pointer(path, key),
    message: 'expected no member of this name',
  }));
}

/** Builds the registry, or answers every fault of every domain. */
export function buildRegistry(
  policies: readonly DomainPolicy[],
):
  | { readonly ok: true; readonly registry: ProcedureRegistry }
  | { readonly ok: false; readonly faults: readonly ProcedureFault[] } {
  const versions = new Map<string, RegisteredProcedure & { readonly policy: DomainPolicy }>();
  const faults: ProcedureFault[] = [];
  for (const policy of policies) {
    policy.procedures.forEach((input, i) => {
      const source = `${policy.domain}, procedure ${i + 1}`;
      const parsed = parseProcedure(input);
      if (!parsed.ok) {
        faults.push(...parsed.faults.map((fault) => ({ ...fault, source })));
        return;
      }
      const { procedure } = parsed;
      const digest = procedureDigest(input);
      const key = versionKey(procedure.id, procedure.version);
      const known = versions.get(key);
      if (known !== undefined && (known.digest !== digest || known.policy !== policy)) {
        faults.push({
          source,
          path: '/version',
          message: `${procedure.id}@${procedure.version} is defined twice`,
        });
      }
      versions.set(key, { procedure, digest, policy });
    });
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, registry: registryOf(versions) };
}

/**
 * The digest that tells two contents of one `id@version` apart. It covers the definition as its
 * author wrote it, so that a default added by a later release does not change it.
 */
export function procedureDigest(input: ProcedureInput): string {
  const { $schema: _schema, ...content } = input;
  return canonicalHash(content);
}

/** The step of a procedure, by id. */
export function stepOf(procedure: Procedure, id: string): Step | undefined {
  return procedure.steps.find((step) => step.id === id);
}

const versionKey = (id: string, version: number): string => `${id}@${version}`;

function registryOf(
  versions: ReadonlyMap<string, RegisteredProcedure & { readonly policy: DomainPolicy }>,
): ProcedureRegistry {
  const newest = new Map<string, Procedure>();
  for (const { procedure } of versions.values()) {
    const known = newest.get(procedure.id);
    if (known === undefined || known.version < procedure.version) {
      newest.set(procedure.id, procedure);
    }
  }
  const sorted = [...newest.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    list: () => sorted,
    all: () => [...versions.values()].map(({ procedure, digest }) => ({ procedure, digest })),
    find: (id, version) =>
      version === undefined ? newest.get(id) : versions.get(versionKey(id, version))?.procedure,
    check: (procedure, input) => {
      const entry = versions.get(versionKey(procedure.id, procedure.version));
      const asked = { ...input, procedure: procedure.id, version: procedure.version };
      return [
        ...declaredFindings(procedure, input.step, input.values),
        ...codedFindings(entry?.policy, asked),
      ];
    },
  };
}

const findingsSchema = z.array(
  z.object({
    rule: z.string().min(1).max(48),
    message: z.string().min(1).max(300),
    follows: z.enum(['retake', 'record_and_notify', 'block']),
  }),
);

/** Asks a domain's code; what it throws or answers wrongly is a fault, never a recorded value. */
function codedFindings(policy: DomainPolicy | undefined, asked: RuleInput): readonly Finding[] {
  if (policy?.check === undefined) return [];
  try {
    return findingsSchema.parse(policy.check(asked));
  } catch (cause) {
    const what = `the rules of ${policy.domain} failed on ${asked.procedure}, ${asked.step}`;
    throw new Fault('terminal', 'POLICY_FAILED', what, { cause });
  }
}

function declaredFindings(
  procedure: Procedure,
  step: string,
  values: { readonly [step: string]: Json },
): readonly Finding[] {
  return procedure.rules.flatMap((rule) => {
    if (rule.step !== step && rule.than !== step) return [];
    const left = values[rule.step];
    const right = values[rule.than];
    if (typeof left !== 'number' || typeof right !== 'number') return [];
    const difference = rule.kind === 'greater_than' ? left - right : right - left;
    // Binary fractions: 0.3 - 0.1 must count as 0.2.
    const broken = rule.margin === 0 ? difference <= 0 : difference < rule.margin - 1e-9;
    return broken ? [{ rule: rule.id, message: rule.message, follows: rule.on_deviation }] : [];
  });
}

/** Faults between parts of a definition, as far as its parts can be read. */
function crossFaults(input: unknown): InputFault[] {
  const faults: InputFault[] = [];
  const fault = (path: string, message: string): void => {
    faults.push({ path, message });
  };
  const { asset, steps, rules } = readable(input);
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
  return faults;
}

interface Readable {
  readonly asset: Procedure['asset'] | undefined;
  readonly steps: readonly { readonly id: string | undefined; readonly step: Step | undefined }[];
  readonly rules: readonly (Procedure['rules'][number] | undefined)[];
}

/** The parts of a definition that fit their own schema, each in its place. */
function readable(input: unknown): Readable {
  const parts = z
    .object({
      asset: z.unknown(),
      steps: z.array(z.unknown()).catch([]),
      rules: z.array(z.unknown()).catch([]),
    })
    .safeParse(input);
  const { asset, steps, rules } = parts.data ?? { asset: undefined, steps: [], rules: [] };
  return {
    asset: procedureSchema.shape.asset.safeParse(asset).data,
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
    });
    if (step.options.every((option) => option.deviates)) {
      fault(`${at}/options`, 'expected at least one option that does not deviate');
    }
  }
  if (step.kind !== 'reading') return;
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
  return new RegExp(`^(?:${procedure.asset.pattern})$`, 'u');
}
