// The function that works on runs: what it tells of itself, its chain, and the worker behind it.
import { join } from 'node:path';
import { openDeploymentValues } from '../adapters/deployment/read-values.ts';
import { systemClock, systemRandom } from '../adapters/runtime/system.ts';
import { reportTools } from '../core/evidence/report.ts';
import { createRunService } from '../core/runs/service.ts';
import { secretsOf } from '../core/secrets.ts';
import { createObservers } from '../lambda/observers.ts';
import { createRunFunction, type RunFunction } from '../lambda/run-handler.ts';
import { EVIDENCE_FOLDER, EVIDENCE_SERVER } from '../settings/evidence-files.ts';
import { readSettings, type Environment } from '../settings.ts';
import { evidenceAt, type Evidence } from './evidence.ts';
import { keptEvidence, needed, openTable } from './kept.ts';
import { workOn } from './run-work.ts';
import { deployedSinks } from './sink-names.ts';
import { deployedTickets } from './deployed-tickets.ts';

/** Builds the function and starts it; the settings are read by each start. */
export function runFunction(
  environment: Environment,
  /** The folder of the bundle, with the bundled evidence server and its files beside it. */
  { version, folder }: { readonly version: string; readonly folder: string },
): RunFunction {
  const observers = createObservers();
  const { log, onFault, setLogLevel } = observers;
  const home = {
    version,
    server: join(folder, EVIDENCE_SERVER),
    folder: join(folder, EVIDENCE_FOLDER),
  };
  return createRunFunction(observers, async () => {
    const settings = readSettings(environment);
    setLogLevel(settings.logLevel);
    const store = openTable(needed(settings, 'table', 'CHECKPOINT_TABLE'));
    const values = openDeploymentValues();
    const opening = Promise.all([
      settings.secret ?? values.secret(needed(settings, 'secretId', 'CHECKPOINT_SECRET_ID')),
      keptEvidence(settings, values),
      deployedTickets(settings, store),
    ]);
    const [secret, evidenceServers, tickets] = await opening
      .catch(async (error: unknown) => {
        await store.close();
        throw error;
      })
      .finally(() => {
        values.close();
      });
    const runs = createRunService({
      store,
      clock: systemClock,
      random: systemRandom,
      secrets: secretsOf(secret),
      sinks: deployedSinks(settings),
      onFault,
    });
    /** One for each task, because a process that is frozen between two keeps no connection. */
    const withEvidence = async <T>(use: (evidence: Evidence) => Promise<T>): Promise<T> => {
      const evidence = evidenceAt({ ...settings, evidenceServers }, home, (warning) => {
        log({ level: 'warn', msg: 'an oddity of an evidence server', ...warning });
      });
      try {
        return await use(evidence);
      } finally {
        await evidence.source.close();
      }
    };
    return {
      worker: (of, signal) =>
        withEvidence((evidence) => workOn({ store, runs, tickets }, evidence, of, signal)),
      tools: (deadlineMs) =>
        withEvidence(async ({ source, allowlist }) => {
          const { offered: _, ...verdicts } = await reportTools(source, allowlist, deadlineMs);
          return verdicts;
        }),
    };
  });
}
