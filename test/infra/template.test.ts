import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from '@jest/globals';
import { SORT_PREFIX } from '../../lib/adapters/dynamodb/keys.ts';
import { createTableInput } from '../../lib/adapters/dynamodb/table.ts';
import { NODE_MAJOR } from '../../lib/infra/bundle.ts';
import { RECONCILER_FILE } from '../../lib/infra/reconciler.ts';
import { OUTBOX_SORT_PREFIX } from '../../lib/infra/relay.ts';
import { RUN_FILE } from '../../lib/infra/runs.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../support/project-files.ts';
import { ISSUERS, synthesise } from '../support/synth.ts';

const dev = synthesise({});
const prod = synthesise({ CHECKPOINT_STAGE: 'prod', CHECKPOINT_ISSUERS: ISSUERS });
const STAGES = [
  ['dev', dev],
  ['prod', prod],
] as const;

const STATEFUL = [
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
];

describe.each(STAGES)('every stage, here %s', (stage, { data, service, resources }) => {
  const ofType = (type: string) => resources.filter(([, resource]) => resource.Type === type);

  test('has the table that the store expects, both indexes with keys only', () => {
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = createTableInput('any');
    data.hasResourceProperties('AWS::DynamoDB::Table', {
      AttributeDefinitions: Match.arrayWith(AttributeDefinitions),
      KeySchema,
      GlobalSecondaryIndexes,
      BillingMode: 'PAY_PER_REQUEST',
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
    });
  });

  test('can put its table back to any second, and encrypts it with a key of its own', () => {
    data.hasResourceProperties('AWS::DynamoDB::Table', {
      PointInTimeRecoverySpecification: Match.objectLike({ PointInTimeRecoveryEnabled: true }),
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: Match.anyValue() },
    });
    data.hasResourceProperties('AWS::KMS::Key', { EnableKeyRotation: true });
  });

  test('names nothing that holds data, so that a second one can stand beside it', () => {
    for (const [id, { Type, Properties = {} }] of resources) {
      if (![...STATEFUL, 'AWS::Logs::LogGroup', 'AWS::Lambda::Function'].includes(Type)) continue;
      const named = [
        'TableName',
        'Name',
        'TopicName',
        'BucketName',
        'QueueName',
        'LogGroupName',
        'FunctionName',
      ].filter((name) => name in Properties);
      expect([id, named]).toEqual([id, []]);
    }
  });

  test('generates its secrets, and holds the text of none', () => {
    const secrets = ofType('AWS::SecretsManager::Secret');
    expect(secrets.length).toBe(2);
    for (const [, { Properties = {} }] of secrets) {
      expect(Properties).toHaveProperty('GenerateSecretString');
      expect(Properties).not.toHaveProperty('SecretString');
    }
    expect(JSON.stringify(resources)).not.toMatch(/CHECKPOINT_SECRET"|dynamic:|resolve:secrets/);
  });

  test('lets both invoke actions through, the second for calls through the URL only', () => {
    service.hasResourceProperties('AWS::Lambda::Url', {
      AuthType: 'NONE',
      InvokeMode: 'BUFFERED',
      Cors: Match.absent(),
    });
    const permissions = ofType('AWS::Lambda::Permission').map(([, { Properties }]) => Properties);
    expect(permissions).toEqual([
      {
        Action: 'lambda:InvokeFunctionUrl',
        FunctionName: expect.anything(),
        FunctionUrlAuthType: 'NONE',
        Principal: '*',
      },
      {
        Action: 'lambda:InvokeFunction',
        FunctionName: expect.anything(),
        InvokedViaFunctionUrl: true,
        Principal: '*',
      },
    ]);
  });

  test('has nothing public but the URL', () => {
    const open = resources.filter(
      ([, { Type, Properties }]) =>
        Type !== 'AWS::Lambda::Permission' &&
        // A denial to everybody opens nothing.
        JSON.stringify(Properties).includes('"Effect":"Allow","Principal":"*"'),
    );
    expect(open).toEqual([]);
    const types = new Set(resources.map(([, { Type }]) => Type));
    expect([...types].filter((type) => /ApiGateway|Distribution|Listener/.test(type))).toEqual([]);
  });

  test('has no bucket that anybody outside can be let into', () => {
    const buckets = ofType('AWS::S3::Bucket');
    expect(buckets.length).toBe(stage === 'dev' ? 0 : 1);
    for (const [, { Properties = {} }] of buckets) {
      expect(Properties).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      });
    }
  });

  test('has a log group with retention for every function and state machine, and no other', () => {
    const functions = ofType('AWS::Lambda::Function');
    const groups = ofType('AWS::Logs::LogGroup');
    const machines = ofType('AWS::StepFunctions::StateMachine');
    expect(groups.length).toBe(functions.length + machines.length);
    for (const [id, { Properties = {} }] of groups) {
      expect([id, Properties['RetentionInDays']]).toEqual([id, stage === 'dev' ? 7 : 365]);
    }
    for (const [, { Properties = {} }] of functions) {
      expect(Properties['LoggingConfig']).toMatchObject({ LogGroup: expect.anything() });
    }
  });

  test('runs one Node: of the functions, the bundle, the project and its types', () => {
    const runtimes = ofType('AWS::Lambda::Function').map(([, { Properties = {} }]) => [
      Properties['Runtime'],
      Properties['Architectures'],
    ]);
    expect(runtimes.length).toBeGreaterThan(0);
    for (const runtime of runtimes) expect(runtime).toEqual([`nodejs${NODE_MAJOR}.x`, ['arm64']]);
    const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      engines: { node: string };
      devDependencies: { node: string };
    };
    expect(manifest.engines.node).toBe(`>=${NODE_MAJOR}`);
    expect(manifest.devDependencies.node).toMatch(new RegExp(`^${NODE_MAJOR}\\.`));
    expect(process.versions.node).toMatch(new RegExp(`^${NODE_MAJOR}\\.`));
  });

  test('traces, and reserves no concurrency', () => {
    service.allResourcesProperties('AWS::Lambda::Function', {
      TracingConfig: { Mode: 'Active' },
      ReservedConcurrentExecutions: Match.absent(),
    });
  });

  test('tells the function its URL by a parameter of a fixed name, so the first deployment is enough', () => {
    const name = `/checkpoint/${stage}/public-url`;
    service.hasResourceProperties('AWS::SSM::Parameter', {
      Name: name,
      Value: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [Match.anyValue(), 'FunctionUrl'] }, 'mcp']] },
    });
    service.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({ CHECKPOINT_PUBLIC_URL_PARAMETER: name }),
      },
    });
  });

  test('relays new outbox rows from the stream, gives a batch up soon, and keeps where it was', () => {
    service.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      FilterCriteria: {
        Filters: [
          {
            Pattern: JSON.stringify({
              eventName: ['INSERT'],
              dynamodb: { Keys: { sk: { S: [{ prefix: 'O#' }] } } },
            }),
          },
        ],
      },
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 3,
      MaximumRecordAgeInSeconds: 300,
      DestinationConfig: { OnFailure: { Destination: Match.anyValue() } },
      // One failed record must not be reported: everything behind it would come again.
      FunctionResponseTypes: Match.absent(),
    });
    expect(OUTBOX_SORT_PREFIX).toBe(SORT_PREFIX.outbox);
  });

  test('looks every minute with the very file of the state machine, logged and watched', () => {
    service.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [Match.objectLike({ Input: '{}', RetryPolicy: Match.anyValue() })],
    });
    service.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      DefinitionString: readFileSync(join(projectRoot, RECONCILER_FILE), 'utf8'),
      DefinitionSubstitutions: {
        ReconcileFunctionArn: { 'Fn::GetAtt': [Match.anyValue(), 'Arn'] },
      },
      LoggingConfiguration: Match.objectLike({ Level: 'ALL' }),
      TracingConfiguration: { Enabled: true },
    });
  });

  test('encrypts its topic with the key of the table, and takes no call without TLS', () => {
    data.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() });
    for (const [template, type] of [
      [data, 'AWS::SNS::TopicPolicy'],
      [service, 'AWS::SQS::QueuePolicy'],
    ] as const) {
      template.hasResourceProperties(type, {
        PolicyDocument: {
          Statement: Match.arrayWith([
            Match.objectLike({
              Effect: 'Deny',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          ]),
        },
      });
    }
  });

  test('prints the URL and a client configuration that only lacks its token', () => {
    const { McpUrl, ClientConfiguration } = service.toJSON()['Outputs'] as {
      [name: string]: { Value: { 'Fn::Join': [string, unknown[]] } };
    };
    expect(McpUrl?.Value['Fn::Join'][1].at(-1)).toBe('mcp');
    const text = ClientConfiguration?.Value['Fn::Join'][1]
      .map((part) => (typeof part === 'string' ? part : 'https://a.example/'))
      .join('');
    expect(JSON.parse(text ?? '')).toEqual({
      mcpServers: {
        checkpoint: {
          type: 'http',
          url: 'https://a.example/mcp',
          headers: { Authorization: 'Bearer <token>' },
        },
      },
    });
  });
});

