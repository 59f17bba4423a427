// What is measured with which tests: only fast ones of the core, so that a part takes minutes.
import { matchesGlob } from 'node:path';

/** Per cent of the mutants that the tests must notice. */
export const TARGET = 90;

/** Files to change and the test files that must notice. */
export interface Part {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

/** The parts by name. */
export const PARTS: Readonly<Record<string, Part>> = {
  digest: {
    mutate: [
      'lib/core/canonical.ts',
      'lib/core/events.ts',
      'lib/core/confirmation.ts',
      'lib/core/secrets.ts',
    ],
    tests: [
      'test/core/canonical.test.ts',
      'test/core/events.test.ts',
      'test/core/confirmation.test.ts',
    ],
  },
  ledger: {
    mutate: ['lib/core/ledger.ts', 'lib/core/service/repeats.ts'],
    tests: ['test/core/ledger.test.ts', 'test/core/service/*.test.ts'],
  },
  plan: {
    mutate: ['lib/core/plan.ts', 'lib/core/check-transaction.ts'],
    tests: ['test/core/plan.test.ts', 'test/core/check-transaction.test.ts'],
  },
  decide: {
    mutate: ['lib/core/decide/*.ts'],
    tests: ['test/core/decide/*.test.ts'],
  },
};

/** A part by its name, or one file with the tests of its part. */
export function partOf(name: string): Part | undefined {
  if (Object.hasOwn(PARTS, name)) return PARTS[name];
  const part = Object.values(PARTS).find(({ mutate }) =>
    mutate.some((glob) => matchesGlob(name, glob)),
  );
  return part && { ...part, mutate: [name] };
}
