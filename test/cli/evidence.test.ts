import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../../lib/settings.ts';
import { BUNDLED_TOOLS } from '../../lib/settings/evidence.ts';
import { openLocal } from '../../lib/wiring/local.ts';
import { inProcess } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

const peer = (mode: string) => ({
  name: 'peer',
  command: process.execPath,
  args: [join(import.meta.dirname, '../support/evidence/peer.ts'), mode],
});

async function tools(servers: readonly object[], allowed: readonly object[], ...args: string[]) {
  return inProcess(['tools', ...args, '--data', await tempFolder()], {
    CHECKPOINT_EVIDENCE_SERVERS: JSON.stringify(servers),
    CHECKPOINT_EVIDENCE_TOOLS: JSON.stringify(allowed),
    CHECKPOINT_EVIDENCE_TIMEOUT_MS: '20000',
  });
}

describe('checkpoint tools', () => {
  test.each(['tools', 'mcp-tools'])(
    'as %s lists the bundled tools, allowed and pinned',
    async (name) => {
      const { code, out, err } = await inProcess([name, '--data', await tempFolder()]);
      expect([code, out, err]).toEqual([
        0,
        [
          'SERVER   TOOL            ALLOWED  PINNED  WHY NOT',
          'bundled  service_status  yes      yes',
          'bundled  runbook_search  yes      yes',
          '',
        ].join('\n'),
        '',
      ]);
    },
  );

  test('says of every other tool why it is not called, and ends with 1', async () => {
    const allowed = [
      { server: 'peer', tool: 'status' },
      { server: 'peer', tool: 'restart', pin: '0'.repeat(64) },
      { server: 'peer', tool: 'gone' },
    ];
    const { code, out } = await tools([peer('odd-tools')], allowed);
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n')).toEqual([
      'SERVER  TOOL     ALLOWED  PINNED  WHY NOT',
      'peer    status   no       no      it has no pin: look at its definition, then pin it',
      'peer    restart  no       no      its server says that it changes something',
      'peer does not offer gone, which is on the allowlist.',
    ]);
  });

  test('gives the same as JSON', async () => {
    const { out } = await tools([peer('good')], [], '--json');
    expect(JSON.parse(out)).toEqual({
      server: 'peer',
      name: 'status',
      allowed: false,
      pinned: false,
      reason: 'NOT_ON_ALLOWLIST',
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('tells of a server that does not start, with its last words made harmless', async () => {
    const { code, out } = await tools([peer('crash-at-once')], []);
    expect(code).toBe(1);
    expect(out).toContain('peer gives no list: its process ended with exit code 9.');
    expect(out).toContain('It last wrote: cannot find module \\u{001B}[31mx');
  });

  test('prints an allowlist with pins that is then taken', async () => {
    const unpinned = [{ server: 'peer', tool: 'status' }];
    const printed = (await tools([peer('good')], unpinned, '--pin')).out.trim();
    const pinned = JSON.parse(printed) as { server: string; tool: string; pin: string }[];
    expect(pinned).toEqual([{ ...unpinned[0], pin: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    const { code, out } = await tools([peer('good')], pinned);
    expect([code, out]).toEqual([0, expect.stringMatching(/^peer +status +yes +yes$/m)]);
  });

  test('pins a tool by its name and leaves other pins alone', async () => {
    const other = { server: 'elsewhere', tool: 'x', pin: '1'.repeat(64) };
    const { out } = await tools([peer('good')], [other], '--pin', 'peer/status');
    expect(JSON.parse(out)).toEqual([
      other,
      { server: 'peer', tool: 'status', pin: expect.any(String) },
    ]);
  });

  test.each([
    ['is not offered', 'peer/shell', 'peer/shell is not offered; checkpoint tools lists what is'],
    ['changes something', 'peer/restart', 'peer/restart cannot be allowed: its server says'],
  ])('pins no tool that %s', async (_what, name, message) => {
    const { code, err } = await tools([peer('odd-tools')], [], '--pin', name);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  test('shows definitions to be looked at', async () => {
    const { out } = await tools([peer('good')], [], '--definitions');
    expect(out).toMatch(/^ {2}pin [0-9a-f]{64}$/m);
    expect(out).toMatch(/^ {2}The status\.$/m);
    expect(out).toMatch(/^ {2}\/properties\/service\/type string$/m);
  });
});

describe('checkpoint init', () => {
  test('prepares a data folder, and leaves what is there alone when it is repeated', async () => {
    const data = join(await tempFolder(), 'data');
    const first = await inProcess(['init', '--data', data]);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toContain('(created)');
    const file = join(data, 'evidence/services.yaml');
    expect(existsSync(join(data, 'checkpoint.sqlite'))).toBe(true);
    await writeFile(file, 'services: []\n');
    const second = await inProcess(['init-db', '--data', data]);
    expect(second.out).toBe(
      `Data      ${data}/checkpoint.sqlite (was there)\nEvidence  ${data}/evidence (was there)\n`,
    );
    expect(await readFile(file, 'utf8')).toBe('services: []\n');
  });
});

describe('the evidence of a local process', () => {
  test('is read from the folder of the operator, and ends with the process', async () => {
    const data = await tempFolder();
    await inProcess(['init', '--data', data]);
    await writeFile(
      join(data, 'evidence/services.yaml'),
      'services:\n  - { name: mine, status: down }\n',
    );
    const local = await openLocal(readSettings({ CHECKPOINT_DATA: data }));
    const { source, allowlist, bounds } = await local.evidence();
    expect(await local.evidence()).toBe(await local.evidence());
    expect([allowlist.length, bounds.steps]).toEqual([BUNDLED_TOOLS.length, 8]);
    const [tool] = await source.list('bundled', Date.now() + 20_000);
    if (tool === undefined) throw new Error('expected a tool');
    const { data: answer } = await source.call(tool, {}, Date.now() + 20_000);
    expect(answer).toEqual({ services: [{ name: 'mine', status: 'down' }], total: 1 });
    await local.close();
    await expect(source.list('bundled', Date.now() + 1_000)).rejects.toMatchObject({
      message: 'the source is closed',
    });
  });
});
