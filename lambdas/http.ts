// The function behind the Function URL: settings, wiring, export.
import { createHttpFunction } from '../lib/lambda/http-handler.ts';
import { createObservers } from '../lib/lambda/observers.ts';
import { openAwsApp } from '../lib/wiring/aws.ts';
import manifest from '../package.json' with { type: 'json' };

const observers = createObservers();
const { log, onFault, onToolCall, setLogLevel } = observers;

const http = createHttpFunction(observers, () =>
  openAwsApp(process.env, {
    version: manifest.version,
    log,
    onFault,
    onToolCall,
    onSettings: ({ logLevel }) => {
      setLogLevel(logLevel);
    },
  }),
);

/** Answers events of payload format 2.0. */
export const { handler } = http;

// The platform counts no time of a caller while a module loads, so the start ends here if it can.
await http.started;
