// The backend of a deployment: one table, its secrets, and the URL that the platform gave it.
// Nothing of a laptop is in here, because all of it would be in the function's bundle.
import { functionCaller } from '../adapters/deployment/call-function.ts';
import { openDeploymentValues, type DeploymentValues } from '../adapters/deployment/read-values.ts';
import { deploymentIssuerConfig } from '../adapters/identity/deployment-issuer.ts';
import { systemClock } from '../adapters/runtime/system.ts';
import { Fault } from '../core/fault.ts';
import { registerProcedures } from '../core/register-procedures.ts';
import type { OnFault } from '../core/service/service.ts';
import { readSettings, type Environment, type Settings } from '../settings.ts';
import { plainHttpUrl } from '../settings/value-types.ts';
import { FRONT_HEADER } from '../settings/deployment-names.ts';
import { behindFront, type Served } from '../lambda/behind-front.ts';
import { appOn, coreOn, type AppOptions } from './app.ts';
import { askedTools } from './asked-tools.ts';
import { loadRegistry } from './registry.ts';
import { needed, openTable } from './kept.ts';
import { deployedSinks } from './sink-names.ts';

/** What a deployed process is opened with beside its environment. */
export interface AwsOptions extends Omit<AppOptions, 'publicUrl'> {
  readonly onFault: OnFault;
  /** Hears the settings before anything else is done with them. */
  readonly onSettings?: (settings: Settings) => void;
}

/**
 * Builds the HTTP app of a deployment. Throws a retryable fault when a secret, the URL or the table
 * cannot be read now, and a terminal one, or a `SettingsError`, for what only a deployment can repair.
 */
export async function openAwsApp(
  environment: Environment,
  { onFault, onSettings, ...options }: AwsOptions,
): Promise<Served> {
  const settings = readSettings(environment);
  onSettings?.(settings);
  const tableName = needed(settings, 'table', 'CHECKPOINT_TABLE');
  const store = openTable(tableName);
  try {
    const registering = loadRegistry(settings).then(async (registry) => {
      await registerProcedures(store, registry);
      return registry;
    });
    const [registry, { publicUrl, secret, own, front }] = await Promise.all([
      registering,
      readKept(settings),
    ]);
    const sinks = deployedSinks(settings);
    const { mcpApprovals } = settings;
    const core = coreOn(store, registry, { secret, sinks, mcpApprovals }, onFault);
    const { runFunction } = settings;
    const app = appOn(settings, core, own, {
      ...options,
      publicUrl,
      // Evidence servers are asked by the function that works on runs: it alone knows how to reach them.
      ...(runFunction !== undefined && {
        evidenceTools: askedTools(functionCaller(systemClock), runFunction),
      }),
    });
    if (front === undefined) return app;
    return behindFront(app, { header: FRONT_HEADER, secret: front, publicUrl });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What the deployment keeps beside its table. */
async function readKept(settings: Settings) {
  const values = openDeploymentValues();
  try {
    const { frontSecretId } = settings;
    const [publicUrl, secret, own, front] = await Promise.all([
      publicUrlOf(settings, values),
      settings.secret ?? values.secret(needed(settings, 'secretId', 'CHECKPOINT_SECRET_ID')),
      ownIssuerOf(settings, values),
      frontSecretId === undefined ? undefined : values.secret(frontSecretId),
    ]);
    return { publicUrl, secret, own, front };
  } finally {
    values.close();
  }
}

async function publicUrlOf(settings: Settings, values: DeploymentValues): Promise<string> {
  if (settings.publicUrl !== undefined) return settings.publicUrl;
  const name = needed(settings, 'publicUrlParameter', 'CHECKPOINT_PUBLIC_URL_PARAMETER');
  const url = plainHttpUrl.safeParse(await values.parameter(name));
  if (url.success) return url.data;
  throw new Fault('retryable', 'BACKEND_UNAVAILABLE', `the parameter ${name} does not hold a URL`);
}

/** The deployment's own issuer, which counts only until an identity provider is configured. */
async function ownIssuerOf({ issuers, issuerSecretId }: Settings, values: DeploymentValues) {
  if (issuers.length > 0 || issuerSecretId === undefined) return undefined;
  return deploymentIssuerConfig(await values.secret(issuerSecretId));
}
