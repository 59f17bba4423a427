import { describe, expect, test } from '@jest/globals';
import { observationOf } from '../../../lib/core/evidence/observation.ts';

const called = {
  server: 'ops',
  tool: 'service_status',
  arguments: { service: 'payments' },
  definition: 'd',
  is_error: false,
};

describe('an observation', () => {
  test('keeps a short text whole, with its digest, marked as untrusted', () => {
    expect(observationOf(called, 'ok', 10)).toEqual({
      ...called,
      text: 'ok',
      bytes: 2,
      truncated: false,
      digest: '2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df',
      untrusted: true,
    });
  });

  test('keeps the digest and the length of all of a long one', () => {
    const long = observationOf(called, 'ab'.repeat(1_000), 5);
    expect([long.text, long.bytes, long.truncated]).toEqual(['ababa', 2_000, true]);
    expect(long.digest).toBe(observationOf(called, 'ab'.repeat(1_000), 10_000).digest);
    expect(long.digest).not.toBe(observationOf(called, 'ababa', 5).digest);
  });

  test('holds no half of a character pair', () => {
    expect(observationOf(called, 'a\uD800', 10).text).toBe('a\uFFFD');
  });
});
