/**
 * The one way a state machine is made here: the very file of its definition, a log group with retention,
 * tracing, and a role that may call one function.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { PROJECT_ROOT } from './bundle.ts';
import type { Stage } from './stages.ts';
import { MACHINE_WILDCARD } from './statements.ts';

/** What a state machine is made of. */
export interface HouseMachineProps {
  readonly stage: Stage;
  readonly comment: string;
  /** Path of the definition from the top of the project; it is deployed as it is, but for the ARN. */
  readonly file: string;
  /** What stands in the definition for the ARN of the function. */
  readonly placeholder: string;
  readonly functionArn: string;
}

/** Makes it within a construct of its own. */
export function houseMachine(
  scope: Construct,
  { stage, comment, file, placeholder, functionArn }: HouseMachineProps,
): StateMachine {
  const logs = new LogGroup(scope, 'Logs', {
    retention: stage.logRetention,
    removalPolicy: stage.removal,
  });
  const role = new Role(scope, 'Role', {
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
  const machine = new StateMachine(scope, 'Machine', {
    comment,
    definitionBody: DefinitionBody.fromString(readFileSync(join(PROJECT_ROOT, file), 'utf8')),
    definitionSubstitutions: { [placeholder]: functionArn },
    role,
    logs: { destination: logs, level: LogLevel.ALL, includeExecutionData: true },
    tracingEnabled: true,
    removalPolicy: stage.removal,
  });
  Validations.of(role.node.findChild('DefaultPolicy')).acknowledge(MACHINE_WILDCARD);
  return machine;
}
