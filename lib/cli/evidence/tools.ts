// What `checkpoint tools` shows. Every text of a server goes through the one display function.
import { display, displayFields, visibleJson } from '../../core/display.ts';
import { reportTools, type ToolReport } from '../../core/evidence/report.ts';
import { REASON_WORDS, vetTools, type AllowedTool } from '../../core/evidence/vet.ts';
import { LIMITS } from '../../core/limits.ts';
import type { Settings } from '../../settings.ts';
import { openEvidence } from '../../wiring/evidence.ts';
import { CliProblem } from '../failure.ts';
import { aligned, wrapped } from '../text.ts';

/** Asks every configured server once. */
export async function askTools(settings: Settings): Promise<ToolReport> {
  const { source, allowlist } = openEvidence(settings);
  try {
    return await reportTools(source, allowlist, Date.now() + settings.evidenceTimeoutMs);
  } finally {
    await source.close();
  }
}

/** Whether whatever is on the allowlist can be called. */
export function isSound(
  { tools, missing, problems }: ToolReport,
  allowlist: readonly AllowedTool[],
): boolean {
  const refused = tools.some(
    (tool) =>
      !tool.allowed &&
      allowlist.some(({ server, name }) => server === tool.server && name === tool.name),
  );
  return !refused && missing.length === 0 && problems.length === 0;
}

/** The tools as a table, and below it what is missing. */
export function toolLines({ tools, missing, problems }: ToolReport): readonly string[] {
  const rows = tools.map(({ server, name, allowed, pinned: isPinned, reason }) => [
    server,
    display(name, 40).text,
    allowed ? 'yes' : 'no',
    isPinned ? 'yes' : 'no',
    reason === null ? '' : REASON_WORDS[reason],
  ]);
  const table = aligned([['SERVER', 'TOOL', 'ALLOWED', 'PINNED', 'WHY NOT'], ...rows], {
    indent: 0,
  });
  return [
    ...table,
    ...missing.flatMap(({ server, name }) =>
      wrapped(`${server} does not offer ${name}, which is on the allowlist.`),
    ),
    ...problems.flatMap(({ server, message, lastWords }) => [
      ...wrapped(`${server} gives no list: ${message}.`),
      ...(lastWords === undefined
        ? []
        : wrapped(`It last wrote: ${display(lastWords, LIMITS.evidenceNoteBytes.max).text}`, 2)),
    ]),
  ];
}

/** The tools with all that is known, one JSON object a line. */
export function jsonLines({ tools, missing, problems }: ToolReport): readonly string[] {
  const unmet = missing.map((tool) => ({ ...tool, offered: false }));
  const silent = problems.map(({ server, code, message }) => ({ server, code, message }));
  return [...tools, ...unmet, ...silent].map((row) => visibleJson(JSON.stringify(row)));
}

/** What a person looks at before a pin: the description and the schema of every tool. */
export function definitionLines({ offered, tools }: ToolReport): readonly string[] {
  return offered.flatMap(({ server, name, description = '', inputSchema }, i) => [
    '',
    ...wrapped(`${server}/${display(name, 128).text}`),
    ...wrapped(`pin  ${tools[i]?.definition ?? 'none'}`, 2),
    ...wrapped(display(description, 2_000).text, 2),
    ...displayFields(inputSchema).flatMap(({ path, text }) => wrapped(`${path} ${text}`, 2)),
  ]);
}

/**
 * The text for the setting of the allowlist: what is on it and the tools that are named, each with the pin
 * of its definition now where it is offered. Throws a problem for a named tool that cannot be pinned.
 */
export function pinned(
  { offered, tools }: ToolReport,
  allowlist: readonly AllowedTool[],
  named: readonly string[],
): string {
  const pins = new Map(
    tools.map(({ server, name, definition }) => [`${server}/${name}`, definition]),
  );
  const wanted = new Map(allowlist.map(({ server, name, pin }) => [`${server}/${name}`, pin]));
  // Without names everything that is on the list is pinned again; with names nothing else changes.
  for (const name of named.length === 0 ? [...wanted.keys()] : named) {
    wanted.set(name, pins.get(name) ?? wanted.get(name));
  }
  const entries = [...wanted].map(([key, pin]) => {
    const [server = '', name = ''] = key.split('/');
    return { server, name, pin };
  });
  const verdicts = vetTools(offered, entries);
  for (const name of named) {
    const verdict = verdicts.find((tool) => `${tool.server}/${tool.name}` === name);
    const shown = display(name).text;
    if (verdict === undefined) {
      throw new CliProblem(
        `${shown} is not offered; checkpoint tools lists what is, as SERVER/TOOL.`,
      );
    }
    if (verdict.reason !== null) {
      throw new CliProblem(`${shown} cannot be allowed: ${REASON_WORDS[verdict.reason]}.`);
    }
  }
  const list = entries.map(({ server, name, pin }) => ({ server, tool: name, pin }));
  return visibleJson(JSON.stringify(list));
}
