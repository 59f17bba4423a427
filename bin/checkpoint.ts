#!/usr/bin/env node
// Entry file of the command line: the process's own streams and signals, nothing else.
import { once } from 'node:events';
import { keepCompiledCode } from '../lib/cli/compile-cache.ts';

// Only what is loaded after this is kept.
keepCompiledCode();
const { runCli } = await import('../lib/cli/program.ts');

// Whoever reads the output may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => {
    process.stdout.write(`${text}\n`);
  },
  err: (text) => {
    process.stderr.write(`${text}\n`);
  },
  input: {
    stream: process.stdin,
    ...(process.stdin.isTTY && { echo: process.stdout }),
  },
  stopped: async () => {
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  },
});
