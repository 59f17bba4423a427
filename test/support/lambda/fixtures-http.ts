// The HTTP function with the conformance suite's fixtures in place of the product's tools: the same
// function in everything else.
import { httpFunction } from '../../../lib/wiring/http-function.ts';
import { fixtureServer } from '../../conformance/fixtures.ts';

const options = { version: '0.0.0', mcpFactory: fixtureServer, folder: import.meta.dirname };
const { handler, started } = httpFunction(process.env, options);
await started;

export { handler };
