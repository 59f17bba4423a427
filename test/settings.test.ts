import { describe, expect, test } from '@jest/globals';
import { readSettings } from '../lib/settings.ts';
import type { Setting } from '../lib/settings/setting.ts';
import { BUNDLED_TOOLS } from '../lib/settings/evidence.ts';
import { settingsTable } from '../lib/settings/table.ts';
import { faultsOf } from './support/settings-faults.ts';

const issuer = {
  alias: 'corp',
  issuer: 'https://id.example.com',
  jwks_url: 'https://id.example.com/jwks',
  tenants: ['plant-7'],
};

const urlOf = (chars: number): string => 'https://a.example/'.padEnd(chars, 'p');
const hosts = (count: number): string =>
  Array.from({ length: count }, (_, n) => `h${n}.example`).join(',');
const origins = (count: number): string =>
  Array.from({ length: count }, (_, n) => `https://h${n}.example`).join(',');

const webhook = {
  name: 'desk',
  url: 'https://desk.example.com/hook',
  secrets: [`whsec_${'A'.repeat(32)}`],
};

describe('readSettings', () => {
  test('fills every default in from an empty environment', () => {
    expect(readSettings({})).toEqual({
      host: '127.0.0.1',
      port: 8000,
      dataFolder: '.checkpoint',
      publicUrl: undefined,
      policiesFolder: undefined,
      issuers: [],
      webhooks: [],
      evidenceServers: [{ name: 'bundled', kind: 'bundled' }],
      evidenceTools: BUNDLED_TOOLS.map(({ server, tool, pin }) => ({ server, name: tool, pin })),
      evidenceFolder: undefined,
      evidenceSteps: 8,
      evidenceTimeoutMs: 10_000,
      evidenceOutputBytes: 16_384,
      tickets: { kind: 'built-in' },
      allowedOrigins: [],
      allowedHosts: [],
      authProfile: 'alexa',
      mcpApprovals: 'off',
      ratePerMinute: 6000,
      logLevel: 'info',
      commandTimeoutMs: 2000,
      lockTimeoutMs: 1000,
      secret: undefined,
      stage: 'dev',
      table: undefined,
      publicUrlParameter: undefined,
      secretId: undefined,
      headsBucket: undefined,
      headsSecretId: undefined,
      issuerSecretId: undefined,
      webhooksSecretId: undefined,
      webhookNames: [],
      topicArn: undefined,
      alarmTopicArn: undefined,
      eventBus: undefined,
    });
  });

  test('takes an empty text as unset', () => {
    const empty = Object.values<Setting>(settingsTable).map((row) => [row.env, '']);
    expect(readSettings(Object.fromEntries(empty))).toEqual(readSettings({}));
  });

  test('returns typed values for a full environment', () => {
    const settings = readSettings({
      HOST: '0.0.0.0',
      PORT: '0',
      CHECKPOINT_DATA: '/var/lib/checkpoint',
      CHECKPOINT_PUBLIC_URL: 'https://checkpoint.example.com/mcp',
      CHECKPOINT_POLICIES: 'policies',
      CHECKPOINT_ISSUERS: JSON.stringify([issuer]),
      CHECKPOINT_WEBHOOKS: JSON.stringify([webhook]),
      CHECKPOINT_EVIDENCE_SERVERS: '[{"name":"own","command":"tools"}]',
      CHECKPOINT_EVIDENCE_TOOLS: '[{"server":"own","tool":"look"}]',
      CHECKPOINT_EVIDENCE_FOLDER: 'evidence',
      CHECKPOINT_EVIDENCE_STEPS: '1',
      CHECKPOINT_EVIDENCE_TIMEOUT_MS: '100',
      CHECKPOINT_EVIDENCE_OUTPUT_BYTES: '256',
      CHECKPOINT_ALLOWED_ORIGINS: 'https://app.example.com, http://localhost:5173',
      CHECKPOINT_ALLOWED_HOSTS: 'checkpoint.internal, 10.0.0.7',
      CHECKPOINT_AUTH_PROFILE: 'standard',
      CHECKPOINT_MCP_APPROVALS: 'on',
      CHECKPOINT_RATE_PER_MINUTE: '60',
      CHECKPOINT_LOG_LEVEL: 'silent',
      CHECKPOINT_COMMAND_TIMEOUT_MS: '100',
      CHECKPOINT_LOCK_TIMEOUT_MS: '0',
      CHECKPOINT_SECRET: '0123456789abcdef0123456789abcdef',
      CHECKPOINT_STAGE: 'prod',
      CHECKPOINT_TABLE: 'checkpoint-prod-data-Table0123ABCD',
      CHECKPOINT_PUBLIC_URL_PARAMETER: '/checkpoint/prod/public-url',
      CHECKPOINT_SECRET_ID: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:a-AbCdEf',
      CHECKPOINT_HEADS_BUCKET: 'checkpoint-prod-data-heads0123abcd',
      CHECKPOINT_HEADS_SECRET_ID: 'heads',
      CHECKPOINT_ISSUER_SECRET_ID: 'issuer',
      CHECKPOINT_WEBHOOKS_SECRET_ID: 'webhooks',
      CHECKPOINT_WEBHOOK_NAMES: 'planner, desk-2',
      CHECKPOINT_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:notifications',
      CHECKPOINT_ALARM_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:on-call',
      CHECKPOINT_EVENT_BUS: 'operations',
      CHECKPOINT_FRONT_CERTIFICATE_ARN: 'arn:aws:acm:us-east-1:123456789012:certificate/0-a',
      CHECKPOINT_FRONT_WEB_ACL_ARN:
        'arn:aws:wafv2:us-east-1:123456789012:global/webacl/checkpoint/0-a',
      CHECKPOINT_FRONT_SECRET_ID: 'front',
    });
    expect(settings).toEqual({
      host: '0.0.0.0',
      port: 0,
      dataFolder: '/var/lib/checkpoint',
      publicUrl: 'https://checkpoint.example.com/mcp',
      policiesFolder: 'policies',
      issuers: [
        {
          alias: 'corp',
          issuer: 'https://id.example.com',
          jwksUrl: 'https://id.example.com/jwks',
          audience: undefined,
          tenants: ['plant-7'],
          tenantClaim: 'tenant',
          agentClaim: undefined,
          clientIds: undefined,
        },
      ],
      webhooks: [webhook],
      evidenceServers: [{ name: 'own', kind: 'command', command: 'tools', args: [], env: {} }],
      evidenceTools: [{ server: 'own', name: 'look', pin: undefined }],
      evidenceFolder: 'evidence',
      evidenceSteps: 1,
      evidenceTimeoutMs: 100,
      evidenceOutputBytes: 256,
      tickets: { kind: 'built-in' },
      allowedOrigins: ['https://app.example.com', 'http://localhost:5173'],
      allowedHosts: ['checkpoint.internal', '10.0.0.7'],
      authProfile: 'standard',
      mcpApprovals: 'on',
      ratePerMinute: 60,
      logLevel: 'silent',
      commandTimeoutMs: 100,
      lockTimeoutMs: 0,
      secret: '0123456789abcdef0123456789abcdef',
      stage: 'prod',
      table: 'checkpoint-prod-data-Table0123ABCD',
      publicUrlParameter: '/checkpoint/prod/public-url',
      secretId: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:a-AbCdEf',
      headsBucket: 'checkpoint-prod-data-heads0123abcd',
      headsSecretId: 'heads',
      issuerSecretId: 'issuer',
      webhooksSecretId: 'webhooks',
      webhookNames: ['planner', 'desk-2'],
      topicArn: 'arn:aws:sns:eu-west-1:123456789012:notifications',
      alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:on-call',
      eventBus: 'operations',
      frontCertificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0-a',
      frontWebAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/checkpoint/0-a',
      frontSecretId: 'front',
    });
  });

  test('reports all faults in one error, by name', () => {
    const read = () =>
      readSettings({ PORT: '80 00', CHECKPOINT_LOG_LEVEL: 'loud', CHECKPOINT_PROT: '1' });
    expect(read).toThrow(
      [
        'These settings cannot be used:',
        '  CHECKPOINT_PROT: no setting has this name; did you mean PORT?',
        '  PORT: expected a whole number from 0 to 65535',
        '  CHECKPOINT_LOG_LEVEL: expected fatal, error, warn, info, debug, trace or silent',
      ].join('\n'),
    );
  });

  test('never repeats a value, whichever setting it was put into', () => {
    const value = 'hunter2-hunter2';
    const names = Object.values<Setting>(settingsTable).map((row) => row.env);
    const environment = Object.fromEntries(names.map((name) => [name, `${value}\0|`]));
    const faults = faultsOf({ ...environment, CHECKPOINT_ISSUERS: `[{"alias":"${value}|"}]` });
    expect(faults.map((fault) => fault.name)).toEqual(names);
    expect(JSON.stringify(faults)).not.toContain('hunter2');
  });

  test('leaves variables of other programs alone', () => {
    expect(readSettings({ PATH: '/bin', CHECKPOINTS: 'x', AWS_REGION: 'eu-west-1' }).port).toBe(
      8000,
    );
  });
});

