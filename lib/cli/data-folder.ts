// Opening what is in a data folder, for commands that work on one that is there already.
import { existsSync } from 'node:fs';
import type { StorageBackend } from '../core/ports/storage.ts';
import type { Settings } from '../settings.ts';
import { dataFile, openLocal, openStore, type Local } from '../wiring/local.ts';
import { CliProblem } from './failure.ts';

/** The file of a data folder. Throws a problem where there is none. */
export function existingDataFile(settings: Settings): string {
  const file = dataFile(settings.dataFolder);
  if (!existsSync(file)) throw new CliProblem(`There is no data file ${file}: check --data.`);
  return file;
}

/** Reads the store of a data folder. */
export function reading<T>(
  settings: Settings,
  work: (store: StorageBackend) => Promise<T>,
): Promise<T> {
  return within(settings, () => openStore(settings, { readOnly: true }), work);
}

/** Reads and writes the store of a data folder. */
export function writing<T>(
  settings: Settings,
  work: (store: StorageBackend) => Promise<T>,
): Promise<T> {
  return within(settings, () => openStore(settings), work);
}

/** Works with the core on the store of a data folder. */
export function opened<T>(
  settings: Settings,
  work: (local: Local) => Promise<T>,
  options: Parameters<typeof openLocal>[1] = {},
): Promise<T> {
  return within(settings, () => openLocal(settings, options), work);
}

async function within<Opened extends { close(): Promise<void> }, T>(
  settings: Settings,
  open: () => Promise<Opened>,
  work: (from: Opened) => Promise<T>,
): Promise<T> {
  existingDataFile(settings);
  const from = await open();
  try {
    return await work(from);
  } finally {
    await from.close();
  }
}
