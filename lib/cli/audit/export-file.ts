// `checkpoint audit verify --file`: an export is verified without any database.
import { ExportVerifier, type ExportFault, type ExportReport } from '../../core/trail/export.ts';
import { chainText } from '../chain-words.ts';
import { readLines } from '../lines-file.ts';
import { counted } from '../text.ts';

/** Verifies an export. */
export async function verifyExport(file: string): Promise<ExportReport> {
  const verifier = new ExportVerifier();
  for await (const line of readLines(file)) verifier.add(line);
  return verifier.finish();
}

/** The lines to print for a report. */
export function exportReportLines(report: ExportReport): readonly string[] {
  const { trails, events, values, faults } = report;
  const count = `${counted(trails, 'trail')}, ${counted(events, 'event')}`;
  const apart =
    values === 0
      ? []
      : [
          `Not checked: ${counted(values, 'sensitive value')}; an export holds their commitments only.`,
        ];
  if (faults.length === 0) return [`${count}: every one verifies.`, ...apart];
  return [...faults.map(faultText), `${count}: ${counted(faults.length, 'fault')}.`, ...apart];
}

function faultText(fault: ExportFault): string {
  switch (fault.what) {
    case 'trail':
      return `tenant ${fault.tenant}, workflow ${fault.workflow}: ${chainText(fault.fault)}`;
    case 'no_head':
      return `tenant ${fault.tenant}, workflow ${fault.workflow}: its head is missing`;
    case 'line':
      return `line ${fault.line}: this is not a line of an export`;
    case 'order':
      return `line ${fault.line}: this line does not belong here`;
    case 'cut':
      return 'the last line is missing: the export was cut';
    case 'counts':
      return 'there are not as many trails and events as the last line says';
  }
}
