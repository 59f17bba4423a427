import { describe, expect, it } from '@jest/globals';
import {
  headsFingerprint,
  headsKeyIn,
  headsKeyPem,
  headsSigner,
  isSignedUnder,
} from '../../lib/core/trail/heads-key.ts';

const SECRET = 'a secret of the deployment, 32 or more';
const signer = headsSigner(SECRET);
const { publicKey } = signer;

describe('the key of lists of heads', () => {
  it('is pinned: another derivation would make every list one of somebody else', () => {
    expect(headsFingerprint(publicKey)).toBe(
      '4788b10a795940d554e2873e63fa273fdb1f987ead375b1b117d89c78c53c2eb',
    );
    expect(headsSigner(SECRET).publicKey).toBe(publicKey);
    expect(headsSigner(`${SECRET}!`).publicKey).not.toBe(publicKey);
  });

  it('signs a text for whoever has its public half', () => {
    const signature = signer.sign('text');
    expect(isSignedUnder(publicKey, 'text', signature)).toBe(true);
    expect(isSignedUnder(publicKey, 'texts', signature)).toBe(false);
    expect(isSignedUnder(headsSigner(`${SECRET}!`).publicKey, 'text', signature)).toBe(false);
  });

  it.each(['', 'AAAA', Buffer.alloc(64).toString('base64')])('no text is signed by %j', (text) => {
    expect(isSignedUnder(publicKey, 'text', text)).toBe(false);
  });

  it.each(['', 'AAAA', Buffer.alloc(44).toString('base64')])('%j is no public key', (text) => {
    expect(isSignedUnder(text, 'text', signer.sign('text'))).toBe(false);
    expect(() => headsKeyPem(text)).toThrow('this is no public key of Ed25519');
  });

  it('comes back from PEM, also with words around it', () => {
    expect(headsKeyIn(`Fingerprint x\r\n${headsKeyPem(publicKey)}\n`)).toBe(publicKey);
    expect(headsKeyIn('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----')).toBe(
      undefined,
    );
  });
});
