/** Where the tickets of a stage are written, and what the functions may do for it. */
import type { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { settingsTable } from '../settings/table.ts';
import type { Settings } from '../settings.ts';
import { wholeSecretArn, type Wildcard } from './statements.ts';

/** What functions need in order to write tickets, and to read them back. */
export interface StageTickets {
  readonly environment: { readonly [name: string]: string };
  readonly secrets: readonly Pick<Secret, 'secretArn'>[];
  /** Reading them back. */
  readonly reading: readonly PolicyStatement[];
  /** Making them, which nobody does but whoever works on a run. */
  readonly writing: readonly PolicyStatement[];
  readonly wildcards: readonly Wildcard[];
}

/** Reads it from the settings of whoever deploys. Throws a sentence about what cannot be deployed. */
export function stageTickets(stack: Stack, settings: Settings): StageTickets {
  const { tickets, ticketsSecretId } = settings;
  const { env } = settingsTable.tickets;
  const secretEnv = settingsTable.ticketsSecretId.env;
  if (tickets.kind === 'webhook') {
    throw new Error(
      `${env}: its secrets would stand in the template; put its text into a secret of Secrets Manager and name that in ${secretEnv}`,
    );
  }
  if (ticketsSecretId !== undefined) {
    if (tickets.kind !== 'built-in') throw new Error(`${env}: expected one of it and ${secretEnv}`);
    const secretArn = wholeSecretArn(secretEnv, ticketsSecretId);
    const environment = { [secretEnv]: secretArn };
    return { environment, secrets: [{ secretArn }], reading: [], writing: [], wildcards: [] };
  }
  if (tickets.kind === 'built-in') {
    return { environment: {}, secrets: [], reading: [], writing: [], wildcards: [] };
  }
  const items = stack.formatArn({ service: 'ssm', resource: 'opsitem', resourceName: '*' });
  return {
    environment: { [env]: tickets.kind },
    secrets: [],
    reading: [
      new PolicyStatement({
        sid: 'OpsItems',
        actions: ['ssm:GetOpsItem'],
        resources: [items],
      }),
      new PolicyStatement({
        sid: 'OpsCenter',
        actions: ['ssm:DescribeOpsItems'],
        resources: ['*'],
      }),
    ],
    writing: [
      new PolicyStatement({
        sid: 'NewOpsItems',
        actions: ['ssm:CreateOpsItem'],
        resources: ['*'],
      }),
    ],
    wildcards: [
      {
        id: 'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:opsitem/*]',
        reason: 'The id of an item is given by OpsCenter when the item is made.',
      },
      {
        id: 'AwsSolutions-IAM5[Resource::*]',
        reason:
          'Only ssm:CreateOpsItem, ssm:DescribeOpsItems, xray:PutTraceSegments and xray:PutTelemetryRecords, which know no resources.',
      },
    ],
  };
}
