// What a topic answers, and how it is printed: as a Markdown table that can go into a document as it is.

/** A number that was promised, and whether it was kept in this run. */
export interface Target {
  readonly name: string;
  readonly measured: string;
  readonly target: string;
  readonly met: boolean;
}

/** The result of one topic. The first column is text, the others are numbers with their units. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly targets: readonly Target[];
}

/** Size of a run: `quick` looks whether everything works and roughly how fast, `full` is quoted. */
export type Size = 'quick' | 'full';

/** A topic measures and answers its table; `note` tells a person what is going on meanwhile. */
export type Topic = (size: Size, note: (text: string) => void) => Promise<Table>;

/** One table as Markdown. */
export function tableText({ title, head, rows }: Table): string {
  return [`### ${title}`, '', ...grid(head, rows)].join('\n');
}

/** All targets as Markdown. */
export function targetsText(targets: readonly Target[]): string {
  const rows = targets.map(({ name, measured, target, met }) => [
    name,
    measured,
    target,
    met ? 'yes' : 'no',
  ]);
  return ['### Targets', '', ...grid(['target', 'measured', 'wanted', 'met'], rows)].join('\n');
}

function grid(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((name, i) =>
    Math.max(name.length, 3, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = widths.map((width, i) =>
      i === 0 ? (cells[i] ?? '').padEnd(width) : (cells[i] ?? '').padStart(width),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)];
}
