import { SettingsError, readSettings } from '../../lib/settings.ts';
import type { SettingsFault } from '../../lib/settings.ts';

/** The faults an environment has; none when it can be read. */
export function faultsOf(environment: Record<string, string>): readonly SettingsFault[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}
