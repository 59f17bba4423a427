// A service as the product wires it, on a store of a benchmark.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import { openSqliteStore } from '../../../lib/adapters/sqlite/store.ts';
import type { Command } from '../../../lib/core/model/commands.ts';
import type { Principal } from '../../../lib/core/model/principal.ts';
import type { Committed, Outcome } from '../../../lib/core/outcome.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { createQueries, type Queries } from '../../../lib/core/queries.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService } from '../../../lib/core/service/service.ts';
import { benchRegistry } from './domain.ts';

/** The command and query side on one store. */
export interface BenchService {
  readonly queries: Queries;
  readonly execute: (who: Principal, command: Command) => Promise<Outcome>;
  /** Executes a command that has to take effect, or to be recognised. */
  readonly ok: (who: Principal, command: Command) => Promise<Committed>;
}

const registry = benchRegistry();
const secrets = secretsOf('a secret of at least thirty-two characters');

/** Builds a service that remembers nothing yet. */
export function serviceOn(store: StorageBackend): BenchService {
  const parts = { store, registry, secrets, clock: systemClock, random: systemRandom };
  const service = createService({ ...parts, sinks: ['log'] });
  const execute = (who: Principal, command: Command): Promise<Outcome> =>
    service.execute(who, command, Date.now() + 60_000);
  return {
    queries: createQueries(store, registry),
    execute,
    ok: async (who, command) => {
      const outcome = await execute(who, command);
      if (outcome.code !== 'OK') throw new Error(`refused: ${JSON.stringify(outcome)}`);
      return outcome;
    },
  };
}

/** Opens the embedded store on a path, as the product does: WAL and `synchronous=FULL`. */
export const openStore = (path: string): Promise<StorageBackend> =>
  openSqliteStore({ path, lockTimeoutMs: 60_000, clock: systemClock, random: systemRandom });

/** Runs `work` with a folder that is gone afterwards. `CHECKPOINT_BENCH_FOLDER` says on which disk. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const parent = process.env['CHECKPOINT_BENCH_FOLDER'] ?? tmpdir();
  const folder = await mkdtemp(join(parent, 'checkpoint-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
