// A deployment as seen from a terminal with AWS credentials: found by its stage, through parameters of
// fixed names. Serves nothing.
import { openDeploymentValues, type DeploymentValues } from '../adapters/deployment/read-values.ts';
import { openDeploymentIssuer } from '../adapters/identity/deployment-issuer.ts';
import type { OwnIssuer } from '../adapters/identity/own-issuer.ts';
import { systemClock } from '../adapters/runtime/system.ts';
import { activeVersions, type ActiveVersion } from '../core/active-versions.ts';
import { parameterNames } from '../settings/deployment-names.ts';
import type { Settings } from '../settings.ts';
import { loadRegistry } from './registry.ts';
import { openTable } from './kept.ts';

/** The parameter by which the CDK knows an account and region that it was set up in. */
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

/** What can be asked of a deployment. Everything throws the faults of reading its parameters. */
export interface Deployment {
  /** The version that the CDK was set up in this account and region with. */
  bootstrapVersion(): Promise<string>;
  /** The procedure versions that active workflows of the stage run on. */
  versionsInUse(settings: Settings): Promise<readonly ActiveVersion[]>;
  /** The stage's own issuer, which only a development stage without identity provider has. */
  issuer(): Promise<OwnIssuer>;
  close(): void;
}

/** Opens a stage of the account and region that the environment names. */
export function openDeployment(stage: string): Deployment {
  const values: DeploymentValues = openDeploymentValues();
  const names = parameterNames(stage);
  return {
    bootstrapVersion: () => values.parameter(BOOTSTRAP),
    versionsInUse: async (settings) => {
      const registry = await loadRegistry(settings);
      const store = openTable(await values.parameter(names.table));
      try {
        return await activeVersions(store, registry);
      } finally {
        await store.close();
      }
    },
    issuer: async () => {
      const secret = await values.secret(await values.parameter(names.issuerSecret));
      return openDeploymentIssuer(secret, systemClock);
    },
    close: () => {
      values.close();
    },
  };
}
