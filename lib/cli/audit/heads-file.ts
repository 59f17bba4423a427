// `checkpoint audit verify --heads`: the store against a list of heads that was signed before.
import type { StorageBackend } from '../../core/ports/storage.ts';
import { checkHeads, compareHeads, type HeadFault } from '../../core/trail/heads.ts';
import { chainText } from '../chain-words.ts';
import { CliProblem } from '../failure.ts';
import { readLines } from '../lines-file.ts';
import { counted, shownTime } from '../text.ts';

/** What was found. */
export interface HeadsReport {
  readonly at: string;
  readonly heads: number;
  readonly faults: readonly HeadFault[];
}

/** Compares a store with a list. Throws a problem for a list that this deployment did not sign. */
export async function verifyHeads(
  store: StorageBackend,
  file: string,
  key: string,
): Promise<HeadsReport> {
  const signature = await checkHeads(readLines(file), key);
  if (!signature.ok) {
    throw new CliProblem(
      signature.why === 'form'
        ? `${file} is not a whole list of heads.`
        : `${file} was not signed by this deployment, or was changed since.`,
    );
  }
  const faults: HeadFault[] = [];
  for await (const fault of compareHeads(store, readLines(file))) faults.push(fault);
  return { at: signature.at, heads: signature.heads, faults };
}

/** The lines to print for a report. */
export function headsReportLines({ at, heads, faults }: HeadsReport): readonly string[] {
  const count = `${counted(heads, 'head')} of ${shownTime(at)} UTC`;
  if (faults.length === 0) return [`${count}: every one still stands.`];
  return [...faults.flatMap(faultTexts), `${count}: ${faults.length} broken.`];
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
