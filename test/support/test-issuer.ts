import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWK } from 'jose';

/** 2026-01-01T00:00:00Z in epoch seconds; the clock of the identity tests stands there. */
export const NOW_SECONDS = 1_767_225_600;

/** A key pair of an issuer, its public half as a JWK and as PEM text. */
export interface TestKey {
  readonly jwk: JWK;
  readonly pem: string;
  /** Signs claims; `null` leaves a claim of the defaults out. */
  sign(claims: object, header?: object): Promise<string>;
}

/** Makes a key. Claims are completed to a valid access token of `https://id.example.com`. */
export async function testKey(kid: string, alg = 'RS256', use = 'sig'): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, use };
  const sign = async (claims: object, header: object = {}): Promise<string> => {
    const all = { ...goodClaims, ...claims };
    const kept = Object.entries(all).filter(([, value]) => value !== null);
    return new SignJWT(Object.fromEntries(kept))
      .setProtectedHeader({ alg, kid, ...header })
      .sign(privateKey);
  };
  return { jwk, pem: await exportSPKI(publicKey), sign };
}

/** The claims of a token that is accepted. */
export const goodClaims = {
  iss: 'https://id.example.com',
  aud: 'https://checkpoint.example.com/mcp',
  sub: 'ana',
  tenant: 'plant-7',
  scope: 'procedures:run',
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 600,
};

/** A token of given header and claims, with any text as its signature. */
export function rawToken(header: object, claims: object, signature: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(claims)}.${signature}`;
}

/** A key set served over HTTP, counting requests. */
export interface KeyServer {
  readonly url: string;
  keys: JWK[];
  /** Answers 503 while true. */
  down: boolean;
  hits: number;
  close(): Promise<void>;
}

/** Starts a key server on a free port. */
export async function keyServer(): Promise<KeyServer> {
  const server = createServer((_request, response) => {
    state.hits++;
    response.writeHead(state.down ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: state.keys }));
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  const state: KeyServer = {
    url: `http://127.0.0.1:${port}/jwks`,
    keys: [],
    down: false,
    hits: 0,
    close: () =>
      new Promise((done) => {
        server.close(() => {
          done();
        });
        server.closeAllConnections();
      }),
  };
  return state;
}
