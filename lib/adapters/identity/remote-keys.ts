// An issuer's keys behind a URL. Answers keys; does not verify anything.
// Invariants: unknown keys cause at most one fetch per cooldown, the first of them at once; keys once
// known stay usable while the endpoint is down; a key that nobody could look up is a retryable fault,
// not a bad token.
import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { Fault } from '../../core/fault.ts';
import type { Clock } from '../../core/ports/runtime.ts';

const COOLDOWN_MS = 30_000;
/** After a failed fetch; shorter, because no key can be withdrawn or learnt until one succeeds. */
const RETRY_MS = 5_000;
const MAX_AGE_MS = 600_000;
/** Well below the time a caller waits for an answer. */
const FETCH_TIMEOUT_MS = 1_500;

/** Keys of a remote key set (RFC 7517). Throws a retryable `Fault` when they cannot be read. */
export function remoteKeys(jwksUrl: string, clock: Pick<Clock, 'now'>): JWTVerifyGetKey {
  // The library never fetches by itself here: its own cooldown does not hold after a failed fetch,
  // and its maximum age turns known keys away while the endpoint is down.
  const set = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: Number.POSITIVE_INFINITY,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  let loadedAt: number | undefined;
  let missedAt: number | undefined;
  let failure: { readonly at: number; readonly cause: unknown } | undefined;
  let pending: Promise<void> | undefined;

  const load = async (missed: boolean): Promise<void> => {
    const at = clock.now();
    try {
      await set.reload();
      loadedAt = at;
      if (missed) missedAt = at;
      failure = undefined;
    } catch (cause) {
      failure = { at, cause };
    } finally {
      pending = undefined;
    }
  };

  /** Fetches, or joins the fetch that is under way; answers whether there was one. */
  const fetched = async (missed: boolean): Promise<boolean> => {
    if (pending === undefined && within(RETRY_MS, failure?.at)) return false;
    pending ??= load(missed);
    await pending;
    return true;
  };

  const within = (ms: number, since: number | undefined): boolean =>
    since !== undefined && clock.now() - since < ms;

  const unavailable = (): Fault =>
    new Fault('retryable', 'BACKEND_UNAVAILABLE', `the keys at ${jwksUrl} cannot be read`, {
      cause: failure?.cause,
    });

  return async (header, token) => {
    const fresh = !within(MAX_AGE_MS, loadedAt) && (await fetched(false));
    if (loadedAt === undefined) throw unavailable();
    try {
      return await set(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    if (!fresh && !within(COOLDOWN_MS, missedAt)) await fetched(true);
    // A failed fetch leaves open whether the issuer has this key.
    if (failure !== undefined) throw unavailable();
    return set(header, token);
  };
}
