// The function behind the table's stream: settings, wiring, export.
import { relayFunction } from '../lib/wiring/relay-function.ts';

const { handler, started } = relayFunction(process.env);

await started;

export { handler };
