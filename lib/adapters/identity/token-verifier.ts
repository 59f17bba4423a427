// Verifies bearer tokens: JSON Web Tokens of configured issuers (RFC 7519, RFC 9068).
// Does not parse the Authorization header, log, or pass a token on; keeps keys and no token.
// Invariants: algorithms come from the list below, never from the token; the issuer is chosen by its
// exact name before any key is looked at; whatever is wrong with a token is an answer, not a crash.
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import { isFault } from '../../core/fault.ts';
import { LIMITS } from '../../core/limits.ts';
import type { TokenFault, TokenVerifier, Verification } from '../../core/ports/identity.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { readClaims, refused, type Claims } from './claims.ts';
import { checkIssuers, type IssuerConfig } from './issuer-config.ts';
import { createKnownTokens, type KnownToken } from './known-tokens.ts';
import { remoteKeys } from './remote-keys.ts';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'];
/** How far two clocks may differ, in seconds. */
const LEEWAY_SECONDS = 30;

/** What a verifier is made of. */
export interface TokenVerifierParts {
  readonly issuers: readonly IssuerConfig[];
  readonly clock: Pick<Clock, 'now'>;
}

/** Builds a verifier. Throws a terminal fault `START_REFUSED` for issuers that cannot be told apart. */
export function createTokenVerifier({ issuers, clock }: TokenVerifierParts): TokenVerifier {
  checkIssuers(issuers);
  const known = new Map(
    issuers.map((config) => [config.issuer, { config, keys: keysOf(config, clock) }]),
  );

  const tokens = createKnownTokens(LIMITS.rememberedTokens.max, LEEWAY_SECONDS);

  const verify = async (token: string): Promise<Verification> => {
    const claimed = read(token);
    if (claimed === undefined) return refused('malformed');
    const entry = known.get(claimed.issuer as string);
    if (entry === undefined) return refused('issuer');
    if (!isAccessTokenType(claimed.type)) return refused('claims');
    try {
      const before = tokens.recall(token, Math.floor(clock.now() / 1000));
      if (before !== undefined && (await isStillItsKey(before, entry.keys))) {
        return before.verification;
      }
      const { payload, protectedHeader, key } = await jwtVerify(token, entry.keys, {
        algorithms: ALGORITHMS,
        issuer: entry.config.issuer,
        requiredClaims: ['exp'],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(clock.now()),
      });
      if (isFromTheFuture(payload, clock.now())) return refused('not_yet_valid');
      const verification = readClaims(payload, entry.config);
      if (verification.ok) {
        const { exp = 0, nbf = 0, iat = 0 } = payload;
        const times = { from: Math.max(nbf, iat), until: exp };
        tokens.remember(token, { header: protectedHeader, key, ...times, verification });
      }
      return verification;
    } catch (error) {
      if (isFault(error)) throw error;
      return refused(faultOf(error));
    }
  };
  return { verify };
}

function keysOf({ keys }: IssuerConfig, clock: Pick<Clock, 'now'>): JWTVerifyGetKey {
  return keys.kind === 'local' ? createLocalJWKSet(keys.jwks) : remoteKeys(keys.jwksUrl, clock);
}

/** Whether the issuer would still verify the token with the key it was verified with. */
async function isStillItsKey({ header, key }: KnownToken, keys: JWTVerifyGetKey): Promise<boolean> {
  return (await keys(header, { payload: '', signature: '' })) === key;
}

/** The parts of a token that may be read before its signature is checked. */
function read(token: string): { readonly issuer: unknown; readonly type: unknown } | undefined {
  if (token.length > LIMITS.tokenChars.max) return undefined;
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    return { issuer: decodeJwt(token).iss, type: decodeProtectedHeader(token).typ };
  } catch {
    return undefined;
  }
}

/** Media types are compared without case, and may leave out `application/` (RFC 7515, 4.1.9). */
function isAccessTokenType(type: unknown): boolean {
  return (
    type === undefined || (typeof type === 'string' && /^(application\/)?(at\+)?jwt$/i.test(type))
  );
}

function isFromTheFuture({ iat }: Claims, now: number): boolean {
  return typeof iat === 'number' && iat > Math.floor(now / 1000) + LEEWAY_SECONDS;
}

/** Everything that cannot be told apart is a signature that does not hold. */
function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' && error.reason === 'check_failed' ? 'not_yet_valid' : 'claims';
  }
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return 'malformed';
  return 'signature';
}
