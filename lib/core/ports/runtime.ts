// Time and randomness come in through these, so that decisions stay pure and tests exact.

/** The clock: epoch milliseconds, UTC. */
export interface Clock {
  now(): number;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
}

/** Randomness: identifiers, keys, and a number in [0, 1) for jitter. */
export interface Random {
  /** 26 characters of [0-9a-z], at least 120 random bits. */
  id(): string;
  /** 64 hex digits, 256 random bits. */
  key(): string;
  fraction(): number;
}
