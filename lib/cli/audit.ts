// `checkpoint audit verify`: walks every trail of the data folder and says which ones do not verify.
import { existsSync } from 'node:fs';
import { verifyAll, type ChainReport } from '../core/audit.ts';
import type { Settings } from '../settings.ts';
import { dataFile, openStore } from '../wiring/local.ts';
import { chainText } from './chain-words.ts';
import { CliProblem } from './failure.ts';

/** The result of a verification. */
export interface AuditResult {
  readonly trails: number;
  readonly events: number;
  readonly broken: readonly ChainReport[];
}

/** Verifies every trail, or the ones of one tenant or one workflow. */
export async function verifyAudit(
  settings: Settings,
  only: { readonly tenant?: string; readonly workflow?: string } = {},
): Promise<AuditResult> {
  const file = dataFile(settings.dataFolder);
  if (!existsSync(file)) throw new CliProblem(`There is no data file ${file}: check --data.`);
  const store = await openStore(settings);
  try {
    const broken: ChainReport[] = [];
    let trails = 0;
    let events = 0;
    for await (const report of verifyAll(store)) {
      if (only.tenant !== undefined && report.tenant !== only.tenant) continue;
      if (only.workflow !== undefined && report.workflow !== only.workflow) continue;
      trails++;
      events += report.events;
      if (report.fault !== undefined) broken.push(report);
    }
    // A name that nobody has must not look like a trail that verifies.
    if (trails === 0 && (only.tenant !== undefined || only.workflow !== undefined)) {
      const what = [
        only.workflow === undefined ? 'trail' : `workflow ${only.workflow}`,
        ...(only.tenant === undefined ? [] : [`of tenant ${only.tenant}`]),
      ].join(' ');
      throw new CliProblem(`There is no ${what} in ${file}.`);
    }
    return { trails, events, broken };
  } finally {
    await store.close();
  }
}

/** The lines to print for a result. */
export function auditLines({ trails, events, broken }: AuditResult): readonly string[] {
  const count = `${trails} ${trails === 1 ? 'trail' : 'trails'}, ${events} events`;
  if (broken.length === 0) return [`${count}: every one verifies.`];
  return [
    ...broken.map(
      ({ tenant, workflow, fault }) =>
        `tenant ${tenant}, workflow ${workflow}: ${chainText(fault ?? { seq: 0, what: 'head' })}`,
    ),
    `${count}: ${broken.length} broken.`,
  ];
}
