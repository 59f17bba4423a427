/** The work of runs: a state machine with one execution for each attempt, and the function behind it. */
import { ArnFormat, Duration, Stack, type CfnElement } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { serviceName } from '../settings/metric-names.ts';
import { settingsTable } from '../settings/table.ts';
import type { Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';
import type { StageDelivery } from './delivery.ts';
import { stageEvidence } from './evidence.ts';
import { HouseFunction } from './house-function.ts';
import { houseMachine } from './house-machine.ts';
import type { Stage } from './stages.ts';
import {
  readSecrets,
  TABLE_KEY_WILDCARD,
  useTable,
  useTableKey,
  type Wildcard,
} from './statements.ts';
import { stageTickets, type StageTickets } from './tickets.ts';

/** What the runs of a stage are built from. */
export interface RunsProps {
  readonly stage: Stage;
  readonly data: DataStack;
  readonly delivery: Pick<StageDelivery, 'environment'>;
  readonly settings: Settings;
  /** Settings that are handed on as they are written. */
  readonly environment: { readonly [name: string]: string };
}

/** The file of the state machine, from the top of the project. */
export const RUN_FILE = 'statemachines/run.asl.json';

/** One call of the function: two requests for evidence of the longest kind, and what surrounds them. */
const TIMEOUT = Duration.seconds(115);

/** The runs. */
export class Runs extends Construct {
  readonly stateMachine: StateMachine;
  readonly lambda: IFunction;
  readonly tickets: StageTickets;

  constructor(scope: Construct, id: string, props: RunsProps) {
    super(scope, id);
    const { stage, data, delivery, settings, environment } = props;
    const tickets = stageTickets(Stack.of(this), settings);
    const evidence = stageEvidence(settings);
    const work = new HouseFunction(this, 'Work', {
      stage,
      entry: 'lambdas/run.ts',
      description: 'Gathers evidence, writes what was approved, and reads it back',
      serviceName: serviceName(stage.name, 'run'),
      memoryMiB: stage.background.memoryMiB,
      timeout: TIMEOUT,
      environment: {
        ...environment,
        ...delivery.environment,
        ...evidence.environment,
        ...tickets.environment,
        [settingsTable.table.env]: data.table.tableName,
        [settingsTable.secretId.env]: data.secret.secretArn,
      },
      statements: [
        ...useTable(data.table),
        useTableKey(data.key),
        readSecrets([data.secret, ...evidence.secrets, ...tickets.secrets]),
        ...tickets.reading,
        ...tickets.writing,
      ],
      wildcards: [TABLE_KEY_WILDCARD, ...tickets.wildcards],
      evidence: evidence.folder,
    });
    this.tickets = tickets;
    this.lambda = work.lambda;
    this.stateMachine = houseMachine(this, {
      stage,
      comment: 'Does the work of one attempt of a run',
      file: RUN_FILE,
      placeholder: 'RunFunctionArn',
      functionArn: work.lambda.functionArn,
    });
  }

  /** What a function is told that starts executions. */
  get startEnvironment(): { readonly [name: string]: string } {
    return { [settingsTable.runMachineArn.env]: this.stateMachine.stateMachineArn };
  }

  /** Starting executions. */
  start(): PolicyStatement {
    return new PolicyStatement({
      sid: 'StartRuns',
      actions: ['states:StartExecution'],
      resources: [this.stateMachine.stateMachineArn],
    });
  }

  /** Asking what became of an execution. */
  describe(): PolicyStatement {
    return new PolicyStatement({
      sid: 'DescribeRuns',
      actions: ['states:DescribeExecution'],
      resources: [
        Stack.of(this).formatArn({
          service: 'states',
          resource: 'execution',
          resourceName: `${this.stateMachine.stateMachineName}:*`,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
    });
  }

  /** The one wildcard of {@link describe}. */
  get describeWildcard(): Wildcard {
    const machine = Stack.of(this).getLogicalId(this.stateMachine.node.defaultChild as CfnElement);
    return {
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<${machine}.Name>:*]`,
      reason: 'The names of executions, which are made from runs and attempts.',
    };
  }

  /** Calling the function itself, for the tools that evidence servers offer. */
  ask(): PolicyStatement {
    return new PolicyStatement({
      sid: 'AskForTools',
      actions: ['lambda:InvokeFunction'],
      resources: [this.lambda.functionArn],
    });
  }
}
