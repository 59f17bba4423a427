import { describe, expect, it } from '@jest/globals';
import { occasionOf, signQuestion, verifyQuestion } from '../../lib/core/confirmation.ts';
import { secretsOf } from '../../lib/core/secrets.ts';

const secret = secretsOf('a secret of the deployment, 32 or more')('acme').confirmation;
const asked = { tenant: 'acme', subject: 'dev:ana', step: 'inlet', value: 42 } as const;
const occasion = { question: 'value', workflow: 'w1', basis: 3, replaces: 2 } as const;
const NOW = 1_772_355_600_000;
const text = signQuestion(secret, asked, occasion, NOW);

describe('a signed question', () => {
  it('says what it is about, and not the value', () => {
    expect(occasionOf(text)).toEqual({ ...occasion, expires: NOW + 600_000 });
    expect(Buffer.from(text, 'base64url').toString()).not.toContain('42');
  });

  it('is short enough to be carried by an assistant', () => {
    expect(text).toMatch(/^c2\.[\w-]{20,80}\.[\w-]{22}$/);
  });

  it('is valid for what was asked until ten minutes have passed', () => {
    expect(verifyQuestion(secret, asked, text, NOW)).toEqual({ ...occasion, late: false });
    expect(verifyQuestion(secret, asked, text, NOW + 599_999)).toMatchObject({ late: false });
    expect(verifyQuestion(secret, asked, text, NOW + 600_000)).toMatchObject({ late: true });
  });

  it.each([
    ['tenant', 'other'],
    ['subject', 'dev:ben'],
    ['step', 'outlet'],
    ['value', 42.1],
    ['value', '42'],
  ])('is not valid for another %s', (name, value) => {
    expect(verifyQuestion(secret, { ...asked, [name]: value }, text, NOW)).toBeUndefined();
  });

  it('is not valid under another tenant’s secret', () => {
    const other = secretsOf('a secret of the deployment, 32 or more')('other').confirmation;
    expect(verifyQuestion(other, asked, text, NOW)).toBeUndefined();
  });

  const [version, payload, mac] = text.split('.') as [string, string, string];
  const forged = Buffer.from(
    Buffer.from(payload, 'base64url').toString().replace('"w1"', '"w2"'),
  ).toString('base64url');
  it.each([
    ['', 'empty'],
    ['c2', 'without parts'],
    [`${version}.${payload}`, 'without its signature'],
    [`c1.${payload}.${mac}`, 'of another version'],
    [`${version}.${forged}.${mac}`, 'about another workflow'],
    [`${version}.${payload}.${mac.slice(0, 21)}`, 'with a shorter signature'],
    [`${text}.`, 'with another part'],
    [` ${text}`, 'with a space'],
    [`c2.${Buffer.from('null').toString('base64url')}.${mac}`, 'with no list'],
    [`c2.${Buffer.from('[99,1,"w",1]').toString('base64url')}.${mac}`, 'with no question'],
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
    expect(new Set(all).size).toBe(all.length);
    expect(again('a')).toEqual(of('a'));
  });
});
