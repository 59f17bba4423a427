import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { TABLE_ACTIONS } from '../../lib/infra/statements.ts';
import { projectRoot } from '../support/project-files.ts';
import { ISSUERS, synthesise, type Resource } from '../support/synth.ts';

interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const { resources } = synthesise({ CHECKPOINT_STAGE: 'prod', CHECKPOINT_ISSUERS: ISSUERS });
const { acknowledged } = synthesise({});

const statementsOf = ({ Properties = {} }: Resource): readonly Statement[] =>
  (Properties['PolicyDocument'] as { Statement: Statement[] }).Statement;

const policies = resources.filter(([, { Type }]) => Type === 'AWS::IAM::Policy');

const TABLE = [
  [
    'TableItems',
    'Allow',
    [
      'dynamodb:BatchGetItem',
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
    ],
    'Output(Table.Arn)',
  ],
  [
    'TableIndexes',
    'Allow',
    ['dynamodb:Query'],
    'Output(Table.Arn)/index/gsi1, Output(Table.Arn)/index/gsi2',
  ],
  [
    'TableKey',
    'Allow',
    [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey*',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ],
    'Output(Key.Arn)',
    'StringEquals kms:ViaService dynamodb.${AWS::Region}.amazonaws.com',
  ],
];
const TOPIC = [
  ['Topic', 'Allow', ['sns:Publish'], 'Output(Topic)'],
  [
    'TopicKey',
    'Allow',
    ['kms:Decrypt', 'kms:GenerateDataKey'],
    'Output(Key.Arn)',
    'StringEquals kms:ViaService sns.${AWS::Region}.amazonaws.com',
  ],
];
const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const TRACING = [undefined, 'Allow', ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*'];

const MACHINE = [
  undefined,
  'Allow',
  [
    'logs:CreateLogDelivery',
    'logs:DeleteLogDelivery',
    'logs:DescribeLogGroups',
    'logs:DescribeResourcePolicies',
    'logs:GetLogDelivery',
    'logs:ListLogDeliveries',
    'logs:PutResourcePolicy',
    'logs:UpdateLogDelivery',
    'xray:GetSamplingRules',
    'xray:GetSamplingTargets',
    'xray:PutTelemetryRecords',
    'xray:PutTraceSegments',
  ],
  '*',
];
const START = ['StartRuns', 'Allow', ['states:StartExecution'], '${RunsMachine}'];

describe('what the functions may do', () => {
  test('is this, and nothing else', () => {
    const all = policies.map(([, resource]) =>
      statementsOf(resource).map(({ Sid, Effect, Action, Resource: on, Condition }) => [
        Sid,
        Effect,
        [Action].flat(),
        shown(on),
        ...(Condition === undefined ? [] : [shown(Condition)]),
      ]),
    );
    expect(all).toEqual([
      [
        ['Logs', 'Allow', LOGS, 'GetAtt(RunsWorkLogs.Arn)'],
        ...TABLE,
        ['Secrets', 'Allow', ['secretsmanager:GetSecretValue'], 'Output(Secret)'],
        TRACING,
      ],
      [['Tasks', 'Allow', ['lambda:InvokeFunction'], 'GetAtt(RunsWorkFunction.Arn)'], MACHINE],
      [
        ['Logs', 'Allow', LOGS, 'GetAtt(HttpLogs.Arn)'],
        ...TABLE,
        ['Secrets', 'Allow', ['secretsmanager:GetSecretValue'], 'Output(Secret)'],
        [
          'Parameter',
          'Allow',
          ['ssm:GetParameter'],
          'arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/checkpoint/prod/public-url',
        ],
        ['AskForTools', 'Allow', ['lambda:InvokeFunction'], 'GetAtt(RunsWorkFunction.Arn)'],
        TRACING,
      ],
      [
        ['Logs', 'Allow', LOGS, 'GetAtt(DeliveryRelayLogs.Arn)'],
        ...TABLE,
        [
          'Stream',
          'Allow',
          ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
          'Output(Table.Stream)',
        ],
        ['Streams', 'Allow', ['dynamodb:ListStreams'], '*'],
        ['FailedBatches', 'Allow', ['sqs:SendMessage'], 'GetAtt(DeliveryFailed.Arn)'],
        ...TOPIC,
        START,
        TRACING,
      ],
      [
        ['Logs', 'Allow', LOGS, 'GetAtt(ReconcilerSweepLogs.Arn)'],
        ...TABLE,
        ['Secrets', 'Allow', ['secretsmanager:GetSecretValue'], 'Output(HeadsSecret)'],
        ...TOPIC,
        ['Heads', 'Allow', ['s3:GetObject', 's3:PutObject'], 'Output(HeadsBucket.Arn)/heads/*'],
        ['HeadsBucket', 'Allow', ['s3:ListBucket'], 'Output(HeadsBucket.Arn)'],
        START,
        [
          'DescribeRuns',
          'Allow',
          ['states:DescribeExecution'],
          'arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:execution:GetAtt(RunsMachine.Name):*',
        ],
        TRACING,
      ],
      [
        ['Tasks', 'Allow', ['lambda:InvokeFunction'], 'GetAtt(ReconcilerSweepFunction.Arn)'],
        MACHINE,
      ],
      [[undefined, 'Allow', ['states:StartExecution'], '${ReconcilerMachine}']],
    ]);
  });

  test('includes a bus and the secret of webhooks where the deployment has them, by name', () => {
    const secret = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:webhooks-AbCdEf';
    const { resources: more } = synthesise({
      CHECKPOINT_EVENT_BUS: 'operations',
      CHECKPOINT_WEBHOOKS_SECRET_ID: secret,
      CHECKPOINT_WEBHOOK_NAMES: 'desk',
    });
    const statements = more
      .filter(([, { Type }]) => Type === 'AWS::IAM::Policy')
      .flatMap(([, resource]) => statementsOf(resource));
    const of = (sid: string) =>
      statements.filter(({ Sid }) => Sid === sid).map(({ Action, Resource: on }) => [Action, on]);
    const bus =
      'arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/operations';
    expect(of('EventBus').map(([action, on]) => [action, shown(on)])).toEqual([
      ['events:PutEvents', bus],
      ['events:PutEvents', bus],
    ]);
    // The functions that answer callers and work on runs know their names alone.
    expect(of('Secrets').map(([, on]) => [on].flat().includes(secret))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const told = more
      .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
      .map(([, { Properties = {} }]) =>
        Object.keys((Properties['Environment'] as { Variables: object }).Variables),
      );
    expect(told.map((names) => names.includes('CHECKPOINT_WEBHOOKS_SECRET_ID'))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(told.map((names) => names.includes('CHECKPOINT_WEBHOOK_NAMES'))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test('stands in policies of single roles: nothing managed, nothing inline elsewhere', () => {
    const roles = resources.filter(([, { Type }]) => Type === 'AWS::IAM::Role');
    expect(roles.length).toBe(policies.length);
    expect(roles.length).toBe(7);
    for (const [id, { Properties = {} }] of roles) {
      expect([id, Properties['ManagedPolicyArns'], Properties['Policies']]).toEqual([
        id,
        undefined,
        undefined,
      ]);
    }
  });

  test('has the wildcards that cannot be avoided, and no other', () => {
    const wildcards = policies.flatMap(([, resource]) =>
      statementsOf(resource).flatMap(({ Action, Resource: on }) => [
        ...[Action].flat().filter((action) => action.includes('*')),
        ...(JSON.stringify(on).includes('*') ? [[Action].flat().join(' ')] : []),
      ]),
    );
    expect(wildcards).toEqual([
      'kms:GenerateDataKey*',
      'xray:PutTelemetryRecords xray:PutTraceSegments',
      'logs:CreateLogDelivery logs:DeleteLogDelivery logs:DescribeLogGroups logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:UpdateLogDelivery xray:GetSamplingRules xray:GetSamplingTargets xray:PutTelemetryRecords xray:PutTraceSegments',
      'kms:GenerateDataKey*',
      'xray:PutTelemetryRecords xray:PutTraceSegments',
      'kms:GenerateDataKey*',
      'dynamodb:ListStreams',
      'xray:PutTelemetryRecords xray:PutTraceSegments',
      'kms:GenerateDataKey*',
      's3:GetObject s3:PutObject',
      'states:DescribeExecution',
      'xray:PutTelemetryRecords xray:PutTraceSegments',
      'logs:CreateLogDelivery logs:DeleteLogDelivery logs:DescribeLogGroups logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:UpdateLogDelivery xray:GetSamplingRules xray:GetSamplingTargets xray:PutTelemetryRecords xray:PutTraceSegments',
    ]);
  });
});

test('rules are acknowledged on single constructs, each with a reason that can be followed', () => {
  expect(acknowledged.map(([path, rule]) => `${path} ${rule}`)).toEqual([
    'checkpoint-dev-data/Secret Annotation::AwsSolutions-SMG4',
    'checkpoint-dev-service/IssuerSecret Annotation::AwsSolutions-SMG4',
    'checkpoint-dev-service/Runs/Work/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Runs/Work/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
    'checkpoint-dev-service/Runs/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Http/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Http/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
    'checkpoint-dev-service/Delivery/Failed Annotation::AwsSolutions-SQS3',
    'checkpoint-dev-service/Delivery/Relay/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Delivery/Relay/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
    'checkpoint-dev-service/Reconciler/Sweep/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Reconciler/Sweep/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
    'checkpoint-dev-service/Reconciler/Sweep/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:<RunsMachine87F96617.Name>:*]',
    'checkpoint-dev-service/Reconciler/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
  ]);
  const kept = synthesise({ CHECKPOINT_STAGE: 'prod', CHECKPOINT_ISSUERS: ISSUERS }).acknowledged;
  const [bucket, secret, ...more] = kept.filter(([path, rule]) => /heads/i.test(path + rule));
  expect(bucket?.slice(0, 2)).toEqual([
    'checkpoint-prod-data/Heads/Bucket',
    'Annotation::AwsSolutions-S1',
  ]);
  expect(secret?.slice(0, 2)).toEqual([
    'checkpoint-prod-data/Heads/Secret',
    'Annotation::AwsSolutions-SMG4',
  ]);
  expect(more.map(([path]) => path)).toEqual([
    'checkpoint-prod-service/Reconciler/Sweep/Role/DefaultPolicy',
  ]);
  for (const [, , reason] of [...acknowledged, ...kept]) expect(reason).toMatch(/^[A-Z].{60,}\.$/);
});

/** The permission behind each command that the store sends. */
const PERMISSIONS: { readonly [command: string]: readonly string[] } = {
  BatchGet: ['BatchGetItem'],
  Delete: ['DeleteItem'],
  Get: ['GetItem'],
  Put: ['PutItem'],
  Query: ['Query'],
  // For audits run by hand, by people with permissions of their own.
  Scan: [],
  TransactGet: ['GetItem'],
  TransactWrite: ['ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'],
  Update: ['UpdateItem'],
};

test('the store sends no command that the functions may not, and they may nothing that it never sends', () => {
  const folder = join(projectRoot, 'lib/adapters/dynamodb');
  const text = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const sent = new Set([...text.matchAll(/new (\w+)Command\(/g)].map(([, name = '']) => name));
  expect([...sent].filter((name) => PERMISSIONS[name] === undefined)).toEqual([]);
  const needed = new Set([...sent].flatMap((name) => PERMISSIONS[name] ?? []));
  expect([...needed].map((name) => `dynamodb:${name}`).toSorted()).toEqual([...TABLE_ACTIONS]);
});

/** A template value as a text that can be compared: references by what they refer to. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shown).join(', ');
  const [[name, inner] = ['', '']] = Object.entries(value as object);
  const plain = (id: unknown): string => String(id).replace(/[0-9A-F]{8}$/, '');
  if (name === 'Ref') return `\${${plain(inner)}}`;
  if (name === 'Fn::GetAtt') return `GetAtt(${(inner as string[]).map(plain).join('.')})`;
  if (name === 'Fn::Join') {
    const [between, parts] = inner as [string, unknown[]];
    return parts.map(shown).join(between);
  }
  if (name === 'Fn::GetStackOutput') {
    const { OutputName } = inner as { OutputName: string };
    const [, what = '', attribute = ''] =
      /^PublishOutput(?:FnGetAtt|Ref)([A-Za-z]+?)[0-9A-F]{8}([A-Z][a-z]+)?/.exec(OutputName) ?? [];
    return `Output(${what}${attribute === '' ? '' : `.${attribute}`})`;
  }
  return `${name} ${shown(inner)}`;
}
