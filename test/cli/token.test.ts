import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder, serve, tokenFor } from '../support/e2e.ts';
import { rpc, tool } from '../support/wire.ts';

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+\n$/;
const ana = ['--subject', 'ana', '--scope', 'procedures:run'];

describe('checkpoint token', () => {
  test('prints the token alone, so that it can be taken into a variable', async () => {
    const folder = await dataFolder();
    const { code, out, err } = await runScript(ENTRY, ['token', ...ana, '--data', folder]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(TOKEN);
    expect(decodeJwt(out.trim())).toMatchObject({
      sub: 'ana',
      tenant: 'local',
      scope: 'procedures:run',
    });
  });

  test.each([
    ['30m', 1_800],
    ['12h', 43_200],
    ['7d', 604_800],
    ['90s', 90],
  ])('is valid for %s', async (time, seconds) => {
    const { exp = 0, iat = 0 } = decodeJwt(
      await tokenFor(await dataFolder(), 'ana', 'procedures:run', '--expires', time),
    );
    expect(exp - iat).toBe(seconds);
  });

  test('takes several scopes with commas, spaces, or one option each', async () => {
    const folder = await dataFolder();
    const both = 'procedures:run procedures:supervise';
    for (const scopes of [
      ['--scope', 'procedures:run,procedures:supervise'],
      ['--scope', 'procedures:run', 'procedures:supervise'],
      ['--scope', 'procedures:run', '--scope', 'procedures:supervise'],
    ]) {
      const { out } = await inProcess(['token', '--subject', 'a', ...scopes, '--data', folder]);
      expect(decodeJwt(out.trim())['scope']).toBe(both);
    }
  });
});

describe('an option of checkpoint token that does not fit is named, and nothing is created', () => {
  test.each([
    ['--subject', ['--scope', 'procedures:run']],
    ['--subject', ['--subject', '', '--scope', 'procedures:run']],
    ['--subject', ['--subject', 'a:b', '--scope', 'procedures:run']],
    ['--subject', ['--subject', 'a'.repeat(256), '--scope', 'procedures:run']],
    ['--scope', ['--subject', 'ana']],
    ['--scope', ['--subject', 'ana', '--scope', 'procedures:runs']],
    ['--scope', ['--subject', 'ana', '--scope', 'mcp:service']],
    ['--expires', [...ana, '--expires', 'soon']],
    ['--expires', [...ana, '--expires', '0h']],
    ['--expires', [...ana, '--expires', '366d']],
    ['--tenant', [...ana, '--tenant', 'a/b']],
    ['--tenant', [...ana, '--tenant', '']],
    ['--agent', [...ana, '--agent', '--service']],
  ])('%s: %j', async (option, words) => {
    const folder = join(await dataFolder(), 'new');
    const { code, out, err } = await inProcess(['token', ...words, '--data', folder]);
    expect([code, out]).toEqual([1, '']);
    expect(err.startsWith(option)).toBe(true);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(folder)).toBe(false);
  });

  test('issuers of one’s own leave nothing to sign here', async () => {
    const issuer = {
      alias: 'corp',
      issuer: 'https://id.example.com',
      jwks_url: 'https://id.example.com/jwks',
      tenants: ['plant-7'],
    };
    const settings = { CHECKPOINT_ISSUERS: JSON.stringify([issuer]) };
    expect(await inProcess(['token', ...ana], settings)).toEqual({
      code: 1,
      out: '',
      err: 'CHECKPOINT_ISSUERS is set: tokens come from those issuers, not from here.\n',
    });
  });
});

describe('a server takes a token', () => {
  test('of its own data folder on any port, and of no other folder', async () => {
    const [folder, other] = [await dataFolder(), await dataFolder()];
    const token = await tokenFor(folder, 'ana', 'procedures:run');
    const [first, second] = [await serve(folder), await serve(folder)];
    const stranger = await serve(other);
    expect(first.url).not.toBe(second.url);
    for (const [{ url }, status] of [
      [first, 200],
      [second, 200],
      [stranger, 401],
    ] as const) {
      expect((await rpc({ url, token }, 'ping')).status).toBe(status);
    }
  });

  test('of a service for help and for nothing of a person', async () => {
    const folder = await dataFolder();
    const { url } = await serve(folder);
    const { out } = await inProcess(['token', '--service', '--data', folder]);
    const service = { url, token: out.trim() };
    expect((await tool(service, 'what_can_i_do')).fields['code']).toBe('OK');
    const call = { name: 'list_my_workflows', arguments: {} };
    expect((await rpc(service, 'tools/call', call)).status).toBe(403);
  });

  test('of an agent for work, and not as the second person', async () => {
    const folder = await dataFolder();
    const { url } = await serve(folder);
    const operator = { url, token: await tokenFor(folder, 'ana', 'procedures:run') };
    const agent = { url, token: await tokenFor(folder, 'robot', 'procedures:run', '--agent') };
    const start = (asset: string) => ({ procedure: 'pump-inspection', asset });
    expect((await tool(agent, 'start_workflow', start('PUMP-02'))).fields['code']).toBe('OK');

    const { fields } = await tool(operator, 'start_workflow', start('PUMP-01'));
    const { workflow_id } = fields;
    const yes = { workflow_id, confirmed: true };
    await tool(operator, 'record_step', { ...yes, step: 'guards_check' });
    const isolation = { ...yes, step: 'isolation_check' };
    await tool(operator, 'record_step', isolation);
    const confirmed = await tool(agent, 'record_step', { ...isolation, confirms: 3 });
    expect(confirmed.fields).toMatchObject({ code: 'FORBIDDEN', detail: { why: 'person' } });
  });
});
