// `checkpoint audit verify --heads`: the store against a list of heads that was signed before.
import type { StorageBackend } from '../../core/ports/storage.ts';
import { checkHeads, compareHeads, type HeadFault } from '../../core/trail/heads.ts';
import { headsFingerprint, headsKeyIn } from '../../core/trail/heads-key.ts';
import { chainText } from '../chain-words.ts';
import { CliProblem } from '../failure.ts';
import { readLines } from '../lines-file.ts';
import { counted, shownTime } from '../text.ts';

/** What was found. */
export interface HeadsReport {
  readonly at: string;
  readonly part: number;
  readonly heads: number;
  readonly more: boolean;
  readonly faults: readonly HeadFault[];
}

/**
 * The fingerprint that is pinned by an option: itself, or a file with the public key in PEM. Throws a
 * problem for anything else.
 */
export async function pinnedKey(given: string): Promise<string> {
  if (/^[0-9a-f]{64}$/i.test(given)) return given.toLowerCase();
  const lines: string[] = [];
  for await (const line of readLines(given)) lines.push(line);
  const key = headsKeyIn(lines.join('\n'));
  if (key !== undefined) return headsFingerprint(key);
  throw new CliProblem(`${given} does not hold a public key as audit heads-key prints it.`);
}

/** Compares a store with a list. Throws a problem for a list that was not signed under the pinned key. */
export async function verifyHeads(
  store: StorageBackend,
  file: string,
  fingerprint: string,
): Promise<HeadsReport> {
  const signature = await checkHeads(readLines(file), fingerprint);
  if (!signature.ok) {
    throw new CliProblem(
      signature.why === 'form'
        ? `${file} is not a whole list of heads.`
        : signature.why === 'key'
          ? `${file} was signed under another key, ${signature.fingerprint}; expected ${fingerprint}.`
          : `${file} was changed since it was signed.`,
    );
  }
  const faults: HeadFault[] = [];
  for await (const fault of compareHeads(store, readLines(file))) faults.push(fault);
  const { at, part, heads, more } = signature;
  return { at, part, heads, more, faults };
}

/** The lines to print for a report. */
export function headsReportLines(report: HeadsReport): readonly string[] {
  const { at, part, heads, more, faults } = report;
  const of = part === 1 && !more ? '' : `, part ${part} of the list`;
  const count = `${counted(heads, 'head')} of ${shownTime(at)} UTC${of}`;
  const rest = more ? [`The list goes on in part ${part + 1}.`] : [];
  if (faults.length === 0) return [`${count}: every one still stands.`, ...rest];
  return [...faults.flatMap(faultTexts), `${count}: ${faults.length} broken.`, ...rest];
}

function faultTexts(fault: HeadFault): readonly string[] {
  const name = `tenant ${fault.tenant}, workflow ${fault.workflow}`;
  switch (fault.what) {
    case 'gone':
      return [`${name}: the workflow is gone; ${signed(fault.seq)}`];
    case 'cut':
      return [`${name}: cut to ${counted(fault.now, 'event')}; ${signed(fault.seq)}`];
    case 'rewritten':
      return [`${name}: rewritten; event ${fault.seq} is not the one that was signed`];
    case 'broken':
      return fault.faults.map((one) => `${name}: ${chainText(one)}`);
  }
}

const signed = (events: number): string =>
  `${counted(events, 'event')} ${events === 1 ? 'was' : 'were'} signed`;
