// Reads a folder of procedures that people bring along: JSON files and modules.
// Does not build the registry and does not compare versions; subfolders and hidden files are left out.
// Invariant: every fault of every file is reported together, with the name of its file.
import { isUtf8 } from 'node:buffer';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fault } from '../../core/fault.ts';
import type { InputFault } from '../../core/input-fault.ts';
import { JsonFault, parseJson } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ProcedureInput } from '../../core/model/procedure.ts';
import type { DomainPolicy } from '../../core/ports/policy.ts';
import type { ProcedureFault } from '../../core/procedures.ts';
import { definitionFaults } from './definition-faults.ts';
import { readBounded } from './read-bounded.ts';

/** Thrown for a folder that cannot be used; `faults` holds all of them, sorted. */
export class PolicyFolderFault extends Fault {
  readonly faults: readonly ProcedureFault[];

  constructor(message: string, faults: readonly ProcedureFault[], options?: { cause?: unknown }) {
    super('terminal', 'START_REFUSED', message, options);
    this.faults = faults;
  }
}

/** One file: its policy, or what is wrong with it. */
export type FileResult =
  | { readonly ok: true; readonly policy: DomainPolicy }
  | { readonly ok: false; readonly faults: readonly InputFault[] };

/**
 * Loads every policy of a folder, in order of file names: a `*.json` file is one procedure, a
 * `*.mjs`, `*.js` or `*.ts` module exports `policy`. Throws {@link PolicyFolderFault}.
 */
export async function loadPolicyFolder(path: string): Promise<DomainPolicy[]> {
  const policies: DomainPolicy[] = [];
  const faults: ProcedureFault[] = [];
  for (const source of await policyFiles(path)) {
    const result = await readPolicyFile(join(path, source), source);
    if (result.ok) policies.push(result.policy);
    else faults.push(...result.faults.map((fault) => ({ source, ...fault })));
  }
  if (faults.length === 0) return policies;
  const sorted = faults.toSorted((a, b) => compare(lineOf(a), lineOf(b)));
  const lines = sorted.map((fault) => `  ${lineOf(fault)}`);
  throw new PolicyFolderFault(
    ['These procedure files cannot be used:', ...lines].join('\n'),
    sorted,
  );
}

/** Reads one file; a module runs. Its policy is named `domain` where it is a JSON file. */
export function readPolicyFile(file: string, domain: string): Promise<FileResult> {
  return /\.(?:mjs|js|ts)$/u.test(file) ? readModule(file) : readJson(file, domain);
}

async function policyFiles(path: string): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    names = await readdir(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const why = missing ? 'there is no such folder' : 'it cannot be read as a folder';
    throw new PolicyFolderFault(`The folder of procedures ${path}: ${why}`, [], { cause });
  }
  const wanted = names.filter((name) => /^[^.].*\.(?:json|mjs|js|ts)$/.test(name));
  const found: string[] = [];
  for (const name of wanted.filter((other) => !other.endsWith('.d.ts')).toSorted(compare)) {
    // Mounted configuration appears as symbolic links, so the target decides.
    const info = await stat(join(path, name)).catch(() => undefined);
    if (info === undefined || info.isFile()) found.push(name);
  }
  return found;
}

async function readJson(file: string, domain: string): Promise<FileResult> {
  let input: unknown;
  try {
    const { max } = LIMITS.bodyBytes;
    const bytes = await readBounded(file, max);
    if (bytes === undefined) return broken(`expected at most ${max} bytes`);
    // Decoding would replace what is not UTF-8 by question marks, and go on.
    if (!isUtf8(bytes)) return broken('expected UTF-8 text');
    input = parseJson(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof JsonFault) return broken(error.message, error.path);
    return broken('expected a file that can be read');
  }
  const faults = definitionFaults(input);
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, policy: { domain, procedures: [input as ProcedureInput] } };
}

/** Reads a module that exports `policy`. It runs the module. */
export async function readModule(file: string): Promise<FileResult> {
  let module: { readonly policy?: unknown };
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as typeof module;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw something that is not an error';
    return broken(`expected a module that can be loaded: ${why}`);
  }
  try {
    return readExport(module.policy);
  } catch {
    // A member can be code, which may throw whatever it likes.
    return broken('expected a policy whose members can be read');
  }
}

function readExport(policy: unknown): FileResult {
  if (!isPolicy(policy)) {
    return broken('expected an export named policy with domain, procedures and perhaps check');
  }
  const faults = policy.procedures.flatMap((input, i) =>
    definitionFaults(input).map(({ path, message }) => ({
      path: `/procedures/${i}${path}`,
      message,
    })),
  );
  return faults.length > 0 ? { ok: false, faults } : { ok: true, policy };
}

function isPolicy(value: unknown): value is DomainPolicy {
  if (typeof value !== 'object' || value === null) return false;
  const { domain, procedures, check } = value as Record<string, unknown>;
  return (
    typeof domain === 'string' &&
    Array.isArray(procedures) &&
    (check === undefined || typeof check === 'function')
  );
}

function broken(message: string, path = ''): FileResult {
  return { ok: false, faults: [{ path, message }] };
}

/** By code unit, so that the order is the same under every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function lineOf({ source, path, message }: ProcedureFault): string {
  return path === '' ? `${source}: ${message}` : `${source} ${path}: ${message}`;
}
