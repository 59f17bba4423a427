/**
 * The one way a function is made here: runtime, bundle, log group with retention, tracing, a role of its
 * own with nothing in it but what is handed in.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Validations, type Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { BUNDLE, PROJECT_ROOT } from './bundle.ts';
import { evidenceCommands } from './evidence.ts';
import { policyCommands } from './own-policies.ts';
import { pageCommands } from './pages.ts';
import type { Stage } from './stages.ts';
import { TRACING_WILDCARD, type Wildcard } from './statements.ts';

/** What a function is made of. */
export interface HouseFunctionProps {
  readonly stage: Stage;
  /** Path of the entry file from the top of the project. */
  readonly entry: string;
  readonly description: string;
  /** The name under which it counts and logs. */
  readonly serviceName: string;
  readonly environment: { readonly [name: string]: string };
  readonly statements: readonly PolicyStatement[];
  /** Wildcards within the statements, each with its reason; the one of tracing is known. */
  readonly wildcards: readonly Wildcard[];
  /** Left out, those of the stage. */
  readonly memoryMiB?: number;
  readonly timeout?: Duration;
  /** A folder of procedures that are put beside the bundle under a name; absolute. */
  readonly folder?: { readonly source: string; readonly name: string };
  /** Whether the files of the interactive page are put beside the bundle. */
  readonly pages?: boolean;
  /** A folder that the bundled evidence server serves, put with it beside the bundle; absolute. */
  readonly evidence?: string;
}

/** A function with its role and its log group. */
export class HouseFunction extends Construct {
  readonly lambda: NodejsFunction;

  constructor(scope: Construct, id: string, props: HouseFunctionProps) {
    super(scope, id);
    const { stage, entry, description, serviceName, environment, statements, wildcards } = props;
    const beside = besideBundle(props);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: stage.logRetention,
      removalPolicy: stage.removal,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `What ${serviceName} may do`,
    });
    const own = new PolicyStatement({
      sid: 'Logs',
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    });
    for (const statement of [own, ...statements]) role.addToPrincipalPolicy(statement);
    this.lambda = new NodejsFunction(this, 'Function', {
      entry: join(PROJECT_ROOT, entry),
      projectRoot: PROJECT_ROOT,
      depsLockFilePath: join(PROJECT_ROOT, 'package-lock.json'),
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMiB ?? stage.memoryMiB,
      timeout: props.timeout ?? stage.timeout,
      role,
      logGroup,
      loggingFormat: LoggingFormat.TEXT,
      tracing: Tracing.ACTIVE,
      ...(stage.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: stage.reservedConcurrency,
      }),
      environment: { POWERTOOLS_SERVICE_NAME: serviceName, ...environment },
      // The construct would add a setting of the older SDK.
      awsSdkConnectionReuse: false,
      bundling: {
        minify: BUNDLE.minify,
        target: BUNDLE.target,
        format: OutputFormat.ESM,
        mainFields: [...BUNDLE.mainFields],
        sourceMap: BUNDLE.sourcemap,
        bundleAwsSDK: true,
        externalModules: [...BUNDLE.external],
        esbuildArgs: Object.fromEntries(
          Object.entries(BUNDLE.alias).map(([from, to]) => [`--alias:${from}`, to]),
        ),
        ...(beside !== undefined && { commandHooks: beside }),
      },
    });
    const policy = role.node.findChild('DefaultPolicy');
    const named = new Map([TRACING_WILDCARD, ...wildcards].map((each) => [each.id, each]));
    Validations.of(policy).acknowledge(...named.values());
  }
}

/** Puts own procedures, the files of the interactive page and the evidence server beside the bundle. */
function besideBundle({ folder, pages = false, evidence }: HouseFunctionProps) {
  if (folder === undefined && !pages && evidence === undefined) return undefined;
  for (const source of [folder?.source, evidence]) {
    if (source !== undefined && !existsSync(source)) {
      throw new Error(`the folder ${source} is not there`);
    }
  }
  return {
    beforeBundling: () => [],
    beforeInstall: () => [],
    afterBundling: (_input: string, output: string) => [
      ...(folder === undefined ? [] : policyCommands(folder.source, join(output, folder.name))),
      ...(pages ? pageCommands(output) : []),
      ...(evidence === undefined ? [] : evidenceCommands(evidence, output)),
    ],
  };
}
