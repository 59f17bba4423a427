// From an `Authorization` header to a principal: the one bearer parser, and the shape of a 401.
// Keeps no token: what goes on from here is the principal.
import { isFault } from '../core/fault.ts';
import { LIMITS } from '../core/limits.ts';
import type { Principal } from '../core/model/principal.ts';
import type { TokenFault, TokenVerifier } from '../core/ports/identity.ts';
import { CHALLENGE_SCOPE } from './discovery.ts';
import { isMcpPath, problem } from './reply.ts';
import { UNAVAILABLE } from './speech.ts';

/** Who is calling, or why nobody was recognised; the reason is for logs only. */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: TokenFault | 'absent' | 'unreadable' | 'unavailable' };

/** Which shape a 401 has: `alexa` without a challenge header, `standard` with it. */
export type AuthProfile = 'alexa' | 'standard';

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/iu;
const SCHEME_CHARS = 'Bearer '.length;

/**
 * Reads the one bearer token of a header value; the scheme's case and the number of spaces do not
 * matter. Two tokens, an empty one and one beyond the limit are refused. Source: RFC 6750.
 */
export function bearerToken(header: string): string | undefined {
  if (header.length > LIMITS.tokenChars.max + SCHEME_CHARS) return undefined;
  return BEARER.exec(header)?.[1];
}

/** Authenticates one request by its header value, which is undefined where there is none. */
export async function authenticate(
  verifier: TokenVerifier,
  header: string | undefined,
  via: Principal['via'],
): Promise<Authentication> {
  if (header === undefined) return { ok: false, reason: 'absent' };
  const token = bearerToken(header);
  if (token === undefined) return { ok: false, reason: 'unreadable' };
  try {
    const verified = await verifier.verify(token);
    if (!verified.ok) return { ok: false, reason: verified.fault };
    return { ok: true, principal: { ...verified.principal, via } };
  } catch (error) {
    if (!isFault(error)) throw error;
    return { ok: false, reason: 'unavailable' };
  }
}

/**
 * The answer to a request without a valid token: 401, or 503 while keys cannot be read. In the words
 * of the platform on the MCP endpoint, as problem details elsewhere.
 */
export function unauthenticated(
  reason: Extract<Authentication, { ok: false }>['reason'],
  profile: AuthProfile,
  metadataUrl: string,
  path: string,
): Response {
  const challenge = `Bearer resource_metadata="${metadataUrl}", scope="${CHALLENGE_SCOPE}"`;
  const headers = {
    'cache-control': 'no-store',
    ...(profile === 'standard' && { 'www-authenticate': challenge }),
  };
  if (!isMcpPath(path)) {
    if (reason !== 'unavailable') {
      return problem(401, 'UNAUTHORIZED', 'a valid access token is needed', { headers });
    }
    return problem(503, 'BACKEND_UNAVAILABLE', 'tokens cannot be checked now', {
      headers: { 'retry-after': '1' },
    });
  }
  if (reason === 'unavailable') {
    const body = { error: 'unavailable', message: UNAVAILABLE, retryable: true };
    return Response.json(body, {
      status: 503,
      headers: { 'retry-after': '1', 'cache-control': 'no-store' },
    });
  }
  return Response.json(
    { error: 'unauthorized', message: 'Access token required to use this tool.' },
    { status: 401, headers },
  );
}
