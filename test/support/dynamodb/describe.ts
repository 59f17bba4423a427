/** Tests that need an engine. */
import { describe, test } from '@jest/globals';
import { missingEngine } from './engine.ts';

/** Declares tests that need an engine: they fail where there is none, or are skipped with the reason. */
export function describeOnDynamo(name: string, cases: () => void): void {
  const missing = missingEngine();
  if (missing === undefined) {
    describe(name, cases);
  } else if (process.env['CHECKPOINT_TEST_WITHOUT_DYNAMODB'] === '1') {
    test.skip(`${name}: skipped, ${missing}`, () => undefined);
    process.stderr.write(`${name}: skipped, ${missing}\n`);
  } else {
    test(name, () => {
      throw new Error(`${missing}; CHECKPOINT_TEST_WITHOUT_DYNAMODB=1 skips these tests`);
    });
  }
}