describe('an unknown CHECKPOINT_ name', () => {
  test.each([
    ['CHECKPOINT_LOGLEVEL', 'no setting has this name; did you mean CHECKPOINT_LOG_LEVEL?'],
    ['CHECKPOINT_HOST', 'no setting has this name; did you mean HOST?'],
    [
      'CHECKPOINT_LOCK_TIMEOUT',
      'no setting has this name; did you mean CHECKPOINT_LOCK_TIMEOUT_MS?',
    ],
    ['CHECKPOINT_data', 'no setting has this name'],
    ['CHECKPOINT_XYZZYXYZZY', 'no setting has this name'],
    ['CHECKPOINT_', 'no setting has this name'],
  ])('%s is refused', (name, problem) => {
    expect(faultsOf({ [name]: 'x' })).toEqual([{ name, problem }]);
  });

  test('is ignored while it is empty', () => {
    expect(faultsOf({ CHECKPOINT_LOGLEVEL: '' })).toEqual([]);
  });
});

describe('accepted and refused values', () => {
  test.each<[name: string, accepted: string[], refused: string[]]>([
    [
      'HOST',
      ['localhost', '127.0.0.1', '::1', '0.0.0.0', 'pump-7.plant.example', 'a'.repeat(63)],
      ['127.0.0.1:80', '[::1]', 'a b', '-a', '999.1.1.1', 'http://a', ' ', 'a'.repeat(64)],
    ],
    ['CHECKPOINT_MCP_APPROVALS', ['off', 'on'], ['true', 'ON', '1']],
    ['CHECKPOINT_RATE_PER_MINUTE', ['60', '600000'], ['0', '59', '600001', 'off']],
    ['PORT', ['0', '1', '65535', '08000'], ['65536', '-1', '1.5', '1e3', '0x50', ' 80', 'http']],
    [
      'CHECKPOINT_DATA',
      ['.', '/var/lib/a b', 'a'.repeat(4096)],
      [' ', ' data', 'data\n', 'a\0b', 'a'.repeat(4097)],
    ],
    [
      'CHECKPOINT_POLICIES',
      ['policies', '../shared', 'a'.repeat(4096)],
      [' ', 'a\0b', 'a'.repeat(4097)],
    ],
    [
      'CHECKPOINT_PUBLIC_URL',
      ['https://a.example/mcp', 'http://127.0.0.1:8000/mcp', 'https://[::1]:8443/mcp', urlOf(2048)],
      [
        urlOf(2049),
        'a.example/mcp',
        '/mcp',
        'ftp://a.example',
        'https:a.example',
        'https://',
        'https://a.example/mcp?x=1',
        'https://a.example/mcp#x',
        'https://user:pass@a.example/mcp',
        'https://a.example/\nmcp',
        ' https://a.example/mcp',
        'https:\\\\a.example',
        'https://a.example:99999/mcp',
      ],
    ],
    [
      'CHECKPOINT_ALLOWED_ORIGINS',
      [
        'https://a.example',
        'https://a.example,http://localhost:5173',
        'https://[::1]:1',
        origins(100),
      ],
      [
        origins(101),
        '*',
        'null',
        'a.example',
        'https://a.example/',
        'https://a.example/x',
        'https://a.example,',
      ],
    ],
    [
      'CHECKPOINT_ALLOWED_HOSTS',
      ['a.example', 'a.example,[::1]', '10.0.0.7', hosts(100)],
      [
        hosts(101),
        'a.example:8000',
        '*',
        '*.example',
        '::1',
        '[10.0.0.7]',
        'https://a.example',
        'a,,b',
        ',',
      ],
    ],
    ['CHECKPOINT_AUTH_PROFILE', ['alexa', 'standard'], ['Alexa', 'none', 'off']],
    ['CHECKPOINT_LOG_LEVEL', ['trace', 'fatal'], ['INFO', '30', 'verbose']],
    ['CHECKPOINT_COMMAND_TIMEOUT_MS', ['100', '25000'], ['99', '25001', '2s', '2000.5']],
    ['CHECKPOINT_LOCK_TIMEOUT_MS', ['0', '20000'], ['20001', '-1', '1s']],
    ['CHECKPOINT_STAGE', ['dev', 'prod', 'a'.repeat(16)], ['Dev', '1', 'a b', 'a'.repeat(17)]],
    ['CHECKPOINT_TABLE', ['abc', 'a.b-c_1'], ['ab', 'a b', 'a\n']],
    ['CHECKPOINT_PUBLIC_URL_PARAMETER', ['/a/b', 'a'], ['/', 'a//b', 'a b', 'a:1']],
    ['CHECKPOINT_SECRET_ID', ['a', 'arn:aws:secretsmanager:eu-west-1:1:secret:a-b'], ['a b', '*']],
    [
      'CHECKPOINT_HEADS_BUCKET',
      ['abc', 'a.b-0', 'a'.repeat(63)],
      ['ab', 'A-b', '-ab', 'a'.repeat(64)],
    ],
    ['CHECKPOINT_HEADS_SECRET_ID', ['a'], ['a b', '*']],
    ['CHECKPOINT_ISSUER_SECRET_ID', ['a'], ['a b', 'a\n']],
    ['CHECKPOINT_SECRET', ['x'.repeat(32), 'x'.repeat(4096)], ['x'.repeat(31), 'x'.repeat(4097)]],
  ])('%s', (name, accepted, refused) => {
    for (const text of accepted) expect([text, faultsOf({ [name]: text })]).toEqual([text, []]);
    for (const text of refused) {
      const names = faultsOf({ [name]: text }).map((fault) => fault.name);
      expect([text, names]).toEqual([text, [name]]);
    }
  });

  test('origins and hosts come in the spelling that is compared, once each', () => {
    const settings = readSettings({
      CHECKPOINT_ALLOWED_ORIGINS: 'HTTPS://App.Example.com:443,https://app.example.com',
      CHECKPOINT_ALLOWED_HOSTS: 'Checkpoint.Internal,checkpoint.internal',
    });
    expect(settings.allowedOrigins).toEqual(['https://app.example.com']);
    expect(settings.allowedHosts).toEqual(['checkpoint.internal']);
  });

  test('a fault in a list names the entry by its position', () => {
    expect(faultsOf({ CHECKPOINT_ALLOWED_ORIGINS: 'https://a.example,*' })).toEqual([
      {
        name: 'CHECKPOINT_ALLOWED_ORIGINS',
        problem:
          'expected origins such as https://app.example.com, separated by commas; /1 is not an origin',
      },
    ]);
  });
});

