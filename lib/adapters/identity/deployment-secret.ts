// The deployment's one secret, from which every other key is derived.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { readOrCreate } from './create-once.ts';

/**
 * The configured secret, or the one in the data folder, which is created on first use (64 hex
 * digits). Throws a terminal fault `START_REFUSED` when the file holds anything else.
 */
export async function readDeploymentSecret(
  dataFolder: string,
  configured?: string,
): Promise<string> {
  if (configured !== undefined) return configured;
  const path = join(dataFolder, 'secret');
  const text = await readOrCreate(path, () => `${randomBytes(32).toString('hex')}\n`);
  const [secret] = /^[0-9a-f]{64}(?=\n?$)/.exec(text) ?? [];
  if (secret !== undefined) return secret;
  // Replacing it silently would make every earlier idempotency key a conflict.
  throw new Fault(
    'terminal',
    'START_REFUSED',
    `${path} does not hold 64 hex digits: put back the file as it was, or delete it to begin anew`,
  );
}
