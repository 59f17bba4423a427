// The development issuer: signs tokens for whatever server runs on the same data folder.
// The tokens take the same way through the verifier as any other; nothing is switched off for them.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';
import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { parseJson } from '../../core/json.ts';
import type { PrincipalKind, Scope } from '../../core/model/principal.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { readClaims, type Claims } from './claims.ts';
import { readOrCreate } from './create-once.ts';
import type { IssuerConfig } from './issuer-config.ts';

const ALGORITHM = 'ES256';
const TWELVE_HOURS_IN_SECONDS = 43_200;

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const fileSchema = z.strictObject({
  format: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  key: z.strictObject({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: coordinate,
    y: coordinate,
    d: coordinate,
  }),
});

/** Who a development token is for. */
export interface DevToken {
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** `person` where left out; a service also gets the scope `mcp:service`. */
  readonly kind?: PrincipalKind;
  /** `local` where left out. */
  readonly tenant?: string;
  readonly name?: string;
  /** Twelve hours where left out. */
  readonly expiresInSeconds?: number;
}

/** The issuer of one data folder. */
export interface DevIssuer {
  /** Signs a token. Throws a terminal fault for one that the verifier would refuse. */
  sign(token: DevToken): Promise<string>;
  /** What a verifier has to know to accept the tokens. */
  issuerConfig(): IssuerConfig;
}

/**
 * Opens the issuer of a data folder; its key is created on first use. Throws a terminal fault
 * `START_REFUSED` when `dev-issuer.json` there cannot be used.
 */
export async function openDevIssuer(
  dataFolder: string,
  clock: Pick<Clock, 'now'> = { now: () => Date.now() },
): Promise<DevIssuer> {
  const path = join(dataFolder, 'dev-issuer.json');
  const { id, key } = parse(path, await readOrCreate(path, newFile));
  const { d: _secret, ...publicKey } = key;
  const issuer = `urn:checkpoint:dev:${id}`;
  const config: IssuerConfig = {
    alias: 'dev',
    issuer,
    audience: issuer,
    tenants: 'any',
    tenantClaim: 'tenant',
    keys: {
      kind: 'local',
      jwks: { keys: [{ ...publicKey, kid: id, alg: ALGORITHM, use: 'sig' }] },
    },
  };
  const signingKey = await importJWK(key, ALGORITHM).catch((cause: unknown) => {
    throw unusable(path, cause);
  });

  const sign = async (token: DevToken): Promise<string> => {
    const claims = claimsOf(token, issuer, Math.floor(clock.now() / 1000));
    const read = readClaims(claims, config);
    const kind = token.kind ?? 'person';
    if (!read.ok) throw refusedToken(`no verifier takes it, because of its ${read.fault}`);
    if (read.principal.kind !== kind) throw refusedToken('mcp:service is for a service only');
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: id, typ: 'at+jwt' })
      .sign(signingKey);
  };
  return { sign, issuerConfig: () => config };
}

function claimsOf(token: DevToken, issuer: string, nowSeconds: number): Claims {
  const { subject, kind = 'person', tenant = 'local', name } = token;
  const scopes = kind === 'service' ? [...token.scopes, 'mcp:service'] : token.scopes;
  return {
    iss: issuer,
    aud: issuer,
    sub: subject,
    tenant,
    scope: [...new Set(scopes)].join(' '),
    iat: nowSeconds,
    exp: nowSeconds + (token.expiresInSeconds ?? TWELVE_HOURS_IN_SECONDS),
    ...(name !== undefined && { name }),
    ...(kind === 'agent' && { act: { sub: 'development-agent' } }),
    ...(kind === 'service' && { client_id: subject, grant_type: 'client_credentials' }),
  };
}

async function newFile(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const { kty, crv, x, y, d } = await exportJWK(privateKey);
  const id = randomBytes(16).toString('hex');
  return `${JSON.stringify({ format: 1, id, key: { kty, crv, x, y, d } }, null, 2)}\n`;
}

function parse(path: string, text: string): { readonly id: string; readonly key: JWK } {
  try {
    return fileSchema.parse(parseJson(text));
  } catch {
    // What was wrong could quote the private key, so it is not passed on.
    throw unusable(path);
  }
}

function unusable(path: string, cause?: unknown): Fault {
  const what = 'is not a development issuer; delete it to make a new one and sign tokens again';
  return new Fault('terminal', 'START_REFUSED', `${path} ${what}`, { cause });
}

function refusedToken(why: string): Fault {
  return new Fault('terminal', 'START_REFUSED', `this token cannot be signed: ${why}`);
}
