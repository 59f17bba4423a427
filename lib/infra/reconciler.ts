/** The safety net: a state machine that looks at what is due every minute, and the function behind it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Validations } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { serviceName } from '../settings/metric-names.ts';
import { settingsTable } from '../settings/table.ts';
import { PROJECT_ROOT } from './bundle.ts';
import type { DataStack } from './data-stack.ts';
import type { StageDelivery } from './delivery.ts';
import { HouseFunction } from './house-function.ts';
import type { Stage } from './stages.ts';
import {
  MACHINE_WILDCARD,
  readSecrets,
  TABLE_KEY_WILDCARD,
  useTable,
  useTableKey,
} from './statements.ts';

/** What the reconciler of a stage is built from. */
export interface ReconcilerProps {
  readonly stage: Stage;
  readonly data: DataStack;
  readonly delivery: StageDelivery;
  /** Settings that are handed on as they are written. */
  readonly environment: { readonly [name: string]: string };
  /** Own procedures, which are put beside the bundle. */
  readonly folder?: { readonly source: string; readonly name: string };
}

/** The file of the state machine; it is deployed as it is, but for the function's ARN. */
export const RECONCILER_FILE = join(PROJECT_ROOT, 'statemachines/reconciler.asl.json');

/** The reconciler. */
export class Reconciler extends Construct {
  readonly stateMachine: StateMachine;
  readonly lambda: IFunction;

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    const { stage, data, delivery, environment, folder } = props;
    const { heads } = data;
    const secrets = [...delivery.secrets, ...(heads === undefined ? [] : [heads.secret])];
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
        [settingsTable.table.env]: data.table.tableName,
      },
      statements: [
        ...useTable(data.table),
        useTableKey(data.key),
        ...(secrets.length > 0 ? [readSecrets(secrets)] : []),
        ...delivery.send,
        ...(heads?.statements() ?? []),
      ],
      wildcards: [TABLE_KEY_WILDCARD, ...(heads === undefined ? [] : [heads.wildcard])],
      ...(folder !== undefined && { folder }),
    });
    const machine = this.machine(stage, sweep.lambda.functionArn);
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

  private machine(stage: Stage, functionArn: string): StateMachine {
    const logs = new LogGroup(this, 'Logs', {
      retention: stage.logRetention,
      removalPolicy: stage.removal,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      description: 'What the state machine may do',
    });
    role.addToPrincipalPolicy(
      new PolicyStatement({
        sid: 'Tasks',
        actions: ['lambda:InvokeFunction'],
        resources: [functionArn],
      }),
    );
    const machine = new StateMachine(this, 'Machine', {
      comment: 'Delivers what is due, and repairs what has drifted',
      definitionBody: DefinitionBody.fromString(readFileSync(RECONCILER_FILE, 'utf8')),
      definitionSubstitutions: { ReconcileFunctionArn: functionArn },
      role,
      logs: { destination: logs, level: LogLevel.ALL, includeExecutionData: true },
      tracingEnabled: true,
      removalPolicy: stage.removal,
    });
    Validations.of(role.node.findChild('DefaultPolicy')).acknowledge(MACHINE_WILDCARD);
    return machine;
  }
}
