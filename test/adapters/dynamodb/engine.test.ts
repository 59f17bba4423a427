// The engine of the tests: one at least, none left behind, and never a silent skip.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { missingEngine, startsEmulator } from '../../support/dynamodb/engine.ts';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';

test.each([
  [{}, true],
  [{ DYNAMODB_ENDPOINT: '' }, true],
  [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:8001' }, false],
  [{ CHECKPOINT_TEST_AWS_REGION: 'eu-central-1' }, false],
])('with %j the emulator is started: %s', (env, starts) => {
  expect(startsEmulator(env)).toBe(starts);
  if (!starts) expect(missingEngine(env)).toBeUndefined();
});

describeOnDynamo('the emulator', () => {
  const script = `
    const { startEngine } = await import(${JSON.stringify(
      join(import.meta.dirname, '../../support/dynamodb/engine.ts'),
    )});
    const engine = await startEngine();
    process.stdout.write(engine.client.endpoint + '\\n');
    if (process.argv[1] === 'stop') await engine.stop();
    else setInterval(() => undefined, 1_000);
  `;
  const start = (word: string) => {
    const env = { ...process.env, DYNAMODB_ENDPOINT: '', NODE_OPTIONS: '' };
    return spawn(process.execPath, ['--input-type=module', '--eval', script, word], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
  };
  const answers = (endpoint: string) =>
    fetch(endpoint).then(
      () => true,
      () => false,
    );
  const goneSoon = async (endpoint: string): Promise<boolean> => {
    for (let n = 0; n < 200; n++) {
      if (!(await answers(endpoint))) return true;
      await setTimeout(25);
    }
    return false;
  };

  test.each(['SIGKILL', 'SIGINT'] as const)('ends with a run that %s has ended', async (signal) => {
    const child = start('wait');
    const ended = once(child, 'close');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const endpoint = line.toString('utf8').trim();
    expect(await answers(endpoint)).toBe(true);
    child.kill(signal);
    await ended;
    expect(await goneSoon(endpoint)).toBe(true);
  });

  test('is gone once it is stopped', async () => {
    const child = start('stop');
    const ended = once(child, 'close');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    await ended;
    expect(await answers(line.toString('utf8').trim())).toBe(false);
  });
});

test('the container script says what it needs where there is no Docker', () => {
  const script = join(import.meta.dirname, '../../support/dynamodb/on-local.ts');
  const env = { ...process.env, PATH: '/nonexistent', NODE_OPTIONS: '' };
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('Docker with its compose plugin is needed');
});
