import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { definitionHash } from '../../lib/core/evidence/definition.ts';
import { BUNDLED_TOOLS } from '../../lib/settings/evidence.ts';
import { bundledOn, EXAMPLES, exampleFolder, folderOf } from '../support/evidence/bundled.ts';

interface Status {
  readonly services: readonly { readonly name: string; readonly status: string }[];
  readonly total: number;
  readonly next_cursor?: string;
}
interface Found {
  readonly matches: readonly {
    readonly runbook: string;
    readonly section: string;
    readonly score: number;
    readonly excerpt: string;
    readonly left_out: number;
  }[];
  readonly total: number;
  readonly next_cursor?: string;
}

const many = (count: number): string =>
  JSON.stringify({
    services: Array.from({ length: count }, (_, i) => ({
      name: `service-${String(i).padStart(4, '0')}`,
      status: 'operational',
      summary: 'é'.repeat(300),
    })),
  });

describe('the bundled evidence server', () => {
  test('offers two tools, pinned by the default settings, in a list that stays the same', async () => {
    const tools = await bundledOn(EXAMPLES).list();
    expect(tools.map((tool) => [tool.name, tool.writes, definitionHash(tool)])).toEqual(
      BUNDLED_TOOLS.map(({ tool, pin }) => [tool, undefined, pin]),
    );
    expect(await bundledOn(EXAMPLES).list()).toEqual(tools);
  });

  test('answers the status of one service by its name or an alias', async () => {
    const { call } = bundledOn(EXAMPLES);
    for (const service of ['payments-api', 'Payments', 'PAYMENTS API']) {
      const { data, isError } = await call('service_status', { service });
      expect([isError, (data as unknown as Status).services[0]?.status]).toEqual([
        false,
        'degraded',
      ]);
    }
  });

  test('names services that there are for one that there is not', async () => {
    expect(await bundledOn(EXAMPLES).call('service_status', { service: 'billing' })).toEqual({
      text: 'service: expected one of 4, such as ledger-db, message-queue, payments-api, search',
      isError: true,
    });
  });

  test('refuses arguments that are not its own', async () => {
    const { text, isError } = await bundledOn(EXAMPLES).call('service_status', { name: 'x' });
    expect([isError, text]).toEqual([true, expect.stringContaining('name')]);
  });

  test('lists many services in pages below 20,000 bytes that fit together', async () => {
    const { call } = bundledOn(await folderOf({ 'services.json': many(45) }));
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { data, text } = await call('service_status', cursor === undefined ? {} : { cursor });
      expect(Buffer.byteLength(text)).toBeLessThan(20_000);
      const page = data as unknown as Status;
      expect(page.total).toBe(45);
      names.push(...page.services.map(({ name }) => name));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect([names.length, new Set(names).size]).toEqual([45, 45]);
  });

  test('finds sections of runbooks, the best one first', async () => {
    const { call } = bundledOn(EXAMPLES);
    const { data } = await call('runbook_search', { query: 'payments time out connection pool' });
    const { matches, total } = data as unknown as Found;
    expect(matches[0]?.runbook).toBe('connection-pool-exhausted');
    expect(total).toBeGreaterThan(1);
    const scores = matches.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const misspelt = await call('runbook_search', { query: 'conection' });
    expect((misspelt.data as unknown as Found).matches[0]?.runbook).toBe(
      'connection-pool-exhausted',
    );
    const none = await call('runbook_search', { query: 'zzzz' });
    expect(none.data).toEqual({ matches: [], total: 0 });
  });

  test('leaves out runbooks for other services', async () => {
    const { call } = bundledOn(EXAMPLES);
    const args = { query: 'ticket', service: 'search' };
    const { matches } = (await call('runbook_search', args)).data as unknown as Found;
    expect(new Set(matches.map(({ runbook }) => runbook))).toEqual(
      new Set(['search-index-rebuild', 'write-an-incident-ticket']),
    );
  });

  test('answers matches in pages, shortened with a count, and knows when the files changed', async () => {
    const sections = Array.from(
      { length: 12 },
      (_, i) => `## Part ${i}\n\nword ${'x'.repeat(2_000)}`,
    );
    const folder = await folderOf({ 'runbooks/long.md': `# Long\n\n${sections.join('\n\n')}\n` });
    const { call } = bundledOn(folder);
    const first = await call('runbook_search', { query: 'word' });
    const page = first.data as unknown as Found;
    expect([page.matches.length, page.total]).toEqual([5, 12]);
    expect(page.matches[0]?.excerpt.length).toBe(700);
    expect(page.matches[0]?.left_out).toBe(1_305);
    expect(Buffer.byteLength(first.text)).toBeLessThan(20_000);
    const cursor = page.next_cursor ?? '';
    const second = (await call('runbook_search', { query: 'word', cursor }))
      .data as unknown as Found;
    expect(second.matches.map(({ section }) => section)).not.toEqual(
      page.matches.map(({ section }) => section),
    );
    const other = await call('runbook_search', { query: 'part', cursor });
    expect([other.isError, other.text]).toEqual([true, expect.stringMatching(/^cursor: expected/)]);
    await writeFile(join(folder, 'runbooks/new.md'), '# New\n\nword\n');
    expect((await call('runbook_search', { query: 'word', cursor })).isError).toBe(true);
  });

  test('reads a file again when it has changed', async () => {
    const folder = await exampleFolder();
    const { call } = bundledOn(folder);
    await call('service_status', { service: 'search' });
    const file = join(folder, 'services.yaml');
    await writeFile(file, 'services:\n  - { name: search, status: down }\n');
    expect((await call('service_status', { service: 'search' })).data).toEqual({
      services: [{ name: 'search', status: 'down' }],
      total: 1,
    });
    // As an editor saves: another file under the same name.
    await writeFile(`${file}~`, 'services:\n  - { name: search, status: unknown }\n');
    await rename(`${file}~`, file);
    const { data } = await call('service_status', { service: 'search' });
    expect((data as unknown as Status).services[0]?.status).toBe('unknown');
  });
});

