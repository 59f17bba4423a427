/**
 * Every setting there is, in one table: the reader, `.env.example` and `docs/configuration.md` come
 * from it, so a default is written once. It parses nothing and reads nothing.
 */
import * as z from 'zod';
import { BUNDLED_TOOLS, evidenceServerList, evidenceToolList } from './evidence.ts';
import { issuerList } from './issuers.ts';
import { setting } from './setting.ts';
import { ticketProvider } from './tickets.ts';
import {
  eventBusName,
  folder,
  frontCertificateArn,
  frontWebAclArn,
  hostList,
  listenAddress,
  originList,
  parameterName,
  plainHttpUrl,
  secretName,
  tableName,
  topicArn,
  wholeNumber,
} from './value-types.ts';
import { webhookList, webhookNames } from './webhooks.ts';

/** The settings in the order in which documents show them. */
export const settingsTable = {
  host: setting({
    env: 'HOST',
    type: listenAddress,
    default: '127.0.0.1',
    expected: 'a host name or an IP address, without a port',
    description: 'Address the local server listens on.',
  }),
  port: setting({
    env: 'PORT',
    type: wholeNumber(0, 65_535),
    default: '8000',
    unit: 'TCP port',
    expected: 'a whole number from 0 to 65535',
    description: 'Port the local server listens on; 0 takes a free one.',
  }),
  dataFolder: setting({
    env: 'CHECKPOINT_DATA',
    type: folder,
    default: '.checkpoint',
    expected: 'a path of a folder',
    description: 'Folder of the local database, keys and secrets. It is created on first use.',
  }),
  publicUrl: setting({
    env: 'CHECKPOINT_PUBLIC_URL',
    type: plainHttpUrl,
    default: undefined,
    defaultMeaning: 'built from host and port',
    expected: 'an absolute http or https URL without credentials, query or fragment',
    description:
      'URL of the MCP endpoint as clients see it. Tokens must be issued for it, and discovery names it.',
    example: 'https://checkpoint.example.com/mcp',
  }),
  policiesFolder: setting({
    env: 'CHECKPOINT_POLICIES',
    type: folder,
    default: undefined,
    defaultMeaning: 'the shipped domains only',
    expected: 'a path of a folder',
    description: 'Folder with further procedures: JSON files, or modules with rules in code.',
    example: 'policies',
  }),
  issuers: setting({
    env: 'CHECKPOINT_ISSUERS',
    type: issuerList,
    default: '[]',
    defaultMeaning: 'none: the development issuer in the data folder is the only one',
    expected: 'a JSON array of issuers',
    description: 'Token issuers to trust, each with the tenants it speaks for.',
    example:
      '[{"alias":"corp","issuer":"https://id.example.com","jwks_url":"https://id.example.com/jwks","tenants":["plant-7"]}]',
  }),
  webhooks: setting({
    env: 'CHECKPOINT_WEBHOOKS',
    type: webhookList,
    default: '[]',
    defaultMeaning: 'none: notifications are log lines only',
    expected: 'a JSON array of webhooks',
    description:
      'Where notifications are posted, beside the log. Requests are signed by the Standard Webhooks specification; while a secret is replaced, name the old and the new one.',
    example:
      '[{"name":"desk","url":"https://desk.example.com/hooks/checkpoint","secrets":["whsec_bm90IGEgcmVhbCBzZWNyZXQsIGFuIGV4YW1wbGU="]}]',
  }),
  evidenceServers: setting({
    env: 'CHECKPOINT_EVIDENCE_SERVERS',
    type: evidenceServerList,
    default: '[{"name":"bundled","bundled":true}]',
    defaultMeaning: 'the bundled server alone',
    expected: 'a JSON array of servers',
    description:
      'Tool servers that evidence is read from: the bundled one, a command, or a URL, as docs/evidence.md shows.',
    example:
      '[{"name":"bundled","bundled":true},{"name":"metrics","url":"https://metrics.example.com/mcp","headers":{"authorization":"Bearer an-example"}}]',
  }),
  evidenceTools: setting({
    env: 'CHECKPOINT_EVIDENCE_TOOLS',
    type: evidenceToolList,
    default: JSON.stringify(BUNDLED_TOOLS),
    defaultMeaning: 'the two tools of the bundled server',
    expected: 'a JSON array of tools',
    description:
      'The allowlist: tools that may be called, each with the pin of its definition. `checkpoint tools --pin` prints it.',
    example:
      '[{"server":"metrics","tool":"latency","pin":"07fb83ec678b3d9432311216314a2af5731c72a845163a9fea485942ea2b9efc"}]',
  }),
  evidenceFolder: setting({
    env: 'CHECKPOINT_EVIDENCE_FOLDER',
    type: folder,
    default: undefined,
    defaultMeaning: '`evidence` in the data folder, and the example files where there is none',
    expected: 'a path of a folder',
    description: 'Folder of the bundled server: `services.yaml` and `runbooks/`.',
    example: 'evidence',
  }),
  evidenceSteps: setting({
    env: 'CHECKPOINT_EVIDENCE_STEPS',
    type: wholeNumber(1, 32),
    default: '8',
    unit: 'requests',
    expected: 'a whole number from 1 to 32',
    description: 'Requests for evidence that one run may make, refused ones included.',
  }),
  evidenceTimeoutMs: setting({
    env: 'CHECKPOINT_EVIDENCE_TIMEOUT_MS',
    type: wholeNumber(100, 60_000),
    default: '10000',
    unit: 'ms',
    expected: 'a whole number from 100 to 60000',
    description: 'Time that one request for evidence has, the start of its server included.',
  }),
  evidenceOutputBytes: setting({
    env: 'CHECKPOINT_EVIDENCE_OUTPUT_BYTES',
    type: wholeNumber(256, 16_384),
    default: '16384',
    unit: 'bytes',
    expected: 'a whole number from 256 to 16384',
    description: 'Bytes of one answer that are kept; the digest is over all of it.',
  }),
  tickets: setting({
    env: 'CHECKPOINT_TICKETS',
    type: ticketProvider,
    default: 'built-in',
    expected: 'built-in, opscenter or a JSON object with a webhook',
    description:
      'Where the ticket of an approved run is written: the table of this deployment, OpsCenter of AWS Systems Manager (with the credentials of the process), or a signed webhook, as docs/runs.md shows.',
    example:
      '{"webhook":{"url":"https://desk.example.com/tickets","secrets":["whsec_bm90IGEgcmVhbCBzZWNyZXQsIGFuIGV4YW1wbGU="]}}',
  }),
  allowedOrigins: setting({
    env: 'CHECKPOINT_ALLOWED_ORIGINS',
    type: originList,
    default: '',
    defaultMeaning: 'none',
    expected: 'origins such as https://app.example.com, separated by commas',
    description: 'Browser origins that may call the server.',
    example: 'https://app.example.com,https://desk.example.com:8443',
  }),
  allowedHosts: setting({
    env: 'CHECKPOINT_ALLOWED_HOSTS',
    type: hostList,
    default: '',
    defaultMeaning: 'the host of the public URL and this machine',
    expected: 'host names without port, separated by commas',
    description: 'Further names the `Host` header may carry.',
    example: 'checkpoint.internal,10.0.0.7',
  }),
  authProfile: setting({
    env: 'CHECKPOINT_AUTH_PROFILE',
    type: z.enum(['alexa', 'standard']),
    default: 'alexa',
    expected: 'alexa or standard',
    description:
      '`alexa` sends 401 and 403 without a `WWW-Authenticate` header and says in words that a scope is missing; `standard` sends the header, and a missing scope is 403.',
  }),
  mcpApprovals: setting({
    env: 'CHECKPOINT_MCP_APPROVALS',
    type: z.enum(['off', 'on']),
    default: 'off',
    expected: 'off or on',
    description:
      'Whether people may approve and deny through an assistant (the tool `decide_approval`). Off, they decide over REST and on the command line; a token of a service or an agent decides nowhere.',
  }),
  ratePerMinute: setting({
    env: 'CHECKPOINT_RATE_PER_MINUTE',
    type: wholeNumber(60, 600_000),
    default: '6000',
    unit: 'calls per minute',
    expected: 'a whole number from 60 to 600000',
    description:
      'Calls that one person, agent or service may make in a minute, on each process. Beyond it the answer is 429; there is no way to turn it off.',
  }),
  logLevel: setting({
    env: 'CHECKPOINT_LOG_LEVEL',
    type: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    expected: 'fatal, error, warn, info, debug, trace or silent',
    description: 'Least important log lines that are written.',
  }),
  commandTimeoutMs: setting({
    env: 'CHECKPOINT_COMMAND_TIMEOUT_MS',
    type: wholeNumber(100, 25_000),
    default: '2000',
    unit: 'ms',
    expected: 'a whole number from 100 to 25000',
    description: 'Time a command has; after it nothing more is sent to the store.',
  }),
  lockTimeoutMs: setting({
    env: 'CHECKPOINT_LOCK_TIMEOUT_MS',
    type: wholeNumber(0, 20_000),
    default: '1000',
    unit: 'ms',
    expected: 'a whole number from 0 to 20000',
    description: 'Time a local transaction waits for the lock of the SQLite file.',
  }),
  secret: setting({
    env: 'CHECKPOINT_SECRET',
    type: z.string().min(32).max(4096),
    default: undefined,
    defaultMeaning: 'generated in the data folder',
    expected: 'at least 32 characters',
    description: 'Secret from which the keys of cursors and confirmation tokens are derived.',
  }),
  stage: setting({
    env: 'CHECKPOINT_STAGE',
    type: z.string().regex(/^[a-z][a-z0-9-]{0,15}$/),
    default: 'dev',
    expected: 'dev, staging or prod',
    description: 'On AWS: the stage that is deployed. A local server has none.',
  }),
  table: setting({
    env: 'CHECKPOINT_TABLE',
    type: tableName,
    default: undefined,
    defaultMeaning: 'none; the deployed function has one',
    expected: 'a name of a DynamoDB table',
    description: 'On AWS: the table of the deployment. A local server has its data folder instead.',
    example: 'checkpoint-dev-data-Table0123ABCD',
  }),
  publicUrlParameter: setting({
    env: 'CHECKPOINT_PUBLIC_URL_PARAMETER',
    type: parameterName,
    default: undefined,
    defaultMeaning: 'none; the deployed function has one',
    expected: 'a name of a parameter',
    description:
      'On AWS: the parameter that holds the URL of the MCP endpoint. A function cannot be told its own URL otherwise.',
    example: '/checkpoint/dev/public-url',
  }),
  secretId: setting({
    env: 'CHECKPOINT_SECRET_ID',
    type: secretName,
    default: undefined,
    defaultMeaning: 'none; the deployed function has one',
    expected: 'a name or ARN of a secret',
    description: 'On AWS: the secret in Secrets Manager that holds what `CHECKPOINT_SECRET` is.',
    example: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:checkpoint-AbCdEf',
  }),
  issuerSecretId: setting({
    env: 'CHECKPOINT_ISSUER_SECRET_ID',
    type: secretName,
    default: undefined,
    defaultMeaning: 'none; only a development stage without issuers has one',
    expected: 'a name or ARN of a secret',
    description:
      "On AWS: the secret from which the deployment's own issuer is derived. It counts only while `CHECKPOINT_ISSUERS` names none.",
    example: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:issuer-AbCdEf',
  }),
  webhooksSecretId: setting({
    env: 'CHECKPOINT_WEBHOOKS_SECRET_ID',
    type: secretName,
    default: undefined,
    defaultMeaning: 'none',
    expected: 'a name or ARN of a secret',
    description:
      'On AWS: the secret in Secrets Manager that holds what `CHECKPOINT_WEBHOOKS` is. To deploy, its whole ARN.',
    example: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:webhooks-AbCdEf',
  }),
  webhookNames: setting({
    env: 'CHECKPOINT_WEBHOOK_NAMES',
    type: webhookNames,
    default: '',
    defaultMeaning: 'none',
    expected: 'the names of the webhooks in that secret, separated by commas',
    description:
      'On AWS: the names of the webhooks that `CHECKPOINT_WEBHOOKS_SECRET_ID` holds. The function that answers callers writes rows for them and never reads their secrets.',
    example: 'desk,planner',
  }),
  topicArn: setting({
    env: 'CHECKPOINT_TOPIC_ARN',
    type: topicArn,
    default: undefined,
    defaultMeaning: 'none; the deployed functions have one',
    expected: 'an ARN of an SNS topic that is not FIFO',
    description: 'On AWS: the topic that notifications are published to, beside the log.',
    example: 'arn:aws:sns:eu-west-1:123456789012:checkpoint-dev-data-Topic0123ABCD',
  }),
  alarmTopicArn: setting({
    env: 'CHECKPOINT_ALARM_TOPIC_ARN',
    type: topicArn,
    default: undefined,
    defaultMeaning: 'none: alarms only show their state',
    expected: 'an ARN of an SNS topic that is not FIFO',
    description: 'On AWS: the topic that alarms are told to, when they begin and when they end.',
    example: 'arn:aws:sns:eu-west-1:123456789012:on-call',
  }),
  eventBus: setting({
    env: 'CHECKPOINT_EVENT_BUS',
    type: eventBusName,
    default: undefined,
    defaultMeaning: 'none',
    expected: 'a name or ARN of an event bus',
    description: 'On AWS: the event bus of EventBridge that notifications are put on.',
    example: 'operations',
  }),
  frontCertificateArn: setting({
    env: 'CHECKPOINT_FRONT_CERTIFICATE_ARN',
    type: frontCertificateArn,
    default: undefined,
    defaultMeaning: 'none: clients use the URL of the function',
    expected: 'an ARN of a certificate in us-east-1',
    description:
      'To deploy: puts CloudFront in front of the function, under the host of `CHECKPOINT_PUBLIC_URL`, with this certificate.',
    example: 'arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef',
  }),
  frontWebAclArn: setting({
    env: 'CHECKPOINT_FRONT_WEB_ACL_ARN',
    type: frontWebAclArn,
    default: undefined,
    defaultMeaning: 'none',
    expected: 'an ARN of a web ACL for CloudFront, in us-east-1',
    description: 'To deploy: the web ACL of WAF that CloudFront asks.',
    example: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/checkpoint/01234567',
  }),
  frontSecretId: setting({
    env: 'CHECKPOINT_FRONT_SECRET_ID',
    type: secretName,
    default: undefined,
    defaultMeaning: 'none; the function behind CloudFront has one',
    expected: 'a name or ARN of a secret',
    description:
      'On AWS: the secret by which what is in front of the function proves itself. Other requests are refused.',
    example: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:front-AbCdEf',
  }),
} as const;
