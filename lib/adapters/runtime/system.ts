// The clock and the randomness of a real process.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock, Random } from '../../core/ports/runtime.ts';

/** The wall clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => setTimeout(ms),
};

/** Cryptographic randomness. */
export const systemRandom: Random = {
  // 128 bits have at most 25 digits in base 36.
  id: () =>
    BigInt(`0x${randomBytes(16).toString('hex')}`)
      .toString(36)
      .padStart(26, '0'),
  key: () => randomBytes(32).toString('hex'),
  fraction: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};
