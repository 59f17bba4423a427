// The function behind the state machine of runs: settings, wiring, export.
import { runFunction } from '../lib/wiring/run-function.ts';
import manifest from '../package.json' with { type: 'json' };

const { handler, started } = runFunction(process.env, {
  version: manifest.version,
  folder: import.meta.dirname,
});

await started;

export { handler };
