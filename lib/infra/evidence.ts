/** The evidence of a stage: settings of the function that gathers it, and the files beside its bundle. */
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { join, resolve } from 'node:path';
import { EVIDENCE_FOLDER, EVIDENCE_SERVER } from '../settings/evidence-files.ts';
import { settingsTable } from '../settings/table.ts';
import type { Settings } from '../settings.ts';
import { BUNDLE, PROJECT_ROOT } from './bundle.ts';
import { bundleCommand, quoted } from './own-policies.ts';
import { wholeSecretArn } from './statements.ts';

/** What the function needs in order to reach evidence servers. */
export interface StageEvidence {
  readonly environment: { readonly [name: string]: string };
  readonly secrets: readonly Pick<Secret, 'secretArn'>[];
  /** The folder that the bundled server serves. */
  readonly folder: string;
}

/** Reads it from the settings of whoever deploys. Throws a sentence about what cannot be deployed. */
export function stageEvidence(settings: Settings): StageEvidence {
  const { evidenceServers, evidenceSecretId, evidenceFolder } = settings;
  const { env } = settingsTable.evidenceServers;
  const secretEnv = settingsTable.evidenceSecretId.env;
  for (const server of evidenceServers) {
    if (server.kind === 'command') {
      throw new Error(
        `${env}: ${server.name} is a command, which a function does not have; expected a URL, or the bundled server`,
      );
    }
    if (server.kind === 'url' && Object.keys(server.headers).length > 0) {
      throw new Error(
        `${env}: the headers of ${server.name} would stand in the template; put the whole text into a secret of Secrets Manager and name that in ${secretEnv}`,
      );
    }
  }
  const folder =
    evidenceFolder === undefined
      ? join(PROJECT_ROOT, 'examples/evidence')
      : resolve(evidenceFolder);
  if (evidenceSecretId === undefined) return { environment: {}, secrets: [], folder };
  if (evidenceServers.some(({ kind }) => kind !== 'bundled')) {
    throw new Error(`${env}: expected one of it and ${secretEnv}`);
  }
  const secretArn = wholeSecretArn(secretEnv, evidenceSecretId);
  return { environment: { [secretEnv]: secretArn }, secrets: [{ secretArn }], folder };
}

/** The commands of a shell that put the bundled server and the files of `source` into `output`. */
export function evidenceCommands(source: string, output: string): string[] {
  const target = join(output, EVIDENCE_FOLDER);
  const aliases = Object.entries(BUNDLE.alias).map(([from, to]) => `--alias:${from}=${to}`);
  return [
    `mkdir -p ${quoted(target)}`,
    `cp -R ${quoted(`${source}/.`)} ${quoted(target)}`,
    bundleCommand(
      [join(PROJECT_ROOT, 'lib/evidence-server/beside-function.ts')],
      '--minify',
      ...aliases,
      `--outfile=${join(output, EVIDENCE_SERVER)}`,
    ),
  ];
}
