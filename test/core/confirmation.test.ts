import { describe, expect, it } from '@jest/globals';
import { occasionOf, signQuestion, verifyQuestion } from '../../lib/core/confirmation.ts';
import { secretsOf, shortMac } from '../../lib/core/secrets.ts';

const secret = secretsOf('a secret of the deployment, 32 or more')('acme').confirmation;
const asked = { tenant: 'acme', subject: 'dev:ana', step: 'inlet', value: 42.25 } as const;
const occasion = { question: 'value', workflow: 'w1', basis: 3 } as const;
const NOW = 1_772_355_600_000;
const token = signQuestion(secret, asked, occasion, NOW);

describe('a signed question', () => {
  it('is short enough to be carried by an assistant and holds no value', () => {
    expect(token).toMatch(/^c2\.[\w-]{40,80}\.[\w-]{22}$/);
    const said = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    expect(said).toBe('[0,1772356200000,"w1",3,null,null]');
  });

  it('with the longest names still fits the argument for it', () => {
    const long = { ...occasion, workflow: 'w'.repeat(26), basis: 10_000, replaces: 10_000 };
    expect(signQuestion(secret, asked, long, NOW).length).toBeLessThanOrEqual(200);
  });

  it('says its occasion, and is late after ten minutes', () => {
    expect(verifyQuestion(secret, asked, token, NOW)).toEqual({ ...occasion, late: false });
    expect(verifyQuestion(secret, asked, token, NOW + 599_999)).toMatchObject({ late: false });
    expect(verifyQuestion(secret, asked, token, NOW + 600_000)).toMatchObject({ late: true });
  });

  it('carries what a correction and a hand-over need', () => {
    const more = { ...occasion, question: 'end', replaces: 7, to: 'dev:bea ä' } as const;
    const text = signQuestion(secret, asked, more, NOW);
    expect(verifyQuestion(secret, asked, text, NOW)).toEqual({ ...more, late: false });
    expect(occasionOf(text)).toEqual({ ...more, expires: NOW + 600_000 });
  });

  it.each([
    ['tenant', 'other'],
    ['subject', 'dev:ben'],
    ['step', 'outlet'],
    ['value', 42.1],
    ['value', '42.25'],
  ])('is not valid for another %s', (name, value) => {
    expect(verifyQuestion(secret, { ...asked, [name]: value }, token, NOW)).toBeUndefined();
  });

  it('is not valid under another tenant’s secret', () => {
    const other = secretsOf('a secret of the deployment, 32 or more')('other').confirmation;
    expect(verifyQuestion(other, asked, token, NOW)).toBeUndefined();
  });

  const [version, said, mac] = token.split('.') as [string, string, string];
  const of = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    ['', 'empty'],
    ['c2', 'without parts'],
    [`${version}.${said}`, 'without its signature'],
    [`c1.${said}.${mac}`, 'of another version'],
    [`c2.${of([0, NOW * 2, 'w1', 3, null, null])}.${mac}`, 'with a later expiry'],
    [`c2.${of([1, NOW + 600_000, 'w1', 3, null, null])}.${mac}`, 'of another question'],
    [`c2.${of([0, NOW + 600_000, 'w2', 3, null, null])}.${mac}`, 'of another workflow'],
    [`c2.${of([0, NOW + 600_000, 'w1', 4, null, null])}.${mac}`, 'of another basis'],
    [`c2.${of([9, NOW, 'w1', 3])}.${mac}`, 'of an unknown question'],
    [`c2.${of(['__proto__', NOW, 'w1', 3])}.${mac}`, 'of a prototype name'],
    [`c2.${of({ length: 6 })}.${mac}`, 'that is no list'],
    [`c2.${of(null)}.${mac}`, 'that is nothing'],
    [`c2.%%%.${mac}`, 'that is not encoded'],
    [`${version}.${said}.${mac.slice(0, 21)}`, 'with a shorter signature'],
    [`${token}.`, 'with another part'],
    [` ${token}`, 'with a space'],
  ])('%j, %s, is refused', (given, _what) => {
    expect(verifyQuestion(secret, asked, given, NOW)).toBeUndefined();
  });

  it.each([
    [`${version}.${said}`, 'without its signature'],
    [`c2.${of([9, NOW, 'w1', 3])}.${mac}`, 'of an unknown question'],
    [`c2.${of([0, '1', 'w1', 3])}.${mac}`, 'that never ends'],
    [`c2.${of([0, NOW, 1, 3])}.${mac}`, 'of no workflow'],
    [`c2.${of([0, NOW, 'w1', '3'])}.${mac}`, 'of no basis'],
    [`c2.${of({ length: 6 })}.${mac}`, 'that is no list'],
    [`c2.%%%.${mac}`, 'that is not encoded'],
  ])('%j, %s, is about nothing', (given, _what) => {
    expect(occasionOf(given)).toBeUndefined();
  });

  it('says text of any script, and leaves out what is not of its kind', () => {
    const text = `c2.${of([0, NOW, 'Ärger', 3, '7', 8])}.${mac}`;
    expect(occasionOf(text)).toEqual({ ...occasion, workflow: 'Ärger', expires: NOW });
  });
});

describe('secrets', () => {
  it('differ by tenant, purpose and deployment, and are the same every time', () => {
    const of = secretsOf('a secret of the deployment, 32 or more');
    const again = secretsOf('a secret of the deployment, 32 or more');
    const elsewhere = secretsOf('another secret of a deployment, 32 or more');
    const all = [of('a'), of('b'), elsewhere('a')].flatMap((one) => Object.values(one));
    expect(new Set(all).size).toBe(9);
    expect(again('a')).toEqual(of('a'));
  });

  it('are pinned: another derivation would void every digest and token there is', () => {
    const master = 'a secret of the deployment, 32 or more';
    expect(secretsOf(master)('acme')).toEqual({
      ledger: '5eba56cf11b63f73111be5a347fd9200285fd17c5bed3feb2aabcd8ffc87c1b8',
      cursor: 'be60608afd953679f1c2fe716681b2c6375d8bdd8d08586341bbee7abe9f5642',
      confirmation: 'b9cbc715052fd27a1a1ca0733f64ddf2fc13a1fca330da0228f2da499fa193cc',
    });
    expect(shortMac('secret', 'Köhler')).toBe('7tHOKO_gETf6dBYJ8WbjW-');
  });

  it('of at most 10,000 tenants are kept in memory', () => {
    const of = secretsOf('a secret of the deployment, 32 or more');
    const first = of('t0');
    for (let n = 1; n < 10_000; n++) of(`t${n}`);
    expect(of('t0')).toBe(first);
    of('t10000');
    expect(of('t0')).not.toBe(first);
    expect(of('t0')).toEqual(first);
  });
});
