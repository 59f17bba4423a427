import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ALARMS } from '../../lib/infra/alarm-table.ts';
import { projectRoot } from '../support/project-files.ts';
import { emittedMetrics, type Emitted } from '../support/lambda/emitted.ts';
import { ISSUERS, synthesise } from '../support/synth.ts';

interface MetricText {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmText {
  readonly AlarmDescription: string;
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: MetricText['Dimensions'];
  readonly Metrics?: readonly { readonly MetricStat?: { readonly Metric: MetricText } }[];
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
}

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:on-call';
const { resources } = synthesise({ CHECKPOINT_STAGE: 'prod', CHECKPOINT_ISSUERS: ISSUERS });
const alarmsOf = (all: typeof resources) =>
  all
    .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
    .map(([, { Properties }]) => Properties as unknown as AlarmText);
const alarms = alarmsOf(resources);

const metricsOf = ({ Namespace, MetricName, Dimensions, Metrics = [] }: AlarmText) => [
  ...(Namespace === undefined || MetricName === undefined
    ? []
    : [{ Namespace, MetricName, ...(Dimensions !== undefined && { Dimensions }) }]),
  ...Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric])),
];

/** Names of a metric with its dimensions, as text that can be compared. */
const named = ({ Namespace, MetricName, Dimensions = [] }: MetricText): string =>
  [
    Namespace,
    MetricName,
    ...Dimensions.map(({ Name, Value }) => `${Name}=${String(Value)}`).toSorted(),
  ].join(' ');

const PLATFORM = [
  'AWS/Lambda Throttles',
  'AWS/SQS ApproximateNumberOfMessagesVisible',
  'AWS/States ExecutionsFailed',
  'AWS/States ExecutionsTimedOut',
];

describe('every alarm', () => {
  test('stands in the template, with a page of its own that says what to do', () => {
    const pages = Object.values(ALARMS).map(({ page }) => page);
    expect(alarms).toHaveLength(pages.length);
    expect(new Set(pages).size).toBe(pages.length);
    for (const [name, { page }] of Object.entries(ALARMS)) {
      const described = alarms.filter(({ AlarmDescription }) =>
        AlarmDescription.endsWith(`docs/runbooks/${page}.md`),
      );
      expect([name, described.length]).toEqual([name, 1]);
      const file = join(projectRoot, `docs/runbooks/${page}.md`);
      expect([file, existsSync(file)]).toEqual([file, true]);
      const text = readFileSync(file, 'utf8');
      const [, means = '', todo = ''] =
        /^# .+\n\n## What it means\n\n(.+?)\n\n## What to do\n\n(.+)$/s.exec(text) ?? [];
      expect(text.startsWith(`# ${name}\n`)).toBe(true);
      expect(means.length).toBeGreaterThan(100);
      expect(todo.split(/^\d\. /m).length).toBeGreaterThan(3);
    }
  });

  test('is listed in the page of operations, and no page is without its alarm', () => {
    const text = readFileSync(join(projectRoot, 'docs/operations.md'), 'utf8');
    for (const [name, { page }] of Object.entries(ALARMS)) {
      expect(text).toContain(`| \`${name}\``);
      expect(text).toContain(`(runbooks/${page}.md)`);
    }
    const files = readdirSync(join(projectRoot, 'docs/runbooks'));
    expect(files.toSorted()).toEqual(
      Object.values(ALARMS)
        .map(({ page }) => `${page}.md`)
        .toSorted(),
    );
  });

  test('is told to the topic that the deployment names, as it begins and as it ends; to none otherwise', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect([AlarmActions, OKActions]).toEqual([undefined, undefined]);
    }
    const told = alarmsOf(synthesise({ CHECKPOINT_ALARM_TOPIC_ARN: TOPIC }).resources);
    expect(told).toHaveLength(alarms.length);
    for (const { AlarmActions, OKActions } of told) {
      expect([AlarmActions, OKActions]).toEqual([[TOPIC], [TOPIC]]);
    }
  });

  test('stands on the one dashboard', () => {
    const dashboards = resources.filter(([, { Type }]) => Type === 'AWS::CloudWatch::Dashboard');
    expect(dashboards).toHaveLength(1);
    const body = JSON.stringify(dashboards[0]?.[1].Properties);
    for (const name of Object.keys(ALARMS)) expect(body).toContain(name);
  });
});

describe('every metric that is watched', () => {
  let emitted: Emitted;
  beforeAll(async () => {
    emitted = await emittedMetrics('prod');
  }, 60_000);
  afterAll(() => {
    jest.restoreAllMocks();
  });

  test('is one of the platform, or emitted by the code under that very name, dimension and namespace', () => {
    const watched = alarms.flatMap(metricsOf);
    expect(watched.length).toBeGreaterThan(Object.keys(ALARMS).length);
    const foreign = watched.filter(({ Namespace }) => Namespace !== 'Checkpoint');
    const names = foreign.map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
    expect([...new Set(names)].toSorted()).toEqual(PLATFORM);
    const ours = watched.filter(({ Namespace }) => Namespace === 'Checkpoint').map(named);
    expect(ours.filter((name) => !emitted.names.has(name))).toEqual([]);
    expect(new Set(ours).size).toBe(8);
  });

  test('also on the dashboard', () => {
    const [dashboard] = resources.filter(([, { Type }]) => Type === 'AWS::CloudWatch::Dashboard');
    const body = JSON.stringify(dashboard?.[1].Properties).replaceAll('\\"', '"');
    const shown = [...body.matchAll(/\["(Checkpoint)","(\w+)","service","([\w-]+)"/g)].map(
      ([, namespace, name, service]) => `${namespace} ${name} service=${service}`,
    );
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter((name) => !emitted.names.has(name))).toEqual([]);
  });
});
