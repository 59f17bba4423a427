#!/usr/bin/env node
// Entry file of the bundled evidence server: a folder in, the protocol on the standard streams.
import { packageVersion } from '../lib/wiring/version.ts';
import { serveEvidence } from '../lib/evidence-server/serve.ts';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  process.stderr.write('Usage: checkpoint-evidence FOLDER\n');
  process.exitCode = 1;
} else serveEvidence(folder, packageVersion());
