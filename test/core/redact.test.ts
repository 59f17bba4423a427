import { describe, expect, it } from '@jest/globals';
import { commitment, redact } from '../../lib/core/redact.ts';

describe('redaction', () => {
  it.each([
    'authorization',
    'Authorization',
    'cookie',
    'token',
    'confirmation',
    'confirmation_token',
    'secret',
    'password',
    'idempotency_key',
    'text',
    'value',
    'reading',
    'reason',
  ])('masks %s wherever it stands', (name) => {
    const line = redact({ msg: 'm', call: { args: [{ [name]: 'Köhler 4711' }] } });
    expect(line).toEqual({ msg: 'm', call: { args: [{ [name]: '[redacted]' }] } });
  });

  it('keeps what is needed to find a fault', () => {
    const line = {
      code: 'ASSET_BUSY',
      status: 200,
      workflow: 'w1',
      step: 'inlet',
      ok: true,
      none: null,
    };
    expect(redact(line)).toEqual(line);
  });

  it('ends on values that refer to themselves', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(JSON.stringify(redact(loop))).toContain('[deep]');
  });
});

describe('a commitment', () => {
  it('is the same for the same key and value, and for nothing else', () => {
    const key = 'ab'.repeat(32);
    expect(commitment(key, 'one')).toBe(commitment(key, 'one'));
    expect(commitment(key, 'one')).toMatch(/^[0-9a-f]{64}$/);
    const others = [
      commitment(key, 'two'),
      commitment('cd'.repeat(32), 'one'),
      commitment(key, ['one']),
    ];
    expect(new Set([commitment(key, 'one'), ...others]).size).toBe(4);
  });
});
