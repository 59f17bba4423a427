// Canonical JSON and digests: the one door to RFC 8785 and to hashing.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import { checkJson } from './json.ts';

/**
 * The RFC 8785 text of a value. Members that are undefined are left out, -0 is written as 0.
 * Throws `JsonFault` for whatever JSON cannot say (dates, maps, NaN, lone surrogates, holes) and for
 * integers beyond 2^53 - 1. Source: RFC 8785.
 */
export function canonicalJson(value: unknown): string {
  checkJson(value);
  // The check refuses every input for which the library would answer undefined.
  return canonicalize(value) as string;
}

/** SHA-256 of UTF-8 text as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** SHA-256 of a value's canonical JSON, 64 lower-case hex digits. */
export function canonicalHash(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

/** HMAC-SHA-256 of a value's canonical JSON under a secret, 64 lower-case hex digits. */
export function canonicalMac(secret: string, value: unknown): string {
  return createHmac('sha256', secret).update(canonicalJson(value)).digest('hex');
}

/** Compares two digests in constant time; digests of different length differ. */
export function sameDigest(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
