// `checkpoint policy new`: a complete procedure to start from. It never overwrites a file.
import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { LIMITS } from '../../core/limits.ts';
import { ID, type ProcedureInput } from '../../core/model/procedure.ts';
import { CliProblem } from '../failure.ts';
import { packageFolder } from '../../wiring/package-folder.ts';

const SCHEMA = join(packageFolder(), 'docs/procedure.schema.json');

/** Writes `ID.json` into a folder and answers its path. */
export async function newPolicy(
  id: string,
  folder: string,
  title: string = id.replace(/[-_]+/g, ' '),
): Promise<string> {
  if (!ID.test(id)) {
    throw new CliProblem(
      `ID: expected lower-case letters, digits, - or _, starting with a letter, at most ${LIMITS.idChars.max}.`,
    );
  }
  const { max } = LIMITS.titleChars;
  if (title.trim() === '' || title.trim().length > max) {
    throw new CliProblem(`--title: expected 1 to ${max} characters.`);
  }
  const file = join(folder, `${id}.json`);
  const schema = relative(dirname(resolve(file)), SCHEMA)
    .split(sep)
    .join('/');
  const text = `${JSON.stringify(startingPoint(id, title.trim(), schema), null, 2)}\n`;
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CliProblem(`${file} exists already: it was left as it is.`);
    if (code === 'ENOENT') throw new CliProblem(`There is no folder ${folder}.`);
    throw new CliProblem(`${file} cannot be written (${code ?? 'unknown reason'}).`);
  }
  return file;
}

/** One step of every kind and one rule, so that whatever is needed is there to be copied. */
function startingPoint(id: string, title: string, schema: string): ProcedureInput {
  const reading = {
    kind: 'reading' as const,
    unit: { symbol: 'bar', spoken: 'bar', aliases: ['bars'] },
    decimals: 1,
    bounds: { min: 0, max: 16 },
  };
  return {
    $schema: schema,
    id,
    version: 1,
    title,
    description: 'What this procedure is for, in one sentence.',
    asset: { type: 'machine', pattern: 'MACHINE-[0-9]{2}', example: 'MACHINE-01' },
    steps: [
      {
        id: 'safe_to_start',
        kind: 'confirm',
        title: 'safe to start',
        instruction: 'Confirm that it is safe to start.',
        on_deviation: 'block',
      },
      {
        ...reading,
        id: 'inlet_pressure',
        title: 'inlet pressure',
        instruction: 'Read the pressure at the inlet.',
        requires: ['safe_to_start'],
        warning: { min: 1, max: 10 },
        expected: { min: 2, max: 6 },
        on_deviation: 'retake',
      },
      {
        ...reading,
        id: 'outlet_pressure',
        title: 'outlet pressure',
        instruction: 'Read the pressure at the outlet.',
        requires: ['safe_to_start'],
        warning: { min: 2, max: 14 },
        expected: { min: 4, max: 10 },
        on_deviation: 'retake',
      },
      {
        id: 'noise',
        kind: 'choice',
        title: 'noise',
        instruction: 'Listen, and say how it sounds.',
        options: [
          { id: 'quiet', title: 'quiet' },
          { id: 'loud', title: 'loud', deviates: true },
        ],
        on_deviation: 'record_and_notify',
      },
      {
        id: 'remarks',
        kind: 'text',
        title: 'remarks',
        instruction: 'Say anything that the next person should know.',
        optional: true,
        max_chars: 500,
        sensitive: true,
      },
      {
        id: 'left_safe',
        kind: 'confirm',
        title: 'left safe',
        instruction: 'Confirm that it is left safe. A second person checks it.',
        second_person: true,
        on_deviation: 'retake',
      },
    ],
    rules: [
      {
        id: 'outlet_above_inlet',
        kind: 'greater_than',
        step: 'outlet_pressure',
        than: 'inlet_pressure',
        margin: 0.5,
        message: 'the outlet pressure is not above the inlet pressure',
        on_deviation: 'block',
      },
    ],
    escalation: [
      { on: 'warning', notify: 'supervisor' },
      { on: 'deviation', notify: 'supervisor' },
      { on: 'block', notify: 'supervisor' },
    ],
  };
}
