/** Observers that write nothing: what a function tells of itself, for tests to look at. */
import { jest } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { createObservers, type Observers } from '../../../lib/lambda/observers.ts';

/** The observers, and what went into them. */
export interface Observed {
  readonly observers: Observers;
  /** Log lines as text. */
  readonly lines: readonly string[];
  /** What a metric adds up to over all calls. */
  readonly metric: (name: string) => number;
}

/** Builds them. Metrics are taken where they would be written. */
export function observed(): Observed {
  const lines: string[] = [];
  const metrics: string[] = [];
  const observers = createObservers();
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    jest.spyOn(observers.logger, level).mockImplementation((...told: unknown[]) => {
      lines.push(JSON.stringify([level, ...told]));
    });
  }
  jest.spyOn(console, 'log').mockImplementation((line: unknown) => {
    metrics.push(String(line));
  });
  jest.spyOn(observers.metrics, 'publishStoredMetrics').mockImplementation(() => {
    metrics.push(JSON.stringify(observers.metrics.serializeMetrics()));
    observers.metrics.clearMetrics();
    return observers.metrics;
  });
  return {
    observers,
    lines,
    metric: (name) =>
      metrics
        .flatMap((line) => [(JSON.parse(line) as { [name: string]: unknown })[name] ?? 0].flat())
        .reduce((sum: number, value) => sum + Number(value), 0),
  };
}

/** The context of one call. */
export function lambdaContext(remainingMs = 60_000): Context {
  const endsAt = Date.now() + remainingMs;
  return {
    awsRequestId: 'request',
    functionName: 'function',
    getRemainingTimeInMillis: () => endsAt - Date.now(),
  } as unknown as Context;
}
