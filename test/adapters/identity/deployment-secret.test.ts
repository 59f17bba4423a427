import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readDeploymentSecret } from '../../../lib/adapters/identity/deployment-secret.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('a configured secret is taken as it is, and no file is made', async () => {
  const folder = await tempFolder();
  expect(await readDeploymentSecret(folder, 'configured')).toBe('configured');
  await expect(stat(join(folder, 'secret'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a secret is made once: 64 hex digits that only the owner can read', async () => {
  const folder = join(await tempFolder(), 'data');
  const secrets = await Promise.all(Array.from({ length: 8 }, () => readDeploymentSecret(folder)));
  expect(new Set(secrets).size).toBe(1);
  expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(await readDeploymentSecret(folder)).toBe(secrets[0]);
  const { mode } = await stat(join(folder, 'secret'));
  expect((mode & 0o777).toString(8)).toBe('600');
});

test.each(['', 'short', 'F'.repeat(64), `${'a'.repeat(64)} x`])(
  'a file that holds %j is refused and left as it is',
  async (text) => {
    const folder = await tempFolder();
    const path = join(folder, 'secret');
    await writeFile(path, text, { mode: 0o600 });
    await expect(readDeploymentSecret(folder)).rejects.toMatchObject({
      kind: 'terminal',
      code: 'START_REFUSED',
      message: expect.stringContaining(`${path} does not hold 64 hex digits`),
    });
    expect(await readFile(path, 'utf8')).toBe(text);
  },
);

test.each([0o644, 0o602, 0o601])(
  'a file with mode %o is refused, with what to do',
  async (mode) => {
    const folder = await tempFolder();
    const secret = await readDeploymentSecret(folder);
    await chmod(join(folder, 'secret'), mode);
    await expect(readDeploymentSecret(folder)).rejects.toMatchObject({
      code: 'START_REFUSED',
      message: expect.stringContaining("chmod 600 '"),
    });
    await chmod(join(folder, 'secret'), 0o600);
    expect(await readDeploymentSecret(folder)).toBe(secret);
  },
);
