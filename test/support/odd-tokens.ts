/** Tokens that a server must not take, made with the key of its own data folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPair, importJWK, SignJWT, type JWK } from 'jose';

/** What is wrong with a token. */
export type Oddity = 'expired' | 'forged' | 'other audience' | 'other issuer';

/** Signs a token for Ana that is right but for one thing. */
export async function oddToken(folder: string, oddity: Oddity | 'nothing'): Promise<string> {
  const file = readFileSync(join(folder, 'dev-issuer.json'), 'utf8');
  const { id, key } = JSON.parse(file) as { id: string; key: JWK };
  const issuer = `urn:checkpoint:dev:${id}`;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const { privateKey } = await generateKeyPair('ES256');
  const signing = oddity === 'forged' ? privateKey : await importJWK(key, 'ES256');
  return new SignJWT({
    iss: oddity === 'other issuer' ? `${issuer}0` : issuer,
    aud: oddity === 'other audience' ? 'https://elsewhere.example.com/mcp' : issuer,
    sub: 'ana',
    tenant: 'local',
    scope: 'procedures:run',
    iat: nowSeconds - 7_200,
    exp: oddity === 'expired' ? nowSeconds - 3_600 : nowSeconds + 3_600,
  })
    .setProtectedHeader({ alg: 'ES256', kid: id, typ: 'at+jwt' })
    .sign(signing);
}
