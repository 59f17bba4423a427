// What a function tells of itself: log lines and metrics, by powertools. One per process.
// Invariant: neither holds a token, a body, a value of a step, or the message of a foreign error.
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import type { OnDelivery } from '../core/dispatch/dispatcher.ts';
import type { Finding } from '../core/reconcile/rules.ts';
import { toldError } from '../core/told-error.ts';
import type { OnFault } from '../core/service/service.ts';
import { METRIC_DIMENSIONS, METRIC_NAMESPACE, METRICS } from '../settings/metric-names.ts';
import type { Settings } from '../settings.ts';
import type { OnToolCall } from '../surface/mcp/tool.ts';
import type { Log } from '../surface/request-line.ts';

/** Takes what happens in a function. The name of its service comes from the environment. */
export interface Observers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly onFault: OnFault;
  readonly onToolCall: OnToolCall;
  readonly onDelivery: OnDelivery;
  readonly onFinding: (finding: Finding) => void;
  /** Counts one of something, or several. */
  readonly count: (what: Counted, many?: number) => void;
  /** Tells how long the oldest thing waits, in milliseconds. */
  readonly waiting: (ms: number) => void;
  readonly setLogLevel: (level: Settings['logLevel']) => void;
}

/** What is counted by ones. */
export type Counted = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['unit'] extends 'Count' ? Name : never;
}[keyof typeof METRICS];

const LEVELS = { fatal: 'CRITICAL', trace: 'TRACE', silent: 'SILENT' } as const;

/** Builds them. */
export function createObservers(): Observers {
  const logger = new Logger();
  // Its own remarks, such as that there was nothing to count, are no log lines of ours.
  const silent = (): void => undefined;
  const metrics = new Metrics({
    namespace: METRIC_NAMESPACE,
    logger: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const count = (what: Counted, many = 1): void => {
    const { name, unit } = METRICS[what];
    metrics.addMetric(name, unit, many);
  };
  const waiting = (ms: number): void => {
    const { name, unit } = METRICS.oldestWaiting;
    metrics.addMetric(name, unit, ms);
  };
  return {
    logger,
    metrics,
    count,
    log: ({ level, msg, err, ...fields }) => {
      logger[level](msg, { ...fields, ...(err !== undefined && { err: toldError(err) }) });
    },
    onFault: (fault, operation, requestId) => {
      const { code, kind } = fault;
      const told = { request_id: requestId, operation, code, kind, err: toldError(fault) };
      logger.warn('unavailable', told);
      count('faults');
    },
    onToolCall: ({ tool, code, duplicate, ms }) => {
      const { name, unit } = METRICS.toolLatency;
      metrics.addMetric(name, unit, ms);
      metrics.singleMetric().addDimension(METRIC_DIMENSIONS.tool, tool).addMetric(name, unit, ms);
      if (duplicate) count('duplicates');
      if (code === 'IDEMPOTENCY_CONFLICT') count('conflicts');
      if (code === 'ASSET_BUSY') count('lockContention');
    },
    onDelivery: ({ id, lane, workflow, attempts, payload }, result, failure) => {
      count(result);
      const { at } = payload;
      const ageMs = typeof at === 'string' ? Date.now() - Date.parse(at) : Number.NaN;
      if (result === 'delivered' && ageMs >= 0) {
        const { name, unit } = METRICS.deliveryAge;
        metrics.addMetric(name, unit, ageMs);
      }
      if (result === 'failed' && ageMs >= 0) waiting(ageMs);
      const told = { notification: id, lane, workflow, attempts, result };
      if (result === 'delivered') logger.debug('delivery', told);
      else logger.warn('delivery failed', { ...told, why: failure?.message });
    },
    onFinding: (finding) => {
      const { rule, repaired } = finding;
      if (repaired && rule === 'R6') {
        count('overdue');
        logger.info('tick', { ...finding });
        return;
      }
      count(repaired ? 'repairs' : 'drift');
      if (finding.broken === true) count('brokenTrails');
      logger.warn(repaired ? 'drift repaired' : 'drift found', { ...finding });
    },
    waiting,
    setLogLevel: (level) => {
      const known: Readonly<Record<string, (typeof LEVELS)[keyof typeof LEVELS]>> = LEVELS;
      logger.setLogLevel(
        known[level] ?? (level.toUpperCase() as 'ERROR' | 'WARN' | 'INFO' | 'DEBUG'),
      );
    },
  };
}
