// `checkpoint policy active`: the check before a deployment. Active workflows whose procedure version
// this release lacks cannot be served by it.
import { existsSync } from 'node:fs';
import { activeVersions, type ActiveVersion } from '../../core/active-versions.ts';
import type { Settings } from '../../settings.ts';
import { loadRegistry } from '../../wiring/registry.ts';
import { dataFile, openStore } from '../../wiring/local.ts';
import { aligned, counted } from '../text.ts';

/** The versions in use of a data folder; none where there is no data yet. */
export async function versionsInUse(settings: Settings): Promise<readonly ActiveVersion[]> {
  const registry = await loadRegistry(settings);
  if (!existsSync(dataFile(settings.dataFolder))) return [];
  const store = await openStore(settings, { readOnly: true });
  try {
    return await activeVersions(store, registry);
  } finally {
    await store.close();
  }
}

/** The versions in use that this release lacks. */
export function missing(versions: readonly ActiveVersion[]): readonly ActiveVersion[] {
  return versions.filter(({ known }) => !known);
}

/** The lines of the check. */
export function activeLines(versions: readonly ActiveVersion[]): readonly string[] {
  const lacking = missing(versions);
  const verdict =
    lacking.length === 0
      ? 'This release has every procedure version that active workflows run on.'
      : `This release lacks ${counted(lacking.length, 'procedure version')} of active workflows.`;
  const rows = versions.map(({ procedure, version, workflows, tenants, known }) => [
    `${procedure}@${version}`,
    `${workflows} active`,
    counted(tenants.length, 'tenant'),
    known ? 'known' : 'MISSING',
  ]);
  return [...aligned(rows), verdict];
}

/** One sentence for a server that starts, or undefined where nothing is missing. */
export function missingWarning(versions: readonly ActiveVersion[]): string | undefined {
  const lacking = missing(versions);
  if (lacking.length === 0) return undefined;
  const names = lacking.map(
    ({ procedure, version, workflows }) => `${procedure}@${version} (${workflows} active)`,
  );
  return `Missing procedure versions, whose workflows cannot be served: ${names.join(', ')}`;
}
