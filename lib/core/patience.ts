// How long a command goes on: nothing begins after its deadline, and tries are apart by full jitter.
import { Fault } from './fault.ts';
import type { Clock, Random } from './ports/runtime.ts';

/** Throws the retryable fault `DEADLINE_EXCEEDED` once `deadlineMs` (epoch milliseconds) has passed. */
export function inTime(clock: Clock, deadlineMs: number): void {
  if (clock.now() < deadlineMs) return;
  throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'the deadline of the command has passed');
}

/** Waits after the `n`th try, never beyond the deadline. */
export async function pauseAfter(
  n: number,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  deadlineMs: number,
): Promise<void> {
  const most = Math.min(10 * 2 ** n, 250, Math.max(0, deadlineMs - clock.now()));
  await clock.sleep(random.fraction() * most);
}
