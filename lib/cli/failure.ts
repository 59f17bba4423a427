// How a command of the CLI says that it cannot go on: one sentence on standard error, exit code 1.
import { isFault } from '../core/fault.ts';
import { SettingsError } from '../settings.ts';

/** A problem that the person at the terminal can act on. */
export class CliProblem extends Error {
  override readonly name = 'CliProblem';
}

/** The text for a person, without a stack, or undefined for a programmer error. */
export function problemText(error: unknown): string | undefined {
  if (error instanceof CliProblem || error instanceof SettingsError) return error.message;
  if (isFault(error)) return error.message;
  return undefined;
}
