// The keys of lists of chain heads: Ed25519, so that whoever verifies a list needs no secret. A public key
// is named by its fingerprint, which is what is pinned.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';

/** Signs lists of heads. */
export interface HeadsSigner {
  /** The public key: base64 of its SubjectPublicKeyInfo in DER. */
  readonly publicKey: string;
  /** A signature of a text in UTF-8, in base64. */
  sign(text: string): string;
}

/** What stands before the 32 bytes of a private key in DER. Source: RFC 8410, section 7. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The signer whose key comes from a secret (at least 32 characters): the same secret, the same key.
 * Source: RFC 5869, RFC 8032.
 */
export function headsSigner(secret: string): HeadsSigner {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'checkpoint:heads', 32));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = derOf(createPublicKey(key)).toString('base64');
  return {
    publicKey,
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), key).toString('base64'),
  };
}

/** The fingerprint of a public key in base64: SHA-256 of its DER, in lower-case hex. */
export function headsFingerprint(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex');
}

/** A public key in PEM. */
export function headsKeyPem(publicKey: string): string {
  const key = keyOf(publicKey);
  if (key === undefined) throw new Error('this is no public key of Ed25519');
  return key.export({ format: 'pem', type: 'spki' }).toString();
}

/** The public key, in base64, of a text that holds one in PEM; undefined for any other text. */
export function headsKeyIn(pem: string): string | undefined {
  const [block] = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/.exec(pem) ?? [];
  if (block === undefined) return undefined;
  try {
    const key = createPublicKey(block);
    return key.asymmetricKeyType === 'ed25519' ? derOf(key).toString('base64') : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text was signed under a public key; also false for what is no key and no signature. */
export function isSignedUnder(publicKey: string, text: string, signature: string): boolean {
  const key = keyOf(publicKey);
  if (key === undefined) return false;
  return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature, 'base64'));
}

function keyOf(publicKey: string): KeyObject | undefined {
  try {
    const der = Buffer.from(publicKey, 'base64');
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

const derOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' });
