import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../../lib/settings.ts';
import { faultsOf } from '../support/settings-faults.ts';

describe('CHECKPOINT_EVIDENCE_SERVERS', () => {
  const read = (entry: object) =>
    readSettings({ CHECKPOINT_EVIDENCE_SERVERS: JSON.stringify([entry]) }).evidenceServers;
  const problemOf = (...entries: object[]): string =>
    faultsOf({ CHECKPOINT_EVIDENCE_SERVERS: JSON.stringify(entries) })[0]?.problem ?? '';
  const remote = { name: 'a', url: 'https://a.example/mcp' };

  test('takes a command with its arguments and environment', () => {
    const entry = { name: 'a', command: 'npx', args: ['-y', 'x'], env: { REGION: 'north' } };
    expect(read(entry)).toEqual([{ ...entry, kind: 'command' }]);
  });

  test('takes a URL with its headers, and lets only this machine be private by itself', () => {
    const headers = { authorization: 'Bearer x' };
    expect(read({ ...remote, headers })).toEqual([
      { ...remote, kind: 'url', headers, privateNetwork: false },
    ]);
    for (const url of ['http://127.0.0.1:9000/mcp', 'http://localhost/mcp', 'http://[::1]/mcp']) {
      expect(read({ name: 'a', url })).toEqual([
        { name: 'a', kind: 'url', url, headers: {}, privateNetwork: true },
      ]);
    }
    const inside = { name: 'a', url: 'http://tools.internal/mcp', private_network: true };
    expect(read(inside)).toMatchObject([{ privateNetwork: true }]);
  });

  test.each([
    ['no kind', { name: 'a' }, '/0/name expected exactly one of'],
    ['two kinds', { ...remote, command: 'x' }, '/0/name expected exactly one of'],
    [
      'a URL without TLS',
      { name: 'a', url: 'http://a.example/hunter2' },
      '/0/url expected an https URL',
    ],
    [
      'a URL with credentials',
      { name: 'a', url: 'https://u:hunter2@a.example/' },
      '/0/url expected',
    ],
    [
      'arguments beside a URL',
      { ...remote, args: ['hunter2'] },
      '/0/args expected it beside command',
    ],
    [
      'headers beside a command',
      { name: 'a', command: 'x', headers: {} },
      '/0/headers expected it',
    ],
    ['a header of two lines', { ...remote, headers: { a: 'x\r\nhunter2: y' } }, '/0/headers/a'],
    ['an environment name with =', { name: 'a', command: 'x', env: { 'A=B': '' } }, '/0/env/A=B'],
    ['a null character', { name: 'a', command: 'x', args: ['hunter2\0'] }, '/0/args/0'],
    ['bundled: false', { name: 'a', bundled: false }, '/0/bundled expected true'],
    ['a name in capitals', { name: 'A', bundled: true }, '/0/name expected 1 to 32'],
    ['an unknown field', { ...remote, retries: 3 }, '/0 Unrecognized key'],
  ])('refuses %s and names the place, never the value', (_what, entry, place) => {
    const problem = problemOf(entry);
    expect(problem).toContain(`expected a JSON array of servers; ${place}`);
    expect(problem).not.toContain('hunter2');
  });

  test('refuses two of one name, and more than sixteen', () => {
    expect(problemOf(remote, { name: 'a', bundled: true })).toContain('/1/name expected another');
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `s${i}`, bundled: true }));
    expect([problemOf(...many(16)), problemOf(...many(17))]).toEqual([
      '',
      'expected a JSON array of servers',
    ]);
  });
});

describe('CHECKPOINT_EVIDENCE_TOOLS', () => {
  const problemOf = (...entries: object[]): string =>
    faultsOf({ CHECKPOINT_EVIDENCE_TOOLS: JSON.stringify(entries) })[0]?.problem ?? '';
  const entry = { server: 'a', tool: 'look', pin: '0'.repeat(64) };

  test.each([
    ['a pin that is too short', { pin: '0'.repeat(63) }, '/0/pin expected 64'],
    ['a pin in capitals', { pin: 'A'.repeat(64) }, '/0/pin expected 64'],
    ['a name with a slash', { tool: 'a/b' }, '/0/tool expected a name'],
    ['an unknown field', { allow: true }, '/0 Unrecognized key'],
  ])('refuses %s', (_what, change, place) => {
    expect(problemOf({ ...entry, ...change })).toContain(place);
  });

  test('takes one name on two servers, and refuses one tool twice', () => {
    expect(problemOf(entry, { ...entry, server: 'b' })).toBe('');
    expect(problemOf(entry, entry)).toContain('/1/tool expected another tool');
  });
});
