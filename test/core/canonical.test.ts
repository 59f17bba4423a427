import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import canonicalize from 'canonicalize';
import {
  canonicalHash,
  canonicalJson,
  canonicalMac,
  sameDigest,
  sha256Hex,
} from '../../lib/core/canonical.ts';
import { JsonFault, parseJson } from '../../lib/core/json.ts';

interface Vector {
  readonly name: string;
  readonly input_json_text: string;
  readonly canonical_text?: string;
  readonly sha256?: string;
  readonly error?: string;
  readonly strict_policy?: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('./jcs-vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[];

/** Where a vector offers the stricter choice, these are the ones taken differently on purpose. */
const TAKEN_LENIENTLY: Readonly<Record<string, string>> = {
  'number-minus-zero-nested': '-0 is written as 0 everywhere',
  'keys-proto-first': 'an ordinary member name; unknown fields are refused by schemas',
  'keys-proto-as-value': 'an ordinary member name; unknown fields are refused by schemas',
  'string-noncharacter': 'kept: it is text like any other',
  'text-error-bom': 'dropped once in front of a text, never hashed',
};

const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof JsonFault) return error.code;
    throw error;
  }
  return 'accepted';
};

describe('the published vectors', () => {
  const accepted = vectors.filter(({ canonical_text }) => canonical_text !== undefined);
  const refused = vectors.filter(({ canonical_text }) => canonical_text === undefined);

  it('are all here', () => {
    expect(vectors).toHaveLength(88);
    expect([accepted.length, refused.length]).toEqual([57, 31]);
  });

  it.each(accepted)('$name has one canonical text and digest', (vector) => {
    const text = canonicalize(JSON.parse(vector.input_json_text)) ?? '';
    expect(text).toBe(vector.canonical_text);
    expect(sha256Hex(text)).toBe(vector.sha256);
    const strict = vector.strict_policy !== undefined && !(vector.name in TAKEN_LENIENTLY);
    if (strict) expect(codeOf(() => parseJson(vector.input_json_text))).toBe('NUMBER_OUT_OF_RANGE');
    else expect(canonicalJson(parseJson(vector.input_json_text))).toBe(vector.canonical_text);
  });

  it.each(refused)('$name is refused', (vector) => {
    if (vector.name in TAKEN_LENIENTLY) {
      expect(canonicalHash(parseJson(vector.input_json_text))).toBe(canonicalHash({ a: 1 }));
    } else expect(codeOf(() => parseJson(vector.input_json_text))).toBe(vector.error);
  });
});

describe('canonicalJson', () => {
  it('orders members by code unit under every locale', () => {
    const script = `
      const { canonicalHash, canonicalJson } = await import('./lib/core/canonical.ts');
      console.log(canonicalJson({ ä: 1, z: 2, Z: 3 }), canonicalHash({ ä: 1, z: 2, Z: 3 }));`;
    const run = (LANG: string): string =>
      execFileSync('node_modules/.bin/node', ['--input-type=module', '-e', script], {
        env: { PATH: process.env['PATH'], LANG, LC_ALL: LANG },
        encoding: 'utf8',
      });
    expect(run('sv_SE.UTF-8')).toBe(run('C'));
    expect(run('C').split(' ')[0]).toBe('{"Z":3,"z":2,"ä":1}');
  });

  it('writes -0, 0.0 and 0e1 as 0', () => {
    expect(canonicalJson([-0, 0])).toBe('[0,0]');
    expect(canonicalJson(parseJson('[-0,0.0,0e1,-0.0]'))).toBe('[0,0,0,0]');
  });

  it('writes 1, 1.0 and 1e0 alike', () => {
    const texts = ['{"value":1.0}', '{"value":1}', '{"value":1e0}'];
    expect(new Set(texts.map((text) => canonicalHash(parseJson(text)))).size).toBe(1);
  });

  it('leaves undefined members out and keeps null', () => {
    const without = canonicalHash({ asset: 'PUMP-07' });
    expect(canonicalHash({ asset: 'PUMP-07', note: undefined })).toBe(without);
    expect(canonicalHash({ asset: 'PUMP-07', note: null })).not.toBe(without);
  });

  it('keeps composed and decomposed accents apart', () => {
    expect(canonicalHash('caf\u00e9')).not.toBe(canonicalHash('cafe\u0301'));
  });

  it('covers a member called __proto__ in any place', () => {
    const first = canonicalHash(parseJson('{"__proto__":{"role":"admin"},"asset":"PUMP-07"}'));
    const last = canonicalHash(parseJson('{"asset":"PUMP-07","__proto__":{"role":"admin"}}'));
    expect(first).toBe(last);
    expect(first).not.toBe(canonicalHash({ asset: 'PUMP-07' }));
  });

  it.each([
    ['a date', { at: new Date(0) }],
    ['a map', { m: new Map() }],
    ['NaN', { v: Number.NaN }],
    ['infinity', { v: Infinity }],
    ['half a character pair as a name', { meta: { '\uDEAD': 1 } }],
  ])('refuses %s and never folds it into another value', (_name, value) => {
    expect(codeOf(() => canonicalHash(value))).not.toBe('accepted');
  });
});

describe('canonicalMac', () => {
  it('is the HMAC-SHA-256 of the canonical UTF-8 text in lower-case hex', () => {
    expect(canonicalMac('Schlüssel', { b: 2, a: 'ä' })).toBe(
      '22f4fb768382965efe4934bab6a4fb73dd63cfd5e2f03e0d63f88aae09432e4f',
    );
  });
});

describe('sameDigest', () => {
  it('compares all of both digests', () => {
    const digest = canonicalHash(1);
    expect(sameDigest(digest, digest)).toBe(true);
    expect(sameDigest(digest, digest.slice(0, 8))).toBe(false);
    expect(sameDigest(digest, `${digest.slice(0, 63)}x`)).toBe(false);
  });
});
