// Entry file of `npm run deploy`, `npm run destroy` and `npm run smoke`.
import { runDeploy, runDestroy, runSmoke } from '../lib/cli/deploy/deploy.ts';

const [verb = '', ...args] = process.argv.slice(2);
const run = { deploy: runDeploy, destroy: runDestroy, smoke: runSmoke }[verb];
if (run === undefined) throw new Error('expected deploy, destroy or smoke');

process.exitCode = await run(args, {
  env: process.env,
  out: (line) => {
    process.stdout.write(`${line}\n`);
  },
  err: (line) => {
    process.stderr.write(`${line}\n`);
  },
});