describe('a development stage', () => {
  test('cleans up after itself', () => {
    for (const [id, resource] of dev.resources) {
      if (![...STATEFUL, 'AWS::Logs::LogGroup'].includes(resource.Type)) continue;
      expect([id, resource.DeletionPolicy]).toEqual([id, 'Delete']);
    }
    dev.data.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });

  test('signs tokens itself until an issuer is configured', () => {
    const variables = (environment: Record<string, string>) => {
      const { service } = synthesise(environment);
      const functions = Object.entries(service.findResources('AWS::Lambda::Function'));
      const [, one] = functions.find(([id]) => id.startsWith('Http')) ?? [];
      return Object.keys(
        (one as { Properties: { Environment: { Variables: object } } }).Properties.Environment
          .Variables,
      );
    };
    expect(variables({})).toContain('CHECKPOINT_ISSUER_SECRET_ID');
    const configured = variables({ CHECKPOINT_ISSUERS: ISSUERS });
    expect(configured).not.toContain('CHECKPOINT_ISSUER_SECRET_ID');
    expect(configured).toContain('CHECKPOINT_ISSUERS');
  });
});

describe('a stage that is kept', () => {
  test('keeps its table, key, secret and logs when its stack goes, and protects the table', () => {
    for (const [id, resource] of prod.resources) {
      if (![...STATEFUL, 'AWS::Logs::LogGroup'].includes(resource.Type)) continue;
      const { DeletionPolicy, UpdateReplacePolicy } = resource;
      expect([id, DeletionPolicy, UpdateReplacePolicy]).toEqual([id, 'Retain', 'Retain']);
    }
    prod.data.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: true });
  });

  test('keeps signed lists of heads where nobody can delete them for a year, under a key of its own', () => {
    prod.data.hasResourceProperties('AWS::S3::Bucket', {
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 365 } },
      },
      VersioningConfiguration: { Status: 'Enabled' },
      BucketEncryption: Match.anyValue(),
    });
    const told = Object.entries(prod.service.findResources('AWS::Lambda::Function')).filter(
      ([, resource]) => JSON.stringify(resource).includes('CHECKPOINT_HEADS_'),
    );
    expect(told.map(([id]) => id)).toEqual([expect.stringMatching(/^ReconcilerSweepFunction/)]);
    expect(JSON.stringify(told)).toMatch(/CHECKPOINT_HEADS_BUCKET.*CHECKPOINT_HEADS_SECRET_ID/);
  });

  test('signs no tokens: it has no such secret, and wants an issuer', () => {
    expect(JSON.stringify(prod.service.toJSON())).not.toContain('ISSUER_SECRET');
    expect(() => synthesise({ CHECKPOINT_STAGE: 'prod' })).toThrow(
      'CHECKPOINT_ISSUERS: expected at least one issuer, because the stage prod signs no tokens itself',
    );
  });
});

