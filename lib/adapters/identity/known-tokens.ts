// Remembers which tokens were accepted, so that the same token again costs a look-up of its key instead
// of a signature check. Keeps no token: a hash of it, what it was answered, and its times.
// Invariant: what is remembered only ever accepts, and only under the very key that verified it, so a
// key that was withdrawn and a token that has ended are refused as if nothing were remembered.
import { hash } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import type { Verification } from '../../core/ports/identity.ts';

type Header = Parameters<JWTVerifyGetKey>[0];
type Key = Awaited<ReturnType<JWTVerifyGetKey>>;

/** A token that was accepted. */
export interface KnownToken {
  readonly header: Header;
  readonly key: Key;
  /** Epoch seconds from which and until which it is valid. */
  readonly from: number;
  readonly until: number;
  readonly verification: Verification;
}

/** A bounded memory of accepted tokens; the one that was added first is forgotten first. */
export interface KnownTokens {
  /** What is known of a token whose times still hold at `nowSeconds`, within the leeway. */
  recall(token: string, nowSeconds: number): KnownToken | undefined;
  remember(token: string, known: KnownToken): void;
}

/** Builds a memory of at most `size` tokens. */
export function createKnownTokens(size: number, leewaySeconds: number): KnownTokens {
  const tokens = new Map<string, KnownToken>();
  const nameOf = (token: string): string => hash('sha256', token, 'base64url');
  return {
    recall: (token, nowSeconds) => {
      const known = tokens.get(nameOf(token));
      if (known === undefined || known.from > nowSeconds + leewaySeconds) return undefined;
      return known.until > nowSeconds - leewaySeconds ? known : undefined;
    },
    remember: (token, known) => {
      tokens.set(nameOf(token), known);
      const [oldest] = tokens.keys();
      if (tokens.size > size && oldest !== undefined) tokens.delete(oldest);
    },
  };
}
