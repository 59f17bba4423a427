// The evidence source of a process: servers and bounds from the settings, the bundled server from this
// package. The only place that knows where the bundled server is.
import { existsSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import type { ToolServer } from '../adapters/evidence/servers.ts';
import { createEvidenceSource } from '../adapters/evidence/source.ts';
import type { OnWarning } from '../adapters/evidence/warnings.ts';
import { systemClock } from '../adapters/runtime/system.ts';
import type { GatheringBounds } from '../core/evidence/gather.ts';
import type { AllowedTool } from '../core/evidence/vet.ts';
import type { EvidenceSource } from '../core/ports/evidence.ts';
import type { EvidenceServerSettings } from '../settings/evidence.ts';
import type { Settings } from '../settings.ts';
import { packageFolder } from './package-folder.ts';
import { packageVersion } from './version.ts';

/** A source with the allowlist and the bounds that go with it. `source.close` ends it. */
export interface Evidence {
  readonly source: EvidenceSource;
  readonly allowlist: readonly AllowedTool[];
  readonly bounds: GatheringBounds;
}

/** Where the bundled server is, and what it serves where nobody says otherwise. */
export interface EvidenceHome {
  readonly version: string;
  /** Absolute path of the file that is started as a process of its own. */
  readonly server: string;
  readonly folder: string;
}

/** The settings that evidence is gathered by. */
export type EvidenceSettings = Pick<
  Settings,
  | 'evidenceServers'
  | 'evidenceTools'
  | 'evidenceSteps'
  | 'evidenceTimeoutMs'
  | 'evidenceOutputBytes'
>;

/** Makes the evidence source of a checkout or of the packed package. */
export function openEvidence(settings: Settings, onWarning?: OnWarning): Evidence {
  return evidenceAt(settings, homeInPackage(settings), onWarning);
}

/** Makes the evidence source of the settings. No process is started before it is asked something. */
export function evidenceAt(
  settings: EvidenceSettings,
  home: EvidenceHome,
  onWarning: OnWarning = () => undefined,
): Evidence {
  const { PATH, HOME } = process.env;
  const source = createEvidenceSource(
    settings.evidenceServers.map((server) => toolServer(server, home)),
    {
      clock: systemClock,
      version: home.version,
      environment: {
        ...(PATH !== undefined && { PATH }),
        ...(HOME !== undefined && { HOME }),
      },
      onWarning,
    },
  );
  return {
    source,
    allowlist: settings.evidenceTools,
    bounds: {
      steps: settings.evidenceSteps,
      callTimeoutMs: settings.evidenceTimeoutMs,
      outputBytes: settings.evidenceOutputBytes,
    },
  };
}

/** Where an operator's own evidence files are. */
export function evidenceFolder(settings: Settings): string {
  return settings.evidenceFolder ?? join(settings.dataFolder, 'evidence');
}

/** The example files that come along. */
export function exampleEvidence(): string {
  return join(packageFolder(), 'examples/evidence');
}

function toolServer(server: EvidenceServerSettings, home: EvidenceHome): ToolServer {
  if (server.kind !== 'bundled') return server;
  const args = [home.server, resolve(home.folder)];
  return { name: server.name, command: process.execPath, args, env: {} };
}

function homeInPackage(settings: Settings): EvidenceHome {
  const own = evidenceFolder(settings);
  // A folder that is configured is meant, also where it is not there.
  const folder = settings.evidenceFolder !== undefined || existsSync(own) ? own : exampleEvidence();
  // It is a process of its own, also where this very code was put into one file with others.
  const source = extname(import.meta.filename) === '.ts';
  const entry = source ? 'bin/evidence-server.ts' : 'dist/bin/evidence-server.js';
  return { version: packageVersion(), server: join(packageFolder(), entry), folder };
}
