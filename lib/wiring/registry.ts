// The procedures of a process.
import { loadPolicyFolder } from '../adapters/policies/folder.ts';
import { Fault } from '../core/fault.ts';
import type { DomainPolicy } from '../core/ports/policy.ts';
import { buildRegistry, type ProcedureRegistry } from '../core/procedures.ts';
import { instrumentCalibration } from '../policies/instrument-calibration/policy.ts';
import { pumpInspection } from '../policies/pump-inspection/policy.ts';
import type { Settings } from '../settings.ts';

/** The domains that come along. */
export const SHIPPED: readonly DomainPolicy[] = [pumpInspection, instrumentCalibration];

/**
 * The procedures of a process: those that come along, and those of the configured folder. Throws a
 * terminal fault `START_REFUSED` with every fault.
 */
export async function loadRegistry(
  settings: Pick<Settings, 'policiesFolder'>,
  policies: readonly DomainPolicy[] = [],
  shipped = true,
): Promise<ProcedureRegistry> {
  const folder = settings.policiesFolder;
  const own = folder === undefined ? [] : await loadPolicyFolder(folder);
  const built = buildRegistry([...(shipped ? SHIPPED : []), ...policies, ...own]);
  if (built.ok) return built.registry;
  const lines = built.faults.map(({ source, path, message }) => `  ${source} ${path}: ${message}`);
  throw new Fault('terminal', 'START_REFUSED', ['invalid procedures:', ...lines].join('\n'));
}
