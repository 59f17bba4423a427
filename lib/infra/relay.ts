/** The fast path: the table's stream, filtered to new outbox rows, and the function that delivers them. */
import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  StartingPosition,
  type IFunction,
} from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { SORT_KEY } from '../adapters/dynamodb/table.ts';
import { serviceName } from '../settings/metric-names.ts';
import { settingsTable } from '../settings/table.ts';
import type { DataStack } from './data-stack.ts';
import type { StageDelivery } from './delivery.ts';
import { HouseFunction } from './house-function.ts';
import type { Runs } from './runs.ts';
import type { Stage } from './stages.ts';
import {
  readSecrets,
  readStream,
  STREAM_WILDCARD,
  TABLE_KEY_WILDCARD,
  useTable,
  useTableKey,
} from './statements.ts';

/** How outbox rows are known by their sort keys, as the table's key formats say. */
export const OUTBOX_SORT_PREFIX = 'O#';

/** What the relay of a stage is built from. */
export interface RelayProps {
  readonly stage: Stage;
  readonly data: DataStack;
  readonly delivery: StageDelivery;
  readonly runs: Pick<Runs, 'start' | 'startEnvironment'>;
  /** Settings that are handed on as they are written. */
  readonly environment: { readonly [name: string]: string };
}

/** The relay. */
export class Relay extends Construct {
  readonly lambda: IFunction;
  /** Places of batches that were given up. */
  readonly failed: Queue;

  constructor(
    scope: Construct,
    id: string,
    { stage, data, delivery, runs, environment }: RelayProps,
  ) {
    super(scope, id);
    // Places in the stream, without a key or a value: what they stand for, the sweep delivers.
    const failed = new Queue(this, 'Failed', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: stage.removal,
    });
    Validations.of(failed).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'It is itself where batches go that could not be worked on; nothing consumes it, so nothing of it can fail.',
    });
    const { tableStreamArn = '' } = data.table;
    const relay = new HouseFunction(this, 'Relay', {
      stage,
      entry: 'lambdas/relay.ts',
      description: 'Delivers notifications as soon as they are written',
      serviceName: serviceName(stage.name, 'relay'),
      memoryMiB: stage.background.memoryMiB,
      timeout: stage.background.timeout,
      environment: {
        ...environment,
        ...delivery.environment,
        ...delivery.secretEnvironment,
        ...runs.startEnvironment,
        [settingsTable.table.env]: data.table.tableName,
      },
      statements: [
        ...useTable(data.table),
        useTableKey(data.key),
        ...readStream(tableStreamArn),
        new PolicyStatement({
          sid: 'FailedBatches',
          actions: ['sqs:SendMessage'],
          resources: [failed.queueArn],
        }),
        ...(delivery.secrets.length > 0 ? [readSecrets(delivery.secrets)] : []),
        ...delivery.send,
        runs.start(),
      ],
      wildcards: [TABLE_KEY_WILDCARD, STREAM_WILDCARD],
    });
    this.lambda = relay.lambda;
    this.failed = failed;
    new EventSourceMapping(this, 'Stream', {
      target: relay.lambda,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { [SORT_KEY]: { S: FilterRule.beginsWith(OUTBOX_SORT_PREFIX) } } },
        }),
      ],
      batchSize: 25,
      parallelizationFactor: 4,
      // A batch fails only while the store cannot be used. It is given up soon, so that newer rows leave:
      // the sweep delivers what was in it.
      bisectBatchOnError: true,
      retryAttempts: 3,
      maxRecordAge: Duration.minutes(5),
      onFailure: { bind: () => ({ destination: failed.queueArn }) },
    });
  }
}
