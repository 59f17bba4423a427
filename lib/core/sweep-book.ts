// What both backends' books of sweeps share: how their rows are named within a day, and sums by rule.
import { encodeKeyPart } from './keys.ts';
import type { RuleCount } from './ports/sweeps.ts';

/** A shard in a row's name, so that names are in the order of shards. */
const shardText = (shard: number): string => String(shard).padStart(4, '0');

/** Names of rows within a day: all of a kind begin with its prefix. */
export const SWEEP_PART = {
  shards: 'S#',
  shard: (shard: number): string => `S#${shardText(shard)}`,
  counts: (tenant: string): string => `C#${encodeKeyPart(tenant)}#`,
  countsOf: (tenant: string, shard: number): string =>
    `${SWEEP_PART.counts(tenant)}${shardText(shard)}`,
  findings: (tenant: string): string => `F#${encodeKeyPart(tenant)}#`,
  findingsAt: (tenant: string, at: string, shard: number): string =>
    `${SWEEP_PART.findings(tenant)}${at}#${shardText(shard)}`,
} as const;

/** Counts of several shards or sweeps together, by rule. */
export function summed(counts: readonly RuleCount[]): readonly RuleCount[] {
  const byRule = [...Map.groupBy(counts, ({ rule }) => rule)];
  const sum = (of: readonly RuleCount[], name: 'found' | 'repaired'): number =>
    of.reduce((total, each) => total + each[name], 0);
  return byRule
    .map(([rule, of]) => ({ rule, found: sum(of, 'found'), repaired: sum(of, 'repaired') }))
    .toSorted((a, b) => (a.rule < b.rule ? -1 : 1));
}
