import { existsSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder, serveInChild } from '../support/e2e.ts';
import { openRequest, rawRequest } from '../support/raw-http.ts';

const start = (folder: string) => ['serve', '--port', '0', '--data', folder];

describe('checkpoint serve', () => {
  test('says where it is, where the data is, how to get a token and how to connect', async () => {
    const folder = await dataFolder();
    const { code, out, err } = await inProcess(start(folder), { CHECKPOINT_LOG_LEVEL: 'silent' });
    expect([code, err]).toEqual([0, '']);
    const url = /^MCP +(http:\/\/127\.0\.0\.1:\d+\/mcp)$/m.exec(out)?.[1];
    expect(url).toBeDefined();
    expect(out).toContain(`Data        ${join(folder, 'checkpoint.sqlite')}\n`);
    expect(out).toContain(
      `npm run -s checkpoint -- token --subject ana --scope procedures:run --data ${folder}\n`,
    );
    const json = out.slice(out.indexOf('{'), out.lastIndexOf('}') + 1);
    expect(JSON.parse(json)).toEqual({
      mcpServers: {
        checkpoint: { type: 'http', url, headers: { Authorization: 'Bearer <token>' } },
      },
    });
  });

  test('quotes a data folder that a shell would take apart', async () => {
    const folder = join(await dataFolder(), "a plant's data");
    const { out } = await inProcess(start(folder), { CHECKPOINT_LOG_LEVEL: 'silent' });
    expect(out).toContain(`a plant'\\''s data'\n`);
  });

  test('listens on this machine only, unless told otherwise', async () => {
    const { url } = await serveInChild(await dataFolder());
    expect(new URL(url).hostname).toBe('127.0.0.1');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 on %s, also while a client keeps its connection',
    async (signal) => {
      const server = await serveInChild(await dataFolder());
      const health = new URL('/health', server.url).href;
      const kept = openRequest(health, { method: 'GET', headers: { connection: 'keep-alive' } });
      kept.end();
      expect((await kept.reply).status).toBe(200);
      server.signal(signal);
      expect(await server.exited).toBe(0);
      await expect(rawRequest(health, { method: 'GET' })).rejects.toThrow('ECONNREFUSED');
    },
  );
});

describe('checkpoint serve that cannot start ends with 1 and says why', () => {
  test('on a port that is taken, in one sentence without a stack', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const args = ['serve', '--port', port, '--data', await dataFolder()];
    const ended = await runScript(ENTRY, args);
    taken.close();
    expect(ended).toEqual({
      code: 1,
      out: '',
      err: `Port ${port} on 127.0.0.1 is taken: stop the other program, or choose another port with --port.\n`,
    });
  });

  test('with settings that do not fit, all of them at once, and makes no folder', async () => {
    const folder = join(await dataFolder(), 'new');
    const settings = {
      PORT: '70000',
      CHECKPOINT_AUTH_PROFILE: 'google',
      CHECKPOINT_COMMAND_TIMEOUT_MS: '1e3',
      CHECKPOINT_ISSUERS: '{"secret":"do not print me"',
      CHECKPOINT_LOCK_TIMOUT_MS: '5',
    };
    const { code, out, err } = await runScript(ENTRY, ['serve', '--data', folder], settings);
    expect([code, out]).toEqual([1, '']);
    expect(err.trimEnd().split('\n')).toEqual([
      'These settings cannot be used:',
      '  CHECKPOINT_LOCK_TIMOUT_MS: no setting has this name; did you mean CHECKPOINT_LOCK_TIMEOUT_MS?',
      '  PORT: expected a whole number from 0 to 65535',
      '  CHECKPOINT_ISSUERS: expected a JSON array of issuers',
      '  CHECKPOINT_AUTH_PROFILE: expected alexa or standard',
      '  CHECKPOINT_COMMAND_TIMEOUT_MS: expected a whole number from 100 to 25000',
    ]);
    expect(existsSync(folder)).toBe(false);
  });

  test('with an issuer file that is damaged, and lets the port go', async () => {
    const folder = await dataFolder();
    const file = join(folder, 'dev-issuer.json');
    writeFileSync(file, '{}', { mode: 0o600 });
    expect(await runScript(ENTRY, start(folder))).toEqual({
      code: 1,
      out: '',
      err: `${file} is not a development issuer; delete it to make a new one and sign tokens again\n`,
    });
  });

  test('on a data file that is none of ours, and leaves it as it is', async () => {
    const folder = await dataFolder();
    const file = join(folder, 'checkpoint.sqlite');
    writeFileSync(file, 'minutes of the last meeting '.repeat(100));
    const { code, out, err } = await inProcess(start(folder));
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe('the file is not a database\n');
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  test('with a folder of procedures that is not there', async () => {
    const folder = await dataFolder();
    const policies = join(folder, 'none');
    const { code, err } = await inProcess(start(folder), { CHECKPOINT_POLICIES: policies });
    expect([code, err]).toEqual([
      1,
      `The folder of procedures ${policies}: there is no such folder\n`,
    ]);
  });

  test('with procedures that are not valid, every fault of every file', async () => {
    const folder = await dataFolder();
    writeFileSync(join(folder, 'a.json'), '{"id":"A b"}');
    writeFileSync(join(folder, 'b.json'), 'not JSON');
    const { code, err } = await inProcess(start(folder), { CHECKPOINT_POLICIES: folder });
    expect(code).toBe(1);
    expect(err).toContain('a.json');
    expect(err).toContain('b.json');
  });
});
