import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadPolicyFolder } from '../../../lib/adapters/policies/folder.ts';
import { buildRegistry } from '../../../lib/core/procedures.ts';
import { smallProcedure } from '../../support/small-procedure.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await tempFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

async function refusal(folder: string): Promise<unknown> {
  return loadPolicyFolder(folder).then(
    () => 'it loads',
    (error: unknown) => error,
  );
}

const json = (change = {}): string => JSON.stringify(smallProcedure(change));

describe('a folder of procedures', () => {
  test('gives one policy per JSON file and module, in order of file names', async () => {
    const folder = await folderWith({
      'b.json': json(),
      'a.json': json({ id: 'first' }),
      'c.mjs': `export const policy = { domain: 'coded', procedures: [${json({ id: 'coded' })}],
        check: () => [{ rule: 'r', message: 'm', follows: 'block' }] };`,
      'd.ts': `export const policy: { domain: string; procedures: object[] } =
        { domain: 'typed', procedures: [${json({ id: 'typed' })}] };`,
    });
    const policies = await loadPolicyFolder(folder);
    expect(policies.map(({ domain }) => domain)).toEqual(['a.json', 'b.json', 'coded', 'typed']);
    const input = { procedure: 'coded', version: 1, step: 'low', values: {} };
    expect(policies[2]?.check?.(input)).toEqual([{ rule: 'r', message: 'm', follows: 'block' }]);
    expect(buildRegistry(policies)).toMatchObject({ ok: true });
  });

  test('may hold a byte order mark, links, other files, hidden files and subfolders', async () => {
    const folder = await folderWith({
      'bom.json': `\uFEFF${json()}`,
      'read-me.md': 'text',
      '.hidden.json': '{',
      'types.d.ts': 'export {};',
    });
    await mkdir(join(folder, 'sub.json'));
    await symlink(join(folder, 'bom.json'), join(folder, 'link.json'));
    const policies = await loadPolicyFolder(folder);
    expect(policies.map(({ domain }) => domain)).toEqual(['bom.json', 'link.json']);
  });

  test('that is empty gives no policy', async () => {
    expect(await loadPolicyFolder(await tempFolder())).toEqual([]);
  });

  test('that is missing, or a file, is a clear refusal', async () => {
    const folder = await folderWith({ file: '' });
    expect(await refusal(join(folder, 'none'))).toMatchObject({
      name: 'CheckpointFault',
      kind: 'terminal',
      code: 'START_REFUSED',
      message: `The folder of procedures ${join(folder, 'none')}: there is no such folder`,
    });
    expect(await refusal(join(folder, 'file'))).toMatchObject({
      code: 'START_REFUSED',
      message: `The folder of procedures ${join(folder, 'file')}: it cannot be read as a folder`,
    });
  });

  test('is refused with the faults of all its files at once, sorted, each with its file', async () => {
    const folder = await folderWith({
      'z.json': json({ version: 0, title: '' }),
      'twice.json': '{"id":"a","id":"b"}',
      'text.json': 'not json',
      'latin.json': Uint8Array.of(0x22, 0xe4, 0x22),
      'huge.json': `"${'x'.repeat(262_143)}"`,
      'empty.mjs': 'export const other = 1;',
      'broken.mjs': `throw new Error('no licence');`,
      'module.mjs': `export const policy = { domain: 'd', procedures: [${json()}, {}] };`,
      'good.json': json({ id: 'good' }),
    });
    await symlink(join(folder, 'nowhere'), join(folder, 'dangling.json'));
    const error = (await refusal(folder)) as { message: string; faults: { source: string }[] };
    const lines = error.message.split('\n');
    expect(lines[0]).toBe('These procedure files cannot be used:');
    expect(lines.slice(1).toSorted()).toEqual(lines.slice(1));
    expect(lines).toEqual(
      expect.arrayContaining([
        '  broken.mjs: expected a module that can be loaded: no licence',
        '  dangling.json: expected a file that can be read',
        '  empty.mjs: expected an export named policy with domain, procedures and perhaps check',
        '  huge.json: expected at most 262144 bytes',
        '  latin.json: expected UTF-8 text',
        '  text.json: the text is not valid JSON',
        '  twice.json /id: the member name appears twice',
      ]),
    );
    expect(new Set(error.faults.map(({ source }) => source))).toEqual(
      new Set([
        'broken.mjs',
        'dangling.json',
        'empty.mjs',
        'huge.json',
        'latin.json',
        'module.mjs',
        'text.json',
        'twice.json',
        'z.json',
      ]),
    );
    expect(error.faults).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'module.mjs', path: '/procedures/1/id' }),
        expect.objectContaining({ source: 'z.json', path: '/title' }),
        expect.objectContaining({ source: 'z.json', path: '/version' }),
      ]),
    );
  });
});
