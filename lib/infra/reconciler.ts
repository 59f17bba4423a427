/** The safety net: a state machine that looks at what is due every minute, and the function behind it. */
import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { serviceName } from '../settings/metric-names.ts';
import { settingsTable } from '../settings/table.ts';
import type { DataStack } from './data-stack.ts';
import type { StageDelivery } from './delivery.ts';
import { HouseFunction } from './house-function.ts';
import { houseMachine } from './house-machine.ts';
import type { Runs } from './runs.ts';
import type { Stage } from './stages.ts';
import { readSecrets, TABLE_KEY_WILDCARD, useTable, useTableKey } from './statements.ts';

/** What the reconciler of a stage is built from. */
export interface ReconcilerProps {
  readonly stage: Stage;
  readonly data: DataStack;
  readonly delivery: StageDelivery;
  readonly runs: Runs;
  /** Settings that are handed on as they are written. */
  readonly environment: { readonly [name: string]: string };
  /** Own procedures, which are put beside the bundle. */
  readonly folder?: { readonly source: string; readonly name: string };
}

/** The file of the state machine, from the top of the project. */
export const RECONCILER_FILE = 'statemachines/reconciler.asl.json';

/** The reconciler. */
export class Reconciler extends Construct {
  readonly stateMachine: StateMachine;
  readonly lambda: IFunction;

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    const { stage, data, delivery, runs, environment, folder } = props;
    const { heads } = data;
    const { tickets } = runs;
    const secrets = [
      ...delivery.secrets,
      ...(heads === undefined ? [] : [heads.secret]),
      ...tickets.secrets,
    ];
    const sweep = new HouseFunction(this, 'Sweep', {
      stage,
      entry: 'lambdas/reconcile.ts',
      description:
        'Delivers what is due, repairs what has drifted, and signs the heads of each day',
      serviceName: serviceName(stage.name, 'reconcile'),
      memoryMiB: stage.background.memoryMiB,
      timeout: stage.background.timeout,
      environment: {
        ...environment,
        ...delivery.environment,
        ...delivery.secretEnvironment,
        ...heads?.environment,
        ...tickets.environment,
        ...runs.startEnvironment,
        [settingsTable.table.env]: data.table.tableName,
      },
      statements: [
        ...useTable(data.table),
        useTableKey(data.key),
        ...(secrets.length > 0 ? [readSecrets(secrets)] : []),
        ...delivery.send,
        ...(heads?.statements() ?? []),
        ...tickets.reading,
        runs.start(),
        runs.describe(),
      ],
      wildcards: [
        TABLE_KEY_WILDCARD,
        ...(heads === undefined ? [] : [heads.wildcard]),
        ...tickets.wildcards,
        runs.describeWildcard,
      ],
      ...(folder !== undefined && { folder }),
    });
    const machine = houseMachine(this, {
      stage,
      comment: 'Delivers what is due, and repairs what has drifted',
      file: RECONCILER_FILE,
      placeholder: 'ReconcileFunctionArn',
      functionArn: sweep.lambda.functionArn,
    });
    new Rule(this, 'EveryMinute', {
      description: 'One look at what is due',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [
        new SfnStateMachine(machine, {
          // It gets the right to start this machine, and no other.
          role: new Role(this, 'Starter', {
            assumedBy: new ServicePrincipal('events.amazonaws.com'),
            description: 'Starts the state machine',
          }),
          input: RuleTargetInput.fromObject({}),
          // The next minute brings another one.
          maxEventAge: Duration.minutes(1),
          retryAttempts: 2,
        }),
      ],
    });
    this.stateMachine = machine;
    this.lambda = sweep.lambda;
  }
}
