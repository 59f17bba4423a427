// `checkpoint policy check`: every fault of every file, with its place.
import { display } from '../../core/display.ts';
import { checkPolicies } from '../../wiring/local.ts';
import { counted } from '../text.ts';

/** What a check printed, and how many faults it found. */
export interface PolicyCheck {
  readonly lines: readonly string[];
  readonly faults: number;
}

/** Checks files; a fault is `file:line:column /pointer: message`, without a place in a module. */
export async function checkFiles(files: readonly string[]): Promise<PolicyCheck> {
  const checked = await checkPolicies(files);
  const lines = checked.flatMap(({ file, procedures, faults, warnings }) =>
    faults.length === 0
      ? [
          ...warnings.map((warning) => lineOf(file, warning, 'warning: ')),
          `${file}: ${procedures.join(', ')} can be used`,
        ]
      : faults.map((fault) => lineOf(file, fault)),
  );
  const faults = checked.reduce((sum, file) => sum + file.faults.length, 0);
  const bad = checked.filter((file) => file.faults.length > 0).length;
  const total = `${counted(faults, 'fault')} in ${bad} of ${counted(checked.length, 'file')}.`;
  return { lines: faults === 0 ? lines : [...lines, total], faults };
}

type Found = Awaited<ReturnType<typeof checkPolicies>>[number]['faults'][number];

function lineOf(file: string, { line, column, path, message }: Found, kind = ''): string {
  const place = line === undefined ? '' : `:${line}:${column ?? 1}`;
  const where = path === '' ? '' : ` ${display(path, 200).text}`;
  return `${file}${place}${where}: ${kind}${display(message, 400).text}`;
}
