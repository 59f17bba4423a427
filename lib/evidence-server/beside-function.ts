// Entry of the bundled evidence server beside the function of runs: a folder in, the protocol on the standard streams.
import { serveEvidence } from './serve.ts';
import manifest from '../../package.json' with { type: 'json' };

serveEvidence(process.argv[2] ?? '', manifest.version);
