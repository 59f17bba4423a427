// An error as a log line may tell it: what it was and where, never what it said.
import { isFault } from './fault.ts';

/** An error without the values that its message, or that of its cause, may quote. */
export interface ToldError {
  readonly type: string;
  /** Of our own faults only: other messages may hold what a person said. */
  readonly message?: string;
  /** The places alone, one a line. */
  readonly stack: string;
  readonly cause?: ToldError;
}

/** Tells an error, and what lies under it. */
export function toldError(error: unknown): ToldError {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' };
  return {
    type: error.name,
    ...(isFault(error) && { message: error.message }),
    stack: placesOf(error.stack),
    ...(error.cause instanceof Error && { cause: toldError(error.cause) }),
  };
}

function placesOf(stack: string | undefined): string {
  return (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