const WEBHOOKS = JSON.stringify([
  { name: 'desk', url: 'https://desk.example.com/hook', secrets: [`whsec_${'A'.repeat(32)}`] },
]);

const SECRET = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:w-AbCdEf';
const TICKETS = JSON.stringify({
  webhook: { url: 'https://desk.example.com/tickets', secrets: [`whsec_${'A'.repeat(32)}`] },
});
const WITH_HEADERS = JSON.stringify([
  {
    name: 'metrics',
    url: 'https://metrics.example.com/mcp',
    headers: { authorization: 'Bearer x' },
  },
]);

describe('what cannot be deployed is refused with a sentence', () => {
  test.each<[Record<string, string>, string]>([
    [{ CHECKPOINT_STAGE: 'test' }, 'CHECKPOINT_STAGE: expected one of dev, staging, prod'],
    [{ CHECKPOINT_RATE_PER_MINUTE: '1' }, 'expected a whole number from 60 to 600000'],
    [
      { CHECKPOINT_WEBHOOKS: WEBHOOKS },
      'CHECKPOINT_WEBHOOKS: its secrets would stand in the template',
    ],
    [
      { CHECKPOINT_WEBHOOKS_SECRET_ID: 'webhooks' },
      'CHECKPOINT_WEBHOOKS_SECRET_ID: expected the whole ARN of the secret',
    ],
    [
      {
        CHECKPOINT_WEBHOOKS_SECRET_ID: SECRET,
      },
      'CHECKPOINT_WEBHOOK_NAMES: expected the names of the webhooks in the secret',
    ],
    [
      { CHECKPOINT_WEBHOOK_NAMES: 'desk' },
      'CHECKPOINT_WEBHOOK_NAMES: expected the names of the webhooks in the secret',
    ],
    [
      { CHECKPOINT_TICKETS: TICKETS },
      'CHECKPOINT_TICKETS: its secrets would stand in the template; put its text into a secret of Secrets Manager and name that in CHECKPOINT_TICKETS_SECRET_ID',
    ],
    [
      { CHECKPOINT_TICKETS_SECRET_ID: 'tickets' },
      'CHECKPOINT_TICKETS_SECRET_ID: expected the whole ARN of the secret',
    ],
    [
      { CHECKPOINT_TICKETS: 'opscenter', CHECKPOINT_TICKETS_SECRET_ID: SECRET },
      'CHECKPOINT_TICKETS: expected one of it and CHECKPOINT_TICKETS_SECRET_ID',
    ],
    [
      { CHECKPOINT_EVIDENCE_SERVERS: '[{"name":"own","command":"/bin/own"}]' },
      'CHECKPOINT_EVIDENCE_SERVERS: own is a command, which a function does not have',
    ],
    [
      { CHECKPOINT_EVIDENCE_SERVERS: WITH_HEADERS },
      'CHECKPOINT_EVIDENCE_SERVERS: the headers of metrics would stand in the template',
    ],
    [
      { CHECKPOINT_EVIDENCE_SECRET_ID: 'evidence' },
      'CHECKPOINT_EVIDENCE_SECRET_ID: expected the whole ARN of the secret',
    ],
    [
      {
        CHECKPOINT_EVIDENCE_SERVERS: '[{"name":"logs","url":"https://logs.example.com/mcp"}]',
        CHECKPOINT_EVIDENCE_SECRET_ID: SECRET,
      },
      'CHECKPOINT_EVIDENCE_SERVERS: expected one of it and CHECKPOINT_EVIDENCE_SECRET_ID',
    ],
    [{ CHECKPOINT_EVIDENCE_FOLDER: '/nowhere' }, 'the folder /nowhere is not there'],
    [{ CHECKPOINT_POLICIES: '/nowhere/at/all' }, 'the folder /nowhere/at/all is not there'],
  ])('%j', (environment, sentence) => {
    expect(() => synthesise(environment)).toThrow(sentence);
  });
});

