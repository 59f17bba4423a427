// The development issuer: signs tokens for whatever server runs on the same data folder.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { parseJson } from '../../core/json.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { readOrCreate } from './create-once.ts';
import { createOwnIssuer, OWN_ALGORITHM, type OwnIssuer, type OwnKey } from './own-issuer.ts';

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

/**
 * Opens the issuer of a data folder; its key is created on first use. Throws a terminal fault
 * `START_REFUSED` when `dev-issuer.json` there cannot be used.
 */
export async function openDevIssuer(
  dataFolder: string,
  clock: Pick<Clock, 'now'> = { now: () => Date.now() },
): Promise<OwnIssuer> {
  const path = join(dataFolder, 'dev-issuer.json');
  const own = parse(path, await readOrCreate(path, newFile));
  return createOwnIssuer('urn:checkpoint:dev', own, clock).catch((cause: unknown) => {
    throw unusable(path, cause);
  });
}

async function newFile(): Promise<string> {
  const { privateKey } = await generateKeyPair(OWN_ALGORITHM, { extractable: true });
  const { kty, crv, x, y, d } = await exportJWK(privateKey);
  const id = randomBytes(16).toString('hex');
  return `${JSON.stringify({ format: 1, id, key: { kty, crv, x, y, d } }, null, 2)}\n`;
}

function parse(path: string, text: string): OwnKey {
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
