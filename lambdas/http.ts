// The function behind the Function URL: settings, wiring, export.
import { httpFunction } from '../lib/wiring/http-function.ts';
import manifest from '../package.json' with { type: 'json' };

const { handler, started } = httpFunction(process.env, {
  version: manifest.version,
  folder: import.meta.dirname,
});

// The platform counts no time of a caller while a module loads, so the start ends here if it can.
await started;

export { handler };
