// What the service asks for, in one place. Source: https://aws.amazon.com/dynamodb/pricing/on-demand/,
// read in November 2026; these prices hold since November 2024.
import type { MeteredCall } from '../../support/dynamodb/meter.ts';

/** US dollars for a million request units of a table that is paid per request. */
export const PRICES = {
  region: 'us-east-1',
  since: '2024-11',
  writeUnits: 0.625,
  readUnits: 0.125,
} as const;

/** US dollars for doing the calls a thousand times. */
export function dollarsPerThousand(calls: readonly MeteredCall[]): number {
  const millionths = calls.reduce(
    (sum, { readUnits, writeUnits }) =>
      sum + readUnits * PRICES.readUnits + writeUnits * PRICES.writeUnits,
    0,
  );
  return millionths / 1_000;
}
