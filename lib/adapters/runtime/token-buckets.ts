// A token bucket for each caller in the memory of this process: a minute's calls may come at once,
// and come back evenly.
import { LIMITS } from '../../core/limits.ts';
import type { RateLimiter } from '../../core/ports/rate.ts';
import type { Clock } from '../../core/ports/runtime.ts';

/** Milliseconds of a minute that are still to be spent; every call costs its share. */
interface Bucket {
  creditMs: number;
  at: number;
}

/** Builds a limiter of `perMinute` calls. A caller who is forgotten starts with a full bucket. */
export function createTokenBuckets(
  perMinute: number,
  clock: Pick<Clock, 'now'>,
  size: number = LIMITS.ratedCallers.max,
): RateLimiter {
  const costMs = 60_000 / perMinute;
  const buckets = new Map<string, Bucket>();
  return {
    take: (caller) => {
      const now = clock.now();
      const bucket = buckets.get(caller) ?? { creditMs: 60_000, at: now };
      // A clock that is set back gives nothing and takes nothing.
      const passed = Math.max(0, now - bucket.at);
      bucket.creditMs = Math.min(60_000, bucket.creditMs + passed);
      bucket.at = now;
      // The least recently seen caller is forgotten first.
      buckets.delete(caller);
      buckets.set(caller, bucket);
      const oldest = buckets.keys().next();
      if (buckets.size > size && oldest.done !== true) buckets.delete(oldest.value);
      if (bucket.creditMs < costMs) return Promise.resolve(Math.ceil(costMs - bucket.creditMs));
      bucket.creditMs -= costMs;
      return Promise.resolve(0);
    },
  };
}
