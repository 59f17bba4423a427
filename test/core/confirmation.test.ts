import { describe, expect, it } from '@jest/globals';
import { occasionOf, signQuestion, verifyQuestion } from '../../lib/core/confirmation.ts';
import { secretsOf } from '../../lib/core/secrets.ts';

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
});

describe('secrets', () => {
  it('differ by tenant, purpose and deployment, and are the same every time', () => {
    const of = secretsOf('a secret of the deployment, 32 or more');
    const again = secretsOf('a secret of the deployment, 32 or more');
    const elsewhere = secretsOf('another secret of a deployment, 32 or more');
    const all = [of('a'), of('b'), elsewhere('a')].flatMap((one) => Object.values(one));
    expect(new Set(all).size).toBe(6);
    expect(again('a')).toEqual(of('a'));
  });
});
