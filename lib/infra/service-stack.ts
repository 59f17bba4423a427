/** What a release replaces: the functions, the URL, and where they are found. */
import { resolve } from 'node:path';
import { CfnOutput, RemovalPolicy, Stack, Validations, type StackProps } from 'aws-cdk-lib';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { OUTPUTS, parameterNames } from '../settings/deployment-names.ts';
import { serviceName } from '../settings/metric-names.ts';
import { settingsTable } from '../settings/table.ts';
import type { Environment, Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';
import { stageDelivery } from './delivery.ts';
import { Front } from './front.ts';
import { HouseFunction } from './house-function.ts';
import { Reconciler } from './reconciler.ts';
import { Relay } from './relay.ts';
import { Runs } from './runs.ts';
import type { Stage } from './stages.ts';
import { Watch } from './watch.ts';
import {
  readParameter,
  readSecrets,
  TABLE_KEY_WILDCARD,
  useTable,
  useTableKey,
} from './statements.ts';

/** What the service of a stage is built from. */
export interface ServiceProps extends StackProps {
  readonly stage: Stage;
  readonly data: DataStack;
  /** The environment of whoever deploys, as it was read into `settings`. */
  readonly environment: Environment;
  readonly settings: Settings;
}

/** Settings that the function takes over as they are written. */
const HANDED_ON = [
  'issuers',
  'allowedOrigins',
  'allowedHosts',
  'authProfile',
  'mcpApprovals',
  'ratePerMinute',
  'logLevel',
  'commandTimeoutMs',
] as const satisfies readonly (keyof typeof settingsTable)[];

/** Those of the function that works on runs. */
const RUNS_HANDED_ON = [
  'logLevel',
  'evidenceServers',
  'evidenceTools',
  'evidenceSteps',
  'evidenceTimeoutMs',
  'evidenceOutputBytes',
] as const satisfies readonly (keyof typeof settingsTable)[];

/** The name under which own procedures lie beside the bundle. */
const POLICIES = 'policies';

/** The service of one stage. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id, props);
    const { stage, data, environment, settings } = props;
    const names = parameterNames(stage.name);
    if (settings.issuers.length === 0 && !stage.ownIssuer) {
      throw new Error(
        `CHECKPOINT_ISSUERS: expected at least one issuer, because the stage ${stage.name} signs no tokens itself`,
      );
    }
    const issuerSecret = settings.issuers.length === 0 ? this.issuerSecret(stage) : undefined;
    const delivery = stageDelivery(this, data, settings);
    const front = Front.of(this, stage, settings);
    const own = [data.secret, issuerSecret, front?.secret].filter((secret) => secret !== undefined);
    const policies = ownPolicies(settings);
    const runs = new Runs(this, 'Runs', {
      stage,
      data,
      delivery,
      settings,
      environment: handedOn(environment, RUNS_HANDED_ON),
    });
    const http = new HouseFunction(this, 'Http', {
      stage,
      entry: 'lambdas/http.ts',
      description: 'Checkpoint over HTTP: MCP and discovery',
      serviceName: serviceName(stage.name, 'http'),
      environment: {
        ...handedOn(environment, HANDED_ON),
        ...delivery.environment,
        [settingsTable.table.env]: data.table.tableName,
        [settingsTable.publicUrlParameter.env]: names.publicUrl,
        [settingsTable.secretId.env]: data.secret.secretArn,
        ...(issuerSecret !== undefined && {
          [settingsTable.issuerSecretId.env]: issuerSecret.secretArn,
        }),
        ...(front !== undefined && { [settingsTable.frontSecretId.env]: front.secret.secretArn }),
        [settingsTable.runFunction.env]: runs.lambda.functionName,
        ...policies.environment,
      },
      statements: [
        ...useTable(data.table),
        useTableKey(data.key),
        readSecrets(own),
        readParameter(this, names.publicUrl),
        runs.ask(),
      ],
      wildcards: [TABLE_KEY_WILDCARD],
      pages: true,
      ...policies.beside,
    });
    const background = {
      stage,
      data,
      delivery,
      runs,
      environment: handedOn(environment, ['logLevel']),
    };
    const relay = new Relay(this, 'Delivery', background);
    const reconciler = new Reconciler(this, 'Reconciler', {
      ...background,
      environment: { ...background.environment, ...policies.environment },
      ...policies.beside,
    });
    new Watch(this, 'Watch', { stage, settings, http: http.lambda, relay, reconciler, runs });
    // The bearer token is ours to check; IAM would take its header. CORS is set by the app alone.
    const url = http.lambda.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: InvokeMode.BUFFERED,
    });
    front?.open(url);
    const mcpUrl = settings.publicUrl ?? `${url.url}mcp`;
    new StringParameter(this, 'PublicUrl', {
      parameterName: names.publicUrl,
      description: 'URL of the MCP endpoint, which the function reads when it starts',
      stringValue: mcpUrl,
    });
    new CfnOutput(this, OUTPUTS.mcpUrl, { value: mcpUrl });
    new CfnOutput(this, OUTPUTS.clientConfiguration, {
      value: JSON.stringify({
        mcpServers: {
          checkpoint: {
            type: 'http',
            url: mcpUrl,
            headers: { Authorization: 'Bearer <token>' },
          },
        },
      }),
    });
  }

  /** What the deployment's own issuer is derived from; it goes when an identity provider comes. */
  private issuerSecret({ name }: Stage): Secret {
    const secret = new Secret(this, 'IssuerSecret', {
      description: 'The key that signs tokens of this development stage comes from this',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Of a development stage only: a new value ends every token at once, which docs/operations.md says how to do.',
    });
    new StringParameter(this, 'IssuerSecretArn', {
      parameterName: parameterNames(name).issuerSecret,
      description: 'ARN of the secret that development tokens are signed with',
      stringValue: secret.secretArn,
    });
    return secret;
  }
}

/** Own procedures: where a function finds them, and what is put there. */
function ownPolicies({ policiesFolder }: Settings) {
  if (policiesFolder === undefined) return { environment: {}, beside: {} };
  return {
    environment: { [settingsTable.policiesFolder.env]: POLICIES },
    beside: { folder: { source: resolve(policiesFolder), name: POLICIES } },
  };
}

function handedOn(
  environment: Environment,
  names: readonly (keyof typeof settingsTable)[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const { env } = settingsTable[name];
      const text = environment[env];
      return text === undefined || text === '' ? [] : [[env, text]];
    }),
  );
}
