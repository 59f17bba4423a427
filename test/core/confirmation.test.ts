import { describe, expect, it } from '@jest/globals';
import { checkConfirmation, signConfirmation } from '../../lib/core/confirmation.ts';
import { secretsOf } from '../../lib/core/secrets.ts';

const secret = secretsOf('a secret of the deployment, 32 or more')('acme').confirmation;
const binding = {
  tenant: 'acme',
  subject: 'dev:ana',
  workflow: 'w1',
  step: 'inlet',
  value: 42,
  basis: 3,
} as const;
const NOW = 1_772_355_600_000;
const token = signConfirmation(secret, binding, NOW);

describe('a confirmation', () => {
  it('is short enough to be carried by an assistant and holds no value', () => {
    expect(token).toMatch(/^c1\.[0-9a-z]{8}\.[\w-]{22}$/);
    expect(token).not.toContain('42');
  });

  it('is valid for its binding until ten minutes have passed', () => {
    expect(checkConfirmation(secret, binding, token, NOW)).toBe('valid');
    expect(checkConfirmation(secret, binding, token, NOW + 599_999)).toBe('valid');
    expect(checkConfirmation(secret, binding, token, NOW + 600_000)).toBe('expired');
  });

  it.each([
    ['tenant', 'other'],
    ['subject', 'dev:ben'],
    ['workflow', 'w2'],
    ['step', 'outlet'],
    ['value', 42.1],
    ['value', '42'],
    ['basis', 4],
  ])('is not valid for another %s', (name, value) => {
    expect(checkConfirmation(secret, { ...binding, [name]: value }, token, NOW)).toBe('mismatch');
  });

  it('is not valid under another tenant’s secret', () => {
    const other = secretsOf('a secret of the deployment, 32 or more')('other').confirmation;
    expect(checkConfirmation(other, binding, token, NOW)).toBe('mismatch');
  });

  const [version, expires, mac] = token.split('.') as [string, string, string];
  it.each([
    ['', 'empty'],
    ['c1', 'without parts'],
    [`${version}.${expires}`, 'without its signature'],
    [`c2.${expires}.${mac}`, 'of another version'],
    [`${version}.zzzzzzzz.${mac}`, 'with a later expiry'],
    [`${version}.${expires}.${mac.slice(0, 21)}`, 'with a shorter signature'],
    [`${token}.`, 'with another part'],
    [` ${token}`, 'with a space'],
  ])('%j, %s, is refused', (given, _what) => {
    expect(checkConfirmation(secret, binding, given, NOW)).toBe('mismatch');
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
