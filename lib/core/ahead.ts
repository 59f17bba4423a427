// Whether a time that somebody wrote still holds. A clock that was ahead for a while writes times that no
// other clock reaches for days; they hold nothing up.

/** How far two clocks may be apart, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Whether `at` still has to come at `now`, where nobody sets it more than `mostMs` ahead; all in
 * milliseconds. One that is further away does not count: what relies on it has a fence of its own, a
 * revision or an epoch.
 */
export function isAhead(at: number, now: number, mostMs: number): boolean {
  return at > now && at <= now + mostMs + CLOCK_SKEW_MS;
}
