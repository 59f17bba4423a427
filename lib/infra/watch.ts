/** Alarms and the dashboard of a stage, from the table of alarms. */
import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  MathExpression,
  Metric,
  TreatMissingData,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import {
  METRIC_DIMENSIONS,
  METRIC_NAMESPACE,
  METRICS,
  serviceName,
  type FunctionName,
} from '../settings/metric-names.ts';
import type { Settings } from '../settings.ts';
import { ALARMS, type AlarmRow, type Watched } from './alarm-table.ts';
import type { Reconciler } from './reconciler.ts';
import type { Relay } from './relay.ts';
import type { Runs } from './runs.ts';
import type { Stage } from './stages.ts';

/** What is watched. */
export interface WatchProps {
  readonly stage: Stage;
  readonly settings: Pick<Settings, 'alarmTopicArn'>;
  readonly http: IFunction;
  readonly relay: Pick<Relay, 'lambda' | 'failed'>;
  readonly reconciler: Pick<Reconciler, 'lambda' | 'stateMachine'>;
  readonly runs: Pick<Runs, 'lambda' | 'stateMachine'>;
}

const COMPARISON = {
  at_or_above: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  below: ComparisonOperator.LESS_THAN_THRESHOLD,
} as const;
const SILENCE = {
  well: TreatMissingData.NOT_BREACHING,
  trouble: TreatMissingData.BREACHING,
} as const;

/** What stands on the dashboard below the alarms. */
const GRAPHS: readonly (readonly [
  string,
  readonly (readonly [keyof typeof METRICS, FunctionName])[],
])[] = [
  [
    'Commands',
    [
      ['duplicates', 'http'],
      ['conflicts', 'http'],
      ['lockContention', 'http'],
      ['faults', 'http'],
    ],
  ],
  [
    'Errors and starts',
    [
      ['serverErrors', 'http'],
      ['timeouts', 'http'],
      ['failedStarts', 'http'],
    ],
  ],
  [
    'Notifications',
    [
      ['delivered', 'relay'],
      ['delivered', 'reconcile'],
      ['failed', 'reconcile'],
      ['parked', 'reconcile'],
    ],
  ],
  [
    'Runs',
    [
      ['faults', 'run'],
      ['failedStarts', 'run'],
    ],
  ],
  [
    'Reconciler',
    [
      ['sweeps', 'reconcile'],
      ['repairs', 'reconcile'],
      ['drift', 'reconcile'],
      ['leasesLost', 'reconcile'],
    ],
  ],
];

/** Watches a stage. */
export class Watch extends Construct {
  constructor(scope: Construct, id: string, props: WatchProps) {
    super(scope, id);
    const { alarmTopicArn } = props.settings;
    const action =
      alarmTopicArn === undefined
        ? undefined
        : new SnsAction(Topic.fromTopicArn(this, 'Told', alarmTopicArn));
    const alarms = Object.entries<AlarmRow>(ALARMS).map(([name, row]) => {
      const alarm = new Alarm(this, name, {
        alarmDescription: `${row.says} What to do: docs/runbooks/${row.page}.md`,
        metric: metricOf(row.watches, Duration.minutes(row.periodMinutes), props),
        threshold: row.threshold,
        comparisonOperator: COMPARISON[row.rings],
        evaluationPeriods: row.periods.of,
        datapointsToAlarm: row.periods.past,
        treatMissingData: SILENCE[row.silence],
      });
      if (action !== undefined) {
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
      }
      return [name, alarm] as const;
    });
    const period = Duration.minutes(5);
    new Dashboard(this, 'Dashboard', {
      widgets: [
        ...rows(alarms.map(([title, alarm]) => new AlarmWidget({ title, alarm, width: 6 }))),
        GRAPHS.map(
          ([title, metrics]) =>
            new GraphWidget({
              title,
              width: 6,
              left: metrics.map(([metric, of]) => own(metric, of, 'Sum', period, props.stage)),
            }),
        ),
      ],
    });
  }
}

function metricOf(
  watched: Watched,
  period: Duration,
  { stage, http, relay, reconciler, runs }: WatchProps,
): IMetric {
  if ('metric' in watched) {
    const { metric, of, statistic } = watched;
    return summed(
      of.map((name) => own(metric, name, statistic, period, stage)),
      period,
    );
  }
  const each = { period, statistic: 'Sum' } as const;
  switch (watched.platform) {
    // Some faults no state can catch, so executions themselves are watched.
    case 'failedExecutions':
      return unfinished(reconciler, each);
    case 'unfinishedRuns':
      return unfinished(runs, each);
    case 'throttles': {
      const functions = [http, relay.lambda, reconciler.lambda, runs.lambda];
      return summed(
        functions.map((one) => one.metricThrottles(each)),
        period,
      );
    }
    case 'failedBatches':
      return relay.failed.metricApproximateNumberOfMessagesVisible({
        period,
        statistic: 'Maximum',
      });
  }
}

/** Executions that failed or ran out of time. */
function unfinished(
  { stateMachine }: Pick<Runs, 'stateMachine'>,
  each: { readonly period: Duration; readonly statistic: string },
): IMetric {
  return summed([stateMachine.metricFailed(each), stateMachine.metricTimedOut(each)], each.period);
}

/** A metric of ours, under the very name and dimension that the functions emit it with. */
function own(
  metric: keyof typeof METRICS,
  of: FunctionName,
  statistic: string,
  period: Duration,
  stage: Stage,
): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: METRICS[metric].name,
    dimensionsMap: { [METRIC_DIMENSIONS.service]: serviceName(stage.name, of) },
    statistic,
    period,
  });
}

/** The sum of several; what is silent counts as nothing. */
function summed(metrics: readonly Metric[], period: Duration): IMetric {
  const [first] = metrics;
  if (first !== undefined && metrics.length === 1) return first;
  const named = Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric]));
  const expression = `SUM([${Object.keys(named)
    .map((name) => `FILL(${name}, 0)`)
    .join(', ')}])`;
  return new MathExpression({ expression, usingMetrics: named, period });
}

function rows<T>(items: readonly T[]): T[][] {
  return items.length === 0 ? [] : [items.slice(0, 4), ...rows(items.slice(4))];
}
