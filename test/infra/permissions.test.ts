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

describe('what the functions may do', () => {
  test('is this, and nothing else', () => {
    const all = policies.flatMap(([, resource]) => statementsOf(resource));
    expect(
      all.map(({ Sid, Effect, Action, Resource: on, Condition }) => [
        Sid,
        Effect,
        [Action].flat(),
        shown(on),
        ...(Condition === undefined ? [] : [shown(Condition)]),
      ]),
    ).toEqual([
      ['Logs', 'Allow', ['logs:CreateLogStream', 'logs:PutLogEvents'], 'GetAtt(HttpLogs.Arn)'],
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
      ['Secrets', 'Allow', ['secretsmanager:GetSecretValue'], 'Output(Secret)'],
      [
        'Parameter',
        'Allow',
        ['ssm:GetParameter'],
        'arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter/checkpoint/prod/public-url',
      ],
      [undefined, 'Allow', ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*'],
    ]);
  });

  test('stands in policies of single roles: nothing managed, nothing inline elsewhere', () => {
    const roles = resources.filter(([, { Type }]) => Type === 'AWS::IAM::Role');
    expect(roles.length).toBe(policies.length);
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
    ]);
  });
});

test('rules are acknowledged on single constructs, each with a reason that can be followed', () => {
  expect(acknowledged.map(([path, rule]) => `${path} ${rule}`)).toEqual([
    'checkpoint-dev-data/Secret Annotation::AwsSolutions-SMG4',
    'checkpoint-dev-service/IssuerSecret Annotation::AwsSolutions-SMG4',
    'checkpoint-dev-service/Http/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Resource::*]',
    'checkpoint-dev-service/Http/Role/DefaultPolicy Annotation::AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
  ]);
  for (const [, , reason] of acknowledged) expect(reason).toMatch(/^[A-Z].{60,}\.$/);
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
      /^PublishOutput(?:FnGetAtt|Ref)([A-Z][a-z]+)[0-9A-F]{8}([A-Z][a-z]+)?/.exec(OutputName) ?? [];
    return `Output(${what}${attribute === '' ? '' : `.${attribute}`})`;
  }
  return `${name} ${shown(inner)}`;
}
