// Checks files of procedures before they are deployed: every fault of every file, with its place.
// Writes nothing and registers nothing; a module is run, because only that shows what it exports.
import { isUtf8 } from 'node:buffer';
import type { InputFault } from '../../core/input-fault.ts';
import { checkJson, JsonFault, parseJson } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ProcedureInput } from '../../core/model/procedure.ts';
import { parseProcedure } from '../../core/parse-procedure.ts';
import type { DomainPolicy } from '../../core/ports/policy.ts';
import { procedureDigest } from '../../core/procedures.ts';
import { ruleWarnings } from '../../core/rule-warnings.ts';
import { definitionFaults } from './definition-faults.ts';
import { readModule } from './folder.ts';
import { placesOf, type Place, type Places } from './json-places.ts';
import { readBounded } from './read-bounded.ts';

/** A fault of a file; modules and files that cannot be read have no places. */
export interface FileFault extends InputFault, Partial<Place> {}

/** What was found in one file. */
export interface CheckedFile {
  readonly file: string;
  /** The procedures in it as `id@version`, where it has no fault. */
  readonly procedures: readonly string[];
  /** In order of their places. */
  readonly faults: readonly FileFault[];
  /** What is odd in a file without faults. */
  readonly warnings: readonly FileFault[];
}

interface Read {
  readonly inputs: readonly ProcedureInput[];
  readonly faults: readonly FileFault[];
  readonly places?: Places;
}

/** Checks files one by one and against each other; `shipped` are the domains that come along. */
export async function checkPolicyFiles(
  files: readonly string[],
  shipped: readonly DomainPolicy[],
): Promise<readonly CheckedFile[]> {
  const taken = new Map<string, { readonly where: string; readonly digest?: string }>();
  for (const { domain, procedures } of shipped) {
    for (const procedure of procedures) taken.set(versionOf(procedure), { where: domain });
  }
  const checked: CheckedFile[] = [];
  for (const file of files) {
    const read = await readPolicy(file);
    const twice = read.inputs.flatMap((input, i): readonly FileFault[] => {
      const name = versionOf(input);
      const known = taken.get(name);
      const digest = procedureDigest(input);
      if (known === undefined) taken.set(name, { where: file, digest });
      // The same file named twice is no fault.
      if (known === undefined || (known.where === file && known.digest === digest)) return [];
      const path = read.places === undefined ? `/procedures/${i}/version` : '/version';
      const message = `${name} is defined by ${known.where} too; give it another version`;
      return [{ path, message, ...read.places?.at(path) }];
    });
    const faults = [...read.faults, ...twice].toSorted(byPlace);
    const procedures = faults.length > 0 ? [] : read.inputs.map(versionOf);
    const warnings =
      faults.length > 0 ? [] : read.inputs.flatMap((input, i) => warningsOf(input, i, read));
    checked.push({ file, procedures, faults, warnings });
  }
  return checked;
}

/** What is odd in the rules of one definition of a file. */
function warningsOf(input: ProcedureInput, i: number, { places }: Read): readonly FileFault[] {
  const parsed = parseProcedure(input);
  if (!parsed.ok) return [];
  return ruleWarnings(parsed.procedure).map(({ path, message }) => {
    const full = places === undefined ? `/procedures/${i}${path}` : path;
    return { path: full, message, ...places?.at(full) };
  });
}

const versionOf = ({ id, version }: ProcedureInput): string => `${id}@${version}`;

async function readPolicy(file: string): Promise<Read> {
  if (/\.(?:mjs|js|ts)$/u.test(file)) {
    const result = await readModule(file);
    return result.ok
      ? { inputs: result.policy.procedures, faults: [] }
      : { inputs: [], faults: result.faults };
  }
  const { max } = LIMITS.bodyBytes;
  let bytes: Buffer | undefined;
  try {
    bytes = await readBounded(file, max);
  } catch {
    return failed('expected a file that can be read');
  }
  if (bytes === undefined) return failed(`expected at most ${max} bytes`);
  if (!isUtf8(bytes)) return failed('expected UTF-8 text');
  return readText(bytes.toString('utf8').replace(/^\uFEFF/u, ''));
}

function readText(text: string): Read {
  const strict = strictFault(text);
  // The syntax tree is built by recursion, so a text that is too deep is not given to it.
  if (strict?.code === 'TOO_DEEP') return failed(strict.message, strict.path);
  const places = placesOf(text);
  const faults: FileFault[] = [...places.faults];
  if (strict?.code === 'INVALID_JSON') {
    if (faults.length === 0) faults.push({ line: 1, column: 1, ...faultOf(strict) });
    return { inputs: [], faults, places };
  }
  const input: unknown = JSON.parse(text);
  const value = strict?.code === 'DUPLICATE_KEY' ? valueFault(input) : strict;
  const first = value === undefined ? [] : [faultOf(value)];
  const further = definitionFaults(input).filter(({ path, message }) =>
    first.every((known) => known.path !== path || known.message !== message),
  );
  const found = [...first, ...further];
  faults.push(...found.map(({ path, message }) => ({ ...places.at(path), path, message })));
  return { inputs: faults.length > 0 ? [] : [input as ProcedureInput], faults, places };
}

function strictFault(text: string): JsonFault | undefined {
  return faultIn(() => parseJson(text));
}

function valueFault(value: unknown): JsonFault | undefined {
  return faultIn(() => checkJson(value));
}

function faultIn(check: () => unknown): JsonFault | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
}

function faultOf({ path, message }: JsonFault): InputFault {
  return { path, message };
}

function failed(message: string, path = ''): Read {
  return { inputs: [], faults: [{ path, message }] };
}

function byPlace(a: FileFault, b: FileFault): number {
  const line = (a.line ?? 0) - (b.line ?? 0);
  return line === 0 ? (a.column ?? 0) - (b.column ?? 0) : line;
}
