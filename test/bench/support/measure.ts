// Samples to numbers. Medians and quantiles only: on a shared machine a mean measures the neighbours.

/** What a list of samples says; in the unit of the samples. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
}

/** The value below which the share `q` of the samples lies. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** The median. */
export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

/** Median and 99th percentile. */
export function spread(samples: readonly number[]): Spread {
  return { p50: median(samples), p99: quantile(samples, 0.99), count: samples.length };
}

/** Runs `work`, adds its milliseconds to `samples` and answers what it answered. */
export async function timed<T>(samples: number[], work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const value = await work();
  samples.push(performance.now() - from);
  return value;
}

/** Milliseconds as text, with as many digits as say something. */
export function ms(value: number): string {
  if (value >= 100) return `${value.toFixed(0)} ms`;
  return value >= 1 ? `${value.toFixed(2)} ms` : `${value.toFixed(3)} ms`;
}

/** A rate as text. */
export const perSecond = (value: number): string => `${value.toFixed(0)}/s`;

/** A ratio as text. */
export const times = (value: number): string => `${value.toFixed(2)}×`;

/** Bytes as text. */
export const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
