import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';

const HINT = '(checkpoint --help shows what there is)\n';

describe('checkpoint', () => {
  test('prints its version', async () => {
    const file = join(import.meta.dirname, '../../package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    expect(await runScript(ENTRY, ['--version'])).toEqual({
      code: 0,
      out: `${version}\n`,
      err: '',
    });
  });

  test('lists its commands on --help', async () => {
    const { code, out, err } = await inProcess(['--help']);
    expect([code, err]).toEqual([0, '']);
    for (const command of ['serve', 'token', 'audit', 'demo']) {
      expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
  });

  test.each([
    ['serve', ['--host', '--port', '--data']],
    [
      'token',
      [
        '--subject',
        '--name',
        '--scope',
        '--tenant',
        '--expires',
        '--agent',
        '--service',
        '--deployment',
        '--data',
      ],
    ],
    ['audit verify', ['--all', '--tenant', '--workflow', '--file', '--heads', '--key', '--data']],
    ['demo', []],
  ])('lists the options of %s on --help', async (command, options) => {
    const { code, out } = await inProcess([...command.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out.startsWith(`Usage: checkpoint ${command} `)).toBe(true);
    const listed = [...out.matchAll(/^ {2}(--[a-z]+)/gm)].map(([, option]) => option);
    expect(listed).toEqual(options);
  });

  test('without a command shows what there is and ends with 1', async () => {
    const { code, out, err } = await inProcess([]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('Usage: checkpoint [options] [command]');
  });

  test.each([
    ['an unknown command', ['bogus'], `error: unknown command 'bogus'\n${HINT}`],
    ['a mistyped one', ['srve'], `error: unknown command 'srve'\n(Did you mean serve?)\n${HINT}`],
    ['an unknown option', ['serve', '--tls'], `error: unknown option '--tls'\n${HINT}`],
    [
      'a mistyped option',
      ['token', '--scopes', 'x'],
      `error: unknown option '--scopes'\n(Did you mean --scope?)\n${HINT}`,
    ],
    [
      'an option without its value',
      ['serve', '--port'],
      `error: option '--port <port>' argument missing\n${HINT}`,
    ],
    [
      'a word too many',
      ['demo', 'fast'],
      `error: too many arguments for 'demo'. Expected 0 arguments but got 1: fast.\n${HINT}`,
    ],
  ])('names %s and ends with 1', async (_what, words, err) => {
    expect(await inProcess(words)).toEqual({ code: 1, out: '', err });
  });
});
