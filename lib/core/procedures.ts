// The registry of procedures: validates every definition at once, knows every version, asks rules.
// Does not know where definitions come from.
import { canonicalHash } from './canonical.ts';
import type { InputFault } from './input-fault.ts';
import type { Procedure, ProcedureInput, Step } from './model/procedure.ts';
import { parseProcedure } from './parse-procedure.ts';
import type { DomainPolicy, Finding, RuleInput } from './ports/policy.ts';
import { codedFindings, declaredFindings } from './rules.ts';

/** A procedure with the digest of its content. */
export interface RegisteredProcedure {
  readonly procedure: Procedure;
  readonly digest: string;
  /** Whether its domain also answers in code. */
  readonly coded: boolean;
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
      versions.set(key, { procedure, digest, policy, coded: policy.check !== undefined });
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
    all: () =>
      [...versions.values()].map(({ procedure, digest, coded }) => ({ procedure, digest, coded })),
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
