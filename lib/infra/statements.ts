/**
 * What each function may do, statement by statement: single actions on single resources. The grants of
 * the constructs are wider than that (they add scans and batch writes), so none is used.
 */
import { Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { DUE_INDEX, LIST_INDEX } from '../adapters/dynamodb/table.ts';

/** Reading and changing single items, which is also what transactions are checked against. */
export const TABLE_ACTIONS = [
  'dynamodb:BatchGetItem',
  'dynamodb:ConditionCheckItem',
  'dynamodb:DeleteItem',
  'dynamodb:GetItem',
  'dynamodb:PutItem',
  'dynamodb:Query',
  'dynamodb:UpdateItem',
] as const;

/** The table's items and the two indexes. */
export function useTable(table: Pick<Table, 'tableArn'>): PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'TableItems',
      actions: [...TABLE_ACTIONS],
      resources: [table.tableArn],
    }),
    new PolicyStatement({
      sid: 'TableIndexes',
      actions: ['dynamodb:Query'],
      resources: [DUE_INDEX, LIST_INDEX].map(({ name }) => `${table.tableArn}/index/${name}`),
    }),
  ];
}

/** The table's key, through the table alone. */
export function useTableKey(key: IKey): PolicyStatement {
  return new PolicyStatement({
    sid: 'TableKey',
    actions: [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey*',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ],
    resources: [key.keyArn],
    conditions: {
      StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(key).region}.amazonaws.com` },
    },
  });
}

/** A wildcard that cannot be avoided, as the rules name the finding, and why it is there. */
export interface Wildcard {
  readonly id: string;
  readonly reason: string;
}

/** The one wildcard of {@link useTableKey}. */
export const TABLE_KEY_WILDCARD: Wildcard = {
  id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
  reason:
    'DynamoDB asks for the action by this name. It is for one key, and through DynamoDB of this region only.',
};

/** What is said of every wildcard resource of a role: there is one acknowledgement for all of them. */
const ANY_RESOURCE = 'AwsSolutions-IAM5[Resource::*]';

/** The one wildcard of active tracing. */
export const TRACING_WILDCARD: Wildcard = {
  id: ANY_RESOURCE,
  reason: 'Only xray:PutTraceSegments and xray:PutTelemetryRecords, which know no resources.',
};

/** The wildcards of a function behind a stream: it takes the place of {@link TRACING_WILDCARD}. */
export const STREAM_WILDCARD: Wildcard = {
  id: ANY_RESOURCE,
  reason:
    'Only dynamodb:ListStreams, xray:PutTraceSegments and xray:PutTelemetryRecords, which know no resources.',
};

/** The wildcards of a state machine that is logged and traced. */
export const MACHINE_WILDCARD: Wildcard = {
  id: ANY_RESOURCE,
  reason:
    "Only the delivery of a state machine's logs and X-Ray's records and sampling rules, which know no resources.",
};

/** Reading the table's stream. */
export function readStream(streamArn: string): PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'Stream',
      actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      resources: [streamArn],
    }),
    new PolicyStatement({
      sid: 'Streams',
      actions: ['dynamodb:ListStreams'],
      resources: ['*'],
    }),
  ];
}

/** The topic's key, through the topic alone. */
export function useTopicKey(key: IKey): PolicyStatement {
  return new PolicyStatement({
    sid: 'TopicKey',
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `sns.${Stack.of(key).region}.amazonaws.com` } },
  });
}

/** Checks that a setting is the whole ARN of a secret, because a function may read that one alone. */
export function wholeSecretArn(env: string, text: string): string {
  if (/^arn:.+:secret:.+-\w{6}$/.test(text)) return text;
  throw new Error(
    `${env}: expected the whole ARN of the secret, because the functions may read that one alone`,
  );
}

/** Reading secrets. */
export function readSecrets(secrets: readonly Pick<Secret, 'secretArn'>[]): PolicyStatement {
  return new PolicyStatement({
    sid: 'Secrets',
    actions: ['secretsmanager:GetSecretValue'],
    resources: secrets.map((secret) => secret.secretArn),
  });
}

/** Reading one parameter, by its fixed name: a reference to it would be a cycle. */
export function readParameter(stack: Stack, name: string): PolicyStatement {
  return new PolicyStatement({
    sid: 'Parameter',
    actions: ['ssm:GetParameter'],
    resources: [stack.formatArn({ service: 'ssm', resource: `parameter${name}` })],
  });
}
