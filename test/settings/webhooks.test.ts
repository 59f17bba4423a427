import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../../lib/settings.ts';
import { faultsOf } from '../support/settings-faults.ts';

const whsec = (characters: number): string => `whsec_${'A'.repeat(characters)}`;
const desk = { name: 'desk', url: 'https://desk.example.com/hook', secrets: [whsec(32)] };
const EXPECTED = 'expected a JSON array of webhooks';

describe('CHECKPOINT_WEBHOOKS', () => {
  const problemsOf = (...entries: readonly unknown[]): string[] =>
    faultsOf({ CHECKPOINT_WEBHOOKS: JSON.stringify(entries) }).map(({ problem }) => problem);

  test.each([
    ['https', { ...desk }],
    ['http to this very machine', { ...desk, url: 'http://127.0.0.1:9000/hook' }],
    ['the shortest secret', { ...desk, secrets: [whsec(24)] }],
    ['the longest secret', { ...desk, secrets: [whsec(256)] }],
    ['four secrets', { ...desk, secrets: Array.from({ length: 4 }, () => whsec(32)) }],
    ['the longest name', { ...desk, name: 'd'.repeat(32) }],
  ])('takes %s', (_, entry) => {
    const text = JSON.stringify([entry]);
    expect(readSettings({ CHECKPOINT_WEBHOOKS: text }).webhooks).toEqual([entry]);
  });

  test.each([
    ['another host without TLS', { url: 'http://desk.example.com/hook' }, '/0/url'],
    ['a URL with credentials', { url: 'https://user:pass@desk.example.com/' }, '/0/url'],
    ['a secret without its prefix', { secrets: ['A'.repeat(32)] }, '/0/secrets/0'],
    ['a secret of 20 characters', { secrets: [whsec(20)] }, '/0/secrets/0'],
    ['a secret of 264 characters', { secrets: [whsec(264)] }, '/0/secrets/0'],
    ['a secret that is not base64', { secrets: [`whsec_${'-'.repeat(32)}`] }, '/0/secrets/0'],
    ['no secret', { secrets: [] }, '/0/secrets'],
    ['five secrets', { secrets: Array.from({ length: 5 }, () => whsec(32)) }, '/0/secrets'],
    ['the name of the log', { name: 'log' }, '/0/name'],
    ['a name of 33 characters', { name: 'd'.repeat(33) }, '/0/name'],
    ['an unknown field', { retries: 3 }, '/0 Unrecognized key'],
  ])('refuses %s and names the place, never the value', (_, part, place) => {
    const [problem = ''] = problemsOf({ ...desk, ...part });
    expect(problem).toContain(`${EXPECTED}; ${place}`);
    expect(problem).not.toMatch(/pass@|whsec_[A-]/);
  });

  test('refuses two of one name, more than twenty, and text that is not JSON', () => {
    expect(problemsOf(desk, { ...desk, url: 'https://other.example.com/' })).toEqual([
      `${EXPECTED}; /1/name expected another name than an earlier entry has`,
    ]);
    const many = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...desk, name: `d${i}` }));
    expect(problemsOf(...many(20))).toEqual([]);
    expect(problemsOf(...many(21))[0]).toContain(EXPECTED);
    expect(faultsOf({ CHECKPOINT_WEBHOOKS: '[{' })).toEqual([
      { name: 'CHECKPOINT_WEBHOOKS', problem: EXPECTED },
    ]);
  });
});