describe('the settings table', () => {
  const rows = Object.values<Setting>(settingsTable);

  test('has every default and every example in a form that the reader takes', () => {
    for (const row of rows) {
      if (row.default !== undefined) expect(row.type.safeParse(row.default).success).toBe(true);
      if (row.example !== undefined) expect(faultsOf({ [row.env]: row.example })).toEqual([]);
    }
  });

  test('names each variable once', () => {
    expect(rows.map((row) => row.env)).toEqual([
      'HOST',
      'PORT',
      'CHECKPOINT_DATA',
      'CHECKPOINT_PUBLIC_URL',
      'CHECKPOINT_POLICIES',
      'CHECKPOINT_ISSUERS',
      'CHECKPOINT_WEBHOOKS',
      'CHECKPOINT_EVIDENCE_SERVERS',
      'CHECKPOINT_EVIDENCE_TOOLS',
      'CHECKPOINT_EVIDENCE_FOLDER',
      'CHECKPOINT_EVIDENCE_STEPS',
      'CHECKPOINT_EVIDENCE_TIMEOUT_MS',
      'CHECKPOINT_EVIDENCE_OUTPUT_BYTES',
      'CHECKPOINT_TICKETS',
      'CHECKPOINT_ALLOWED_ORIGINS',
      'CHECKPOINT_ALLOWED_HOSTS',
      'CHECKPOINT_AUTH_PROFILE',
      'CHECKPOINT_MCP_APPROVALS',
      'CHECKPOINT_RATE_PER_MINUTE',
      'CHECKPOINT_LOG_LEVEL',
      'CHECKPOINT_COMMAND_TIMEOUT_MS',
      'CHECKPOINT_LOCK_TIMEOUT_MS',
      'CHECKPOINT_SECRET',
      'CHECKPOINT_STAGE',
      'CHECKPOINT_TABLE',
      'CHECKPOINT_PUBLIC_URL_PARAMETER',
      'CHECKPOINT_SECRET_ID',
      'CHECKPOINT_HEADS_BUCKET',
      'CHECKPOINT_HEADS_SECRET_ID',
      'CHECKPOINT_ISSUER_SECRET_ID',
      'CHECKPOINT_WEBHOOKS_SECRET_ID',
      'CHECKPOINT_WEBHOOK_NAMES',
      'CHECKPOINT_TOPIC_ARN',
      'CHECKPOINT_ALARM_TOPIC_ARN',
      'CHECKPOINT_EVIDENCE_SECRET_ID',
      'CHECKPOINT_TICKETS_SECRET_ID',
      'CHECKPOINT_RUN_MACHINE_ARN',
      'CHECKPOINT_RUN_FUNCTION',
      'CHECKPOINT_EVENT_BUS',
      'CHECKPOINT_FRONT_CERTIFICATE_ARN',
      'CHECKPOINT_FRONT_WEB_ACL_ARN',
      'CHECKPOINT_FRONT_SECRET_ID',
    ]);
  });
});
