/**
 * Reads the settings of a process: text in, typed values out, all faults together. It reads only the
 * environment it is given and no file; the settings themselves are in `lib/settings/table.ts`.
 */
import { nearestName } from './settings/nearest-name.ts';
import type { Setting, SettingValue } from './settings/setting.ts';
import { settingsTable } from './settings/table.ts';

type SettingsTable = typeof settingsTable;

/** The settings, typed. A setting without value and without default is `undefined`. */
export type Settings = {
  readonly [Name in keyof SettingsTable]: SettingValue<SettingsTable[Name]>;
};

/** The environment as a process has it; an empty text counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One thing wrong with the environment. */
export interface SettingsFault {
  /** Name of the environment variable. */
  readonly name: string;
  /** What was expected of it; never what it held. */
  readonly problem: string;
}

/** Thrown by `readSettings`: carries every fault of the environment, and no value from it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly faults: readonly SettingsFault[];

  constructor(faults: readonly SettingsFault[]) {
    const lines = faults.map((fault) => `  ${fault.name}: ${fault.problem}`);
    super(['These settings cannot be used:', ...lines].join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads and checks every setting.
 *
 * @param environment usually `process.env`, handed in by the entry file
 * @returns the typed settings, defaults filled in
 * @throws {SettingsError} naming every fault at once: values that do not fit, and `CHECKPOINT_…`
 *   names that no setting has
 */
export function readSettings(environment: Environment): Settings {
  const faults: SettingsFault[] = unknownNames(environment);
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<Setting>(settingsTable)) {
    const text = environment[row.env] || row.default;
    if (text === undefined) {
      values[name] = undefined;
      continue;
    }
    const parsed = row.type.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else faults.push({ name: row.env, problem: describe(row, parsed.error.issues) });
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return values as Settings;
}

function unknownNames(environment: Environment): SettingsFault[] {
  const known = Object.values<Setting>(settingsTable).map((row) => row.env);
  return Object.keys(environment)
    .filter((name) => name.startsWith('CHECKPOINT_') && environment[name] && !known.includes(name))
    .toSorted()
    .map((name) => {
      const nearest = nearestName(name, known);
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return { name, problem: `no setting has this name${hint}` };
    });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function describe(row: Setting, issues: readonly Issue[]): string {
  // An issue with a path says which part of a list or of JSON is wrong; one without repeats `expected`.
  const details = issues
    .filter((issue) => issue.path.length > 0)
    .map((issue) => `${issue.path.map((part) => `/${String(part)}`).join('')} ${issue.message}`);
  return [`expected ${row.expected}`, ...details].join('; ');
}