describe('a faulty file', () => {
  test.each([
    ['is no YAML', 'services:\n  - name: [a\n', /^services\.yaml line 3: expected valid YAML: /],
    [
      'has a wrong value',
      'services:\n  - name: a\n    status: fine\n',
      /^services\.yaml line 3: \/services\/0\/status: expected one of: /,
    ],
    [
      'lacks a field',
      'services:\n  - name: a\n    status: down\n  - name: b\n',
      /^services\.yaml line 4: \/services\/1\/status: /,
    ],
    [
      'has an unknown field',
      'services:\n  - name: a\n    status: down\n    staus: up\n',
      /^services\.yaml line 2: \/services\/0: expected no member staus/,
    ],
    [
      'has a key twice',
      'services: []\nservices: []\n',
      /^services\.yaml line 2: expected valid YAML: /,
    ],
    [
      'names a service twice',
      'services:\n  - { name: a, status: down }\n  - { name: b, aliases: [A], status: down }\n',
      /^services\.yaml: expected the name A once$/,
    ],
    ['is empty', '', /^services\.yaml line 1: /],
    [
      'is no UTF-8',
      Buffer.from([0x61, 0x0a, 0xff]),
      /^services\.yaml line 2: expected UTF-8 text$/,
    ],
    ['is too long', '#'.repeat(262_145), /^services\.yaml: expected at most 262144 bytes$/],
    [
      'has aliases that multiply',
      `a: &a [1,1,1,1,1,1,1,1]\n${'bcdefgh'
        .split('')
        .map((name, i) => `${name}: &${name} [${`*${'abcdefg'.charAt(i)},`.repeat(8)}]`)
        .join('\n')}\n`,
      /^services\.yaml line 1: expected fewer aliases$/,
    ],
  ])(
    'that %s is a tool error with its place, and the server lives',
    async (_what, text, message) => {
      const folder = await exampleFolder();
      const { call } = bundledOn(folder);
      await writeFile(join(folder, 'services.yaml'), text);
      const answer = await call('service_status', {});
      expect([answer.isError, answer.text]).toEqual([true, expect.stringMatching(message)]);
      await writeFile(join(folder, 'services.yaml'), 'services: []\n');
      expect((await call('service_status', {})).data).toEqual({ services: [], total: 0 });
    },
  );

  test('of services that is missing, or is there twice, is named', async () => {
    const none = await bundledOn(await folderOf({})).call('service_status', {});
    expect(none).toEqual({ text: 'services.yaml: there is no such file', isError: true });
    const files = { 'services.json': '{"services":[]}', 'services.yaml': 'services: []' };
    const two = await bundledOn(await folderOf(files)).call('service_status', {});
    expect(two.text).toBe('services.yaml: expected no file beside services.json');
  });

  test('of a runbook is named with the line in it', async () => {
    const text = '---\nservices: [a]\nowner: me\n---\n\n# A\n';
    const folder = await folderOf({ 'runbooks/a.md': text });
    const { text: said, isError } = await bundledOn(folder).call('runbook_search', { query: 'a' });
    expect([isError, said]).toEqual([true, expect.stringMatching(/^runbooks\/a\.md line \d: /)]);
  });
});
