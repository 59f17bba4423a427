// `checkpoint policy check`: every fault of every file, with its place.
import { checkPolicies } from '../../wiring/local.ts';
import { counted, plain } from '../text.ts';

/** What a check printed, and how many faults it found. */
export interface PolicyCheck {
  readonly lines: readonly string[];
  readonly faults: number;
}

/** Checks files; a fault is `file:line:column /pointer: message`, without a place in a module. */
export async function checkFiles(files: readonly string[]): Promise<PolicyCheck> {
  const checked = await checkPolicies(files);
  const lines = checked.flatMap(({ file, procedures, faults }) => {
    if (faults.length === 0) return [`${file}: ${procedures.join(', ')} can be used`];
    return faults.map(({ line, column, path, message }) => {
      const place = line === undefined ? '' : `:${line}:${column ?? 1}`;
      return `${file}${place}${path === '' ? '' : ` ${plain(path, 200)}`}: ${plain(message, 400)}`;
    });
  });
  const faults = checked.reduce((sum, file) => sum + file.faults.length, 0);
  const bad = checked.filter((file) => file.faults.length > 0).length;
  const total = `${counted(faults, 'fault')} in ${bad} of ${counted(checked.length, 'file')}.`;
  return { lines: faults === 0 ? lines : [...lines, total], faults };
}
