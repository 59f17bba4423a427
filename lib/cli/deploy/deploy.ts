// `npm run deploy`, `npm run destroy` and `npm run smoke`: what goes around the CDK's own command line.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDevelopment, OUTPUTS, stackNames } from '../../settings/deployment-names.ts';
import { readSettings, type Environment } from '../../settings.ts';
import { openDeployment } from '../../wiring/deployment.ts';
import { CliProblem, problemText } from '../failure.ts';
import { COMMAND } from '../form.ts';
import { preflight } from './preflight.ts';
import { smoke, type SmokeOptions } from './smoke.ts';

/** What a script talks to. */
export interface Surroundings {
  readonly env: Environment;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly smoke?: SmokeOptions;
}

/** Looks, deploys both stacks of the stage, prints how to connect, and looks again. Answers the exit code. */
export function runDeploy(args: readonly string[], around: Surroundings): Promise<number> {
  return ending(around, async () => {
    const { env, out } = around;
    const settings = readSettings(env);
    const { stage } = settings;
    const deployment = openDeployment(stage);
    try {
      await preflight(settings, deployment, out);
    } finally {
      deployment.close();
    }
    const outputs = await deployed(['--all', ...args], stage, env);
    const { mcpUrl, clientConfiguration } = outputs;
    out('');
    out(`MCP         ${mcpUrl}`);
    if (settings.issuers.length === 0) {
      const token = `${COMMAND} token --deployment ${stage} --subject ana --scope procedures:run`;
      out(`Token       ${token}`);
    } else {
      out('Tokens      from the configured issuers');
    }
    out('Client configuration:');
    out(JSON.stringify(JSON.parse(clientConfiguration), null, 2));
    out('');
    await smoke(mcpUrl, out, around.smoke);
    return 0;
  });
}

/** Removes a stage. Of one that is kept only the service goes. Answers the exit code. */
export function runDestroy(args: readonly string[], around: Surroundings): Promise<number> {
  return ending(around, async () => {
    const { env, out } = around;
    const { stage } = readSettings(env);
    const { data, service } = stackNames(stage);
    const stacks = isDevelopment(stage) ? [service, data] : [service];
    const code = await cdk(['destroy', ...stacks, ...args], env);
    if (code !== 0) throw new CliProblem(`cdk destroy ended with ${code}.`);
    out(
      isDevelopment(stage)
        ? `The stage ${stage} is gone, with its data.`
        : `The service of ${stage} is gone; the stack ${data} with table, key, secrets, lists of heads and logs stays.`,
    );
    return 0;
  });
}

/** Looks at one URL. Answers the exit code. */
export function runSmoke([url = '']: readonly string[], around: Surroundings): Promise<number> {
  return ending(around, async () => {
    await smoke(url, around.out, around.smoke);
    return 0;
  });
}

async function deployed(args: readonly string[], stage: string, env: Environment) {
  const folder = await mkdtemp(join(tmpdir(), 'checkpoint-outputs-'));
  try {
    const file = join(folder, 'outputs.json');
    const code = await cdk(['deploy', ...args, '--outputs-file', file], env);
    if (code !== 0) throw new CliProblem(`cdk deploy ended with ${code}; nothing was looked at.`);
    const all = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as {
      [stack: string]: { readonly [output: string]: string } | undefined;
    };
    const outputs = all[stackNames(stage).service] ?? {};
    const mcpUrl = outputs[OUTPUTS.mcpUrl];
    const clientConfiguration = outputs[OUTPUTS.clientConfiguration];
    if (mcpUrl === undefined || clientConfiguration === undefined) {
      throw new CliProblem('cdk deploy left no outputs: it was told not to deploy everything.');
    }
    return { mcpUrl, clientConfiguration };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the CDK's command line at this terminal. */
function cdk(args: readonly string[], env: Environment): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('cdk', args, { stdio: 'inherit', env });
    child.on('error', (cause) => {
      reject(new CliProblem('cdk cannot be run: npm ci installs it.', { cause }));
    });
    child.on('close', (code) => {
      resolve(code ?? 1);
    });
  });
}

async function ending({ err }: Surroundings, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const text = problemText(error);
    if (text === undefined) throw error;
    err(text);
    return 1;
  }
}
