// How long a caller waits for an answer that takes time: `Prefer: wait=N`, bounded. Source: RFC 7240.
import { LIMITS } from '../../core/limits.ts';
import type { Clock } from '../../core/ports/runtime.ts';

/** What is waited without a preference, in seconds. */
const DEFAULT_SECONDS = 10;
/** The first pause between two looks and the longest one, in milliseconds. */
const PAUSE_MS = { first: 50, most: 1_000 } as const;

/**
 * The seconds of a `Prefer` header, at most those of the limits table; undefined where it asks for none,
 * or not in whole seconds: a preference that cannot be read is passed over.
 */
export function preferredSeconds(header: string | undefined): number | undefined {
  const given = (header ?? '')
    .split(',')
    .map((part) => /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(part)?.[1])
    .find((seconds) => seconds !== undefined);
  return given === undefined ? undefined : Math.min(Number(given), LIMITS.runWaitSeconds.max);
}

/** The milliseconds to wait, none of them beyond what the host waits. */
export function waitMs(seconds: number = DEFAULT_SECONDS, hostLeftMs = Infinity): number {
  return Math.max(0, Math.min(seconds * 1_000, hostLeftMs));
}

/**
 * Looks until `done` says so or the time is over, with growing pauses; answers what was seen last. The
 * first look is at once, so a wait of nothing looks exactly once.
 */
export async function lookUntil<T>(
  look: () => Promise<T>,
  done: (seen: T) => boolean,
  clock: Clock,
  until: number,
  gone: AbortSignal,
): Promise<T> {
  for (let pause: number = PAUSE_MS.first; ; pause = Math.min(pause * 2, PAUSE_MS.most)) {
    const seen = await look();
    const left = until - clock.now();
    if (done(seen) || left <= 0 || gone.aborted) return seen;
    await clock.sleep(Math.min(pause, left));
  }
}
