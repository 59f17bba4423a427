// The start of a function, whose failures are told in its log and counted.
import type { Observers } from './observers.ts';
import { startOnce, type Started } from './start-once.ts';

/** Answers what `open` gave, or undefined while it cannot start. */
export function toldStart<T>(
  { log, count }: Pick<Observers, 'log' | 'count'>,
  open: () => Promise<T>,
): Started<T> {
  return startOnce(open, (error) => {
    // Nobody has said anything yet, so the message can hold nothing that a person said.
    const why = error instanceof Error ? error.message : String(error);
    log({ level: 'error', msg: 'the function cannot start', why, err: error });
    count('failedStarts');
  });
}
