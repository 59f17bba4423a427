// `checkpoint audit verify`: walks every trail of the data folder and says which ones do not verify.
import { verifyAll, type ChainReport } from '../core/audit.ts';
import type { Settings } from '../settings.ts';
import { chainText } from './chain-words.ts';
import { existingDataFile, writing } from './data-folder.ts';
import { CliProblem } from './failure.ts';
import { counted } from './text.ts';

/** The result of a verification. */
export interface AuditResult {
  readonly trails: number;
  readonly events: number;
  /** Sensitive values that are kept and were held against their commitments. */
  readonly values: number;
  readonly broken: readonly ChainReport[];
}

/** Verifies every trail, or the ones of one tenant or one workflow. */
export async function verifyAudit(
  settings: Settings,
  only: { readonly tenant?: string; readonly workflow?: string } = {},
): Promise<AuditResult> {
  const file = existingDataFile(settings);
  return writing(settings, async (store) => {
    const broken: ChainReport[] = [];
    let trails = 0;
    let events = 0;
    let values = 0;
    for await (const report of verifyAll(store)) {
      if (only.tenant !== undefined && report.tenant !== only.tenant) continue;
      if (only.workflow !== undefined && report.workflow !== only.workflow) continue;
      trails++;
      events += report.events;
      values += report.values;
      if (report.faults.length > 0) broken.push(report);
    }
    // A name that nobody has must not look like a trail that verifies.
    if (trails === 0 && (only.tenant !== undefined || only.workflow !== undefined)) {
      const what = [
        only.workflow === undefined ? 'trail' : `workflow ${only.workflow}`,
        ...(only.tenant === undefined ? [] : [`of tenant ${only.tenant}`]),
      ].join(' ');
      throw new CliProblem(`There is no ${what} in ${file}.`);
    }
    return { trails, events, values, broken };
  });
}

/** The lines to print for a result. */
export function auditLines({ trails, events, values, broken }: AuditResult): readonly string[] {
  const beside = values === 0 ? '' : `, ${counted(values, 'sensitive value')}`;
  const count = `${counted(trails, 'trail')}, ${counted(events, 'event')}${beside}`;
  if (broken.length === 0) return [`${count}: every one verifies.`];
  return [
    ...broken.flatMap(({ tenant, workflow, faults }) =>
      faults.map((fault) => `tenant ${tenant}, workflow ${workflow}: ${chainText(fault)}`),
    ),
    `${count}: ${broken.length} broken.`,
  ];
}
