import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { openDevIssuer } from '../../../lib/adapters/identity/dev-issuer.ts';
import type { OwnToken } from '../../../lib/adapters/identity/own-issuer.ts';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';
import { projectRoot } from '../../support/project-files.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { NOW_SECONDS } from '../../support/test-issuer.ts';

const clock = { now: () => NOW_SECONDS * 1000 };
const ana: OwnToken = { subject: 'ana', scopes: ['procedures:run'] };

async function verify(folder: string, token: string, at = clock) {
  const issuer = await openDevIssuer(folder, at);
  return createTokenVerifier({ issuers: [issuer.issuerConfig()], clock: at }).verify(token);
}

describe('a development token', () => {
  test('is accepted wherever the same data folder is used, for twelve hours', async () => {
    const folder = join(await tempFolder(), 'data');
    const issuer = await openDevIssuer(folder, clock);
    const token = await issuer.sign({ ...ana, name: 'Ana Lima' });
    expect(await verify(folder, token)).toEqual({
      ok: true,
      expiresAt: 1_767_268_800,
      principal: {
        tenant: 'local',
        subject: 'dev:ana',
        name: 'Ana Lima',
        kind: 'person',
        scopes: new Set(['procedures:run']),
      },
    });
    const later = { now: () => (1_767_268_800 + 30) * 1000 };
    expect(await verify(folder, token, later)).toEqual({ ok: false, fault: 'expired' });
  });

  test('is of another issuer in any other data folder', async () => {
    const issuer = await openDevIssuer(await tempFolder(), clock);
    const token = await issuer.sign(ana);
    expect(await verify(await tempFolder(), token)).toEqual({ ok: false, fault: 'issuer' });
  });

  test('names issuer and audience by the folder, not by an address', async () => {
    const config = (await openDevIssuer(await tempFolder(), clock)).issuerConfig();
    expect(config).toMatchObject({ alias: 'dev', tenants: 'any', tenantClaim: 'tenant' });
    expect(config.issuer).toMatch(/^urn:checkpoint:dev:[0-9a-f]{32}$/);
    expect(config.audience).toBe(config.issuer);
    expect(JSON.stringify(config)).not.toContain('"d"');
  });

  test.each([
    ['an agent', { ...ana, kind: 'agent' }, 'agent', ['procedures:run']],
    ['a service', { subject: 'alexa', scopes: [], kind: 'service' }, 'service', ['mcp:service']],
  ] satisfies [string, OwnToken, string, string[]][])(
    'is of %s when asked for',
    async (_what, token, kind, scopes) => {
      const folder = await tempFolder();
      const signed = await (await openDevIssuer(folder, clock)).sign({ ...token, tenant: 'acme' });
      expect(await verify(folder, signed)).toMatchObject({
        principal: { kind, tenant: 'acme', scopes: new Set(scopes) },
      });
    },
  );

  test.each([
    ['mcp:service for a person', { ...ana, scopes: ['mcp:service'] }, 'is for a service only'],
    [
      'mcp:service for an agent',
      { ...ana, scopes: ['mcp:service'], kind: 'agent' },
      'is for a service only',
    ],
    ['a tenant that cannot be', { ...ana, tenant: 'a b' }, 'because of its tenant'],
    ['a subject too long', { ...ana, subject: 'x'.repeat(280) }, 'because of its claims'],
    ['a time that is no whole number', { ...ana, expiresInSeconds: 1.5 }, 'because of its claims'],
  ] satisfies [string, OwnToken, string][])('is not signed for %s', async (_what, token, why) => {
    const issuer = await openDevIssuer(await tempFolder(), clock);
    await expect(issuer.sign(token)).rejects.toMatchObject({
      kind: 'terminal',
      message: expect.stringContaining(why),
    });
  });
});

describe('the file of the development issuer', () => {
  test('is readable by its owner alone, and nothing else is left in the folder', async () => {
    const folder = await tempFolder();
    await openDevIssuer(folder, clock);
    expect(await readdir(folder)).toEqual(['dev-issuer.json']);
    const { mode } = await stat(join(folder, 'dev-issuer.json'));
    expect((mode & 0o777).toString(8)).toBe('600');
  });

  test('is made once, whatever number of processes asks for it at the same time', async () => {
    const folder = join(await tempFolder(), 'data');
    const module = pathToFileURL(join(projectRoot, 'lib/adapters/identity/dev-issuer.ts')).href;
    const code = `const { openDevIssuer } = await import(${JSON.stringify(module)});
      const issuer = await openDevIssuer(${JSON.stringify(folder)});
      process.stdout.write(issuer.issuerConfig().issuer);`;
    const run = promisify(execFile);
    const runs = Array.from({ length: 6 }, () =>
      run(process.execPath, ['--input-type=module', '--eval', code]),
    );
    const names = (await Promise.all(runs)).map(({ stdout }) => stdout);
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toBe((await openDevIssuer(folder)).issuerConfig().issuer);
    expect(await readdir(folder)).toEqual(['dev-issuer.json']);
  });

  test.each([
    ['empty', () => ''],
    ['cut', (text: string) => text.slice(0, -20)],
    ['of a later format', (text: string) => text.replace('"format": 1', '"format": 2')],
    ['without its private part', (text: string) => text.replace(/,\s*"d": "[^"]+"/, '')],
    ['off its curve', (text: string) => text.replace(/("x": ")[^"]+/, `$1${'A'.repeat(43)}`)],
  ])(
    'that is %s is refused with its path, never quoted and never replaced',
    async (_what, damage) => {
      const folder = await tempFolder();
      const path = join(folder, 'dev-issuer.json');
      await openDevIssuer(folder, clock);
      const damaged = damage(await readFile(path, 'utf8'));
      await writeFile(path, damaged);
      await expect(openDevIssuer(folder, clock)).rejects.toMatchObject({
        kind: 'terminal',
        code: 'START_REFUSED',
        message: `${path} is not a development issuer; delete it to make a new one and sign tokens again`,
      });
      expect(await readFile(path, 'utf8')).toBe(damaged);
    },
  );

  test('in a folder that cannot be is a clear refusal', async () => {
    const file = join(await tempFolder(), 'file');
    await writeFile(file, '');
    await expect(openDevIssuer(file, clock)).rejects.toMatchObject({
      code: 'START_REFUSED',
      message: `${join(file, 'dev-issuer.json')} cannot be read or created: ENOTDIR`,
    });
  });
});
