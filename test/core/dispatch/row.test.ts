import { describe, expect, it } from '@jest/globals';
import {
  afterFailure,
  behindHead,
  delivered,
  DELIVERY,
  nextFor,
  redriven,
} from '../../../lib/core/dispatch/row.ts';
import { outboxOf } from '../../support/plans.ts';

const NOW = 1_000_000;
const row = outboxOf({ tenant: 'acme' }, { rev: 7, due_at: NOW + 5_000 });
const key = { kind: 'outbox', tenant: 'acme', workflow: 'w1', lane: 'notify:log', seq: 1 };
const parked_at = new Date(NOW).toISOString();
const claim = (until: number) => ({ by: 'other', until });

describe('the head of a lane', () => {
  it.each([
    ['was never tried, though its time has not come', {}, 'claim'],
    ['was tried and is due', { attempts: 1, due_at: NOW }, 'claim'],
    ['was tried and is not due yet', { attempts: 1, due_at: NOW + 1 }, 'wait'],
    ['is claimed', { attempts: 1, due_at: 0, claim: claim(NOW + 1) }, 'wait'],
    ['was claimed by somebody who died', { attempts: 1, due_at: 0, claim: claim(NOW) }, 'claim'],
    ['was claimed by a clock days ahead', { due_at: 0, claim: claim(NOW + 864e5) }, 'claim'],
    ['is claimed by a clock a little ahead', { due_at: 0, claim: claim(NOW + 149_000) }, 'wait'],
    ['was put off by a clock days ahead', { attempts: 1, due_at: NOW + 864e5 }, 'claim'],
    ['has one attempt left', { attempts: DELIVERY.attempts - 1, due_at: 0 }, 'claim'],
    ['has no attempt left', { attempts: DELIVERY.attempts, due_at: 0 }, 'park'],
  ])('that %s', (_what, part, expected) => {
    expect(nextFor({ ...row, ...part }, NOW, 'me').do).toBe(expected);
  });

  it('waits for its claimer, or for its time', () => {
    expect(nextFor({ ...row, claim: claim(NOW + 9) }, NOW, 'me')).toEqual({
      do: 'wait',
      for: 'claimer',
      until: NOW + 9,
    });
    expect(nextFor({ ...row, attempts: 2 }, NOW, 'me')).toEqual({
      do: 'wait',
      for: 'due_time',
      until: NOW + 5_000,
    });
  });

  it('is claimed with the attempt counted, and its time is left alone', () => {
    const set = { claim: { by: 'me', until: NOW + DELIVERY.claimMs }, attempts: 1, rev: 8 };
    expect(nextFor(row, NOW, 'me')).toEqual({
      do: 'claim',
      row: { ...row, ...set },
      write: { op: 'update', key, expect: { rev: 7 }, set },
    });
  });

  it.each([
    ['its last error', 'HTTP 503', 'HTTP 503'],
    ['that no attempt ended', undefined, 'no attempt to deliver it came to an end'],
  ])('is parked with %s, and no claim stays', (_what, error, told) => {
    const tried = { ...row, attempts: DELIVERY.attempts, due_at: 0, claim: claim(0) };
    const next = nextFor({ ...tried, ...(error !== undefined && { error }) }, NOW, 'me');
    expect(next).toMatchObject({
      do: 'park',
      write: {
        op: 'update',
        expect: { rev: 7 },
        set: { parked_at, error: told, rev: 8 },
        remove: ['claim'],
      },
    });
  });
});

describe('a claimed row', () => {
  const claimed = { ...row, attempts: 3, claim: claim(NOW + 9) };

  it('leaves on the revision of its claim once it is delivered', () => {
    expect(delivered(claimed)).toEqual({ op: 'delete', key, expect: { rev: 7 } });
  });

  it.each([
    [0, undefined, 0],
    [0.5, undefined, 4_000],
    [0.999_999, undefined, 8_000],
    [0.5, 60_000, 60_000],
    [0.5, DELIVERY.longestPauseMs * 2, DELIVERY.longestPauseMs],
  ])('with jitter %d and a pause of %p that was asked for is due %d ms later', (f, ask, pause) => {
    const failure = {
      kind: 'unknown',
      message: 'no answer',
      ...(ask !== undefined && { retryAfterMs: ask }),
    } as const;
    const { row: after, write } = afterFailure(claimed, failure, NOW, f);
    expect(after).toEqual({ ...row, attempts: 3, due_at: NOW + pause, error: 'no answer', rev: 8 });
    expect(write).toEqual({
      op: 'update',
      key,
      expect: { rev: 7 },
      set: { due_at: NOW + pause, error: 'no answer', rev: 8 },
      remove: ['claim'],
    });
  });

  it('waits at most half an hour, however often it failed', () => {
    const tried = { ...claimed, attempts: DELIVERY.attempts - 1 };
    const failure = { kind: 'retryable', message: 'x' } as const;
    expect(afterFailure(tried, failure, NOW, 1).row.due_at).toBe(NOW + 1_800_000);
  });

  it.each([
    ['refused for good', { ...claimed }, 'terminal' as const],
    ['failed for the last time', { ...claimed, attempts: DELIVERY.attempts }, 'retryable' as const],
  ])('that was %s is parked', (_what, tried, kind) => {
    const { row: after, write } = afterFailure(tried, { kind, message: 'HTTP 410' }, NOW, 0.5);
    expect(after).toMatchObject({ parked_at, error: 'HTTP 410', rev: 8 });
    expect(after).not.toHaveProperty('claim');
    expect(write).toMatchObject({ set: { parked_at }, remove: ['claim'] });
  });

  it('keeps of an error what a screen shows', () => {
    const failure = { kind: 'retryable', message: '🔧'.repeat(400) } as const;
    const { error = '' } = afterFailure(claimed, failure, NOW, 0).row;
    expect([...error]).toHaveLength(DELIVERY.errorChars);
  });
});

it('a row behind a head is due with it, and nothing else of it changes', () => {
  expect(behindHead(row, NOW + 9)).toEqual({
    row: { ...row, due_at: NOW + 9, rev: 8 },
    write: { op: 'update', key, expect: { rev: 7 }, set: { due_at: NOW + 9, rev: 8 } },
  });
});

it('a row that is sent again starts from its first attempt, without its error', () => {
  const parked = { ...row, attempts: 20, parked_at, error: 'HTTP 410' };
  expect(redriven(parked, NOW)).toEqual({
    row: { ...row, attempts: 0, due_at: NOW, rev: 8 },
    write: {
      op: 'update',
      key,
      expect: { rev: 7 },
      set: { attempts: 0, due_at: NOW, rev: 8 },
      remove: ['parked_at', 'error'],
    },
  });
});

it('a row that is sent again loses only what it has', () => {
  expect(redriven({ ...row, attempts: 20, parked_at }, NOW).write).toMatchObject({
    remove: ['parked_at'],
  });
  expect(redriven(row, NOW).write).not.toHaveProperty('remove');
});
