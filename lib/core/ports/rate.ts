// The port behind the limit on how often somebody may call. One process keeps its own count; a
// backend that several processes share can take its place.

/** Counts calls. Must not fail: a limiter that cannot count lets a call pass. */
export interface RateLimiter {
  /** Takes one call of a caller; answers 0, or the milliseconds until the next one is free. */
  take(caller: string): Promise<number>;
}