test('own procedures are found beside the bundle, and settings are handed on as written', () => {
  const { service } = synthesise({
    CHECKPOINT_POLICIES: join(projectRoot, 'docs'),
    CHECKPOINT_AUTH_PROFILE: 'standard',
    CHECKPOINT_LOG_LEVEL: '',
    CHECKPOINT_SECRET: 'x'.repeat(32),
  });
  service.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        CHECKPOINT_POLICIES: 'policies',
        CHECKPOINT_AUTH_PROFILE: 'standard',
        CHECKPOINT_LOG_LEVEL: Match.absent(),
        CHECKPOINT_SECRET: Match.absent(),
      }),
    },
  });
});

describe('the work of runs', () => {
  const functionsOf = (environment: Record<string, string>) => {
    const { service } = synthesise(environment);
    const variables = (id: string) => {
      const [, found] =
        Object.entries(service.findResources('AWS::Lambda::Function')).find(([name]) =>
          name.startsWith(id),
        ) ?? [];
      return (found as { Properties: { Environment: { Variables: Record<string, unknown> } } })
        .Properties.Environment.Variables;
    };
    return { service, variables };
  };

  test('is one execution of the very file of the state machine for each attempt, begun by whoever delivers', () => {
    const { service, variables } = functionsOf({});
    service.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      DefinitionString: readFileSync(join(projectRoot, RUN_FILE), 'utf8'),
      DefinitionSubstitutions: { RunFunctionArn: Match.anyValue() },
      LoggingConfiguration: Match.objectLike({ Level: 'ALL' }),
    });
    for (const name of ['DeliveryRelay', 'ReconcilerSweep']) {
      expect(variables(name)['CHECKPOINT_RUN_MACHINE_ARN']).toEqual({
        Ref: expect.stringMatching(/^RunsMachine/),
      });
    }
    expect(variables('Http')['CHECKPOINT_RUN_FUNCTION']).toEqual({
      Ref: expect.stringMatching(/^RunsWorkFunction/),
    });
  });

  test('has more time for each call than the parts of it take, and less than its task', () => {
    const { service } = functionsOf({});
    service.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { POWERTOOLS_SERVICE_NAME: 'checkpoint-dev-run' } },
      Timeout: 115,
    });
  });

  test('takes over how evidence is gathered, and reads what is secret of it from Secrets Manager', () => {
    const { service, variables } = functionsOf({
      CHECKPOINT_EVIDENCE_SECRET_ID: SECRET,
      CHECKPOINT_EVIDENCE_STEPS: '4',
      CHECKPOINT_TICKETS_SECRET_ID: SECRET.replace(':w-', ':t-'),
    });
    expect(variables('RunsWork')).toMatchObject({
      CHECKPOINT_EVIDENCE_SECRET_ID: SECRET,
      CHECKPOINT_EVIDENCE_STEPS: '4',
      CHECKPOINT_TICKETS_SECRET_ID: SECRET.replace(':w-', ':t-'),
    });
    // Reading a ticket back is the reconciler's work too; evidence is not, and callers get neither.
    expect(variables('ReconcilerSweep')).toHaveProperty('CHECKPOINT_TICKETS_SECRET_ID');
    expect(variables('ReconcilerSweep')).not.toHaveProperty('CHECKPOINT_EVIDENCE_SECRET_ID');
    expect(Object.keys(variables('Http')).filter((name) => /EVIDENCE|TICKETS/.test(name))).toEqual(
      [],
    );
    service.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Sid: 'Secrets',
            Resource: Match.arrayWith([SECRET.replace(':w-', ':t-'), SECRET]),
          }),
        ]),
      },
    });
  });

  test('may write and read items of OpsCenter where tickets go there, and the sweep reads them', () => {
    const { service, variables } = functionsOf({ CHECKPOINT_TICKETS: 'opscenter' });
    for (const name of ['RunsWork', 'ReconcilerSweep']) {
      expect(variables(name)['CHECKPOINT_TICKETS']).toBe('opscenter');
    }
    const policies = Object.entries(service.findResources('AWS::IAM::Policy'));
    const having = (action: string): string[] =>
      policies
        .filter(([, policy]) => JSON.stringify(policy).includes(action))
        .map(([id]) => /^(?:RunsWork|ReconcilerSweep)|/.exec(id)?.[0] ?? '')
        .toSorted();
    expect(having('ssm:CreateOpsItem')).toEqual(['RunsWork']);
    expect(having('ssm:DescribeOpsItems')).toEqual(['ReconcilerSweep', 'RunsWork']);
    expect(having('ssm:GetOpsItem')).toEqual(['ReconcilerSweep', 'RunsWork']);
  });
});
