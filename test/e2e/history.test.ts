// Several people at once, servers that are killed under them, and the question whether what they were
// told can have happened one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ENTRY, runScript } from '../support/command-line.ts';
import { describeOnDynamo } from '../support/dynamodb/describe.ts';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { crew, type CrewTask } from '../support/history/crew.ts';
import { ends, type Operation } from '../support/history/history.ts';
import type { Ask, Told } from '../support/history/asset.ts';
import { faultsOf, type Trail } from '../support/history/judge.ts';
import { testRandom } from '../support/harness.ts';
import { buildBundle } from '../support/lambda/bundle.ts';
import { deploy } from '../support/lambda/deployed.ts';
import { startFunction, type FunctionProcess } from '../support/lambda/function-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { rpc, type Peer } from '../support/wire.ts';

const KILLS = 10;
const NAMES = ['ana', 'ben', 'cem'];
const ASSETS = ['PUMP-01', 'PUMP-02'];
/** Far more than a crew can send. */
const NO_RATE_LIMIT = { CHECKPOINT_RATE_PER_MINUTE: '100000' };

/** The length of every trail that the crew was told of. */
async function trailsOf(
  peer: Peer,
  operations: readonly Operation<Ask, Told>[],
): Promise<readonly Trail[]> {
  const ids = new Set(operations.flatMap(({ told }) => told?.workflow ?? []));
  const trails: Trail[] = [];
  for (const id of ids) {
    const { body } = await rpc(peer, 'resources/read', { uri: `workflow://${id}/events` });
    const { contents } = body['result'] as { contents: { text: string }[] };
    const { head } = JSON.parse(contents[0]?.text ?? '') as { head: number };
    trails.push({ workflow: id, events: head });
  }
  return trails;
}

/** The rest of a task: its people, its assets, and a kill each time enough was said. */
function killing(kill: () => void): Pick<CrewTask, 'assets' | 'rounds' | 'sending' | 'fraction'> {
  const random = testRandom('crew');
  let kills = 0;
  return {
    assets: ASSETS,
    rounds: 14,
    fraction: () => random.fraction(),
    sending: (calls) => {
      if (kills >= KILLS || calls < (kills + 1) * 12) return;
      kills += 1;
      setTimeout(kill, random.fraction() * 8);
    },
  };
}

describe('a server on SQLite that is killed ten times', () => {
  let folder: string;
  let server: ServedChild;
  beforeAll(async () => {
    await runScript(ENTRY, ['--version']);
    folder = await dataFolder();
    server = await serveInChild(folder, NO_RATE_LIMIT);
  }, 60_000);

  test('has told three people nothing that cannot have happened in some order', async () => {
    let up: Promise<void> = Promise.resolve();
    let killed = 0;
    const kill = (): void => {
      up = up.then(async () => {
        server.signal('SIGKILL');
        await server.exited;
        killed += 1;
        server = await serveInChild(folder, NO_RATE_LIMIT);
      });
    };
    const clients = await Promise.all(
      NAMES.map(async (name) => ({ name, token: await tokenFor(folder, name, 'procedures:run') })),
    );
    const url = () => up.then(() => server.url);
    const operations = await crew({ ...killing(kill), clients, url });
    await up;
    const token = await tokenFor(folder, 'eva', 'audit:read');
    const trails = await trailsOf({ url: server.url, token }, operations);
    expect(faultsOf(operations, trails)).toEqual([]);
    expect(killed).toBe(KILLS);
    const { ok, fail, unknown } = ends(operations);
    process.stderr.write(`SQLite: ${ok} ok, ${fail} refused, ${unknown} unknown\n`);
    expect(Math.min(ok, fail, unknown)).toBeGreaterThan(0);
  }, 180_000);
});

describeOnDynamo('two functions on DynamoDB that are killed ten times', () => {
  test('have told three people nothing that cannot have happened in some order', async () => {
    const { file } = await buildBundle('lambdas/http.ts', await tempFolder());
    const deployed = await deploy(file, NO_RATE_LIMIT);
    const containers: (FunctionProcess | undefined)[] = [
      deployed.lambda,
      await startFunction(file, deployed.env),
    ];
    try {
      let turn = 0;
      let killed = 0;
      const busy: Promise<void>[] = [];
      // A request goes to the next container; there is none at a place that is being filled again.
      deployed.front.connect(async (event) => {
        for (;;) {
          const container = containers[turn++ % containers.length];
          if (container !== undefined) return container.invoke(event);
          await sleep(5);
        }
      });
      const kill = (): void => {
        const at = killed++ % containers.length;
        const container = containers[at];
        if (container === undefined) return;
        containers[at] = undefined;
        busy.push(
          container.stop().then(async () => {
            containers[at] = await startFunction(file, deployed.env);
          }),
        );
      };
      const clients = await Promise.all(
        NAMES.map(async (name) => ({
          name,
          token: await deployed.token({ subject: name, name, scopes: ['procedures:run'] }),
        })),
      );
      const url = () => Promise.resolve(deployed.url);
      const operations = await crew({ ...killing(kill), clients, url });
      await Promise.all(busy);
      const token = await deployed.token({ subject: 'eva', name: 'Eva', scopes: ['audit:read'] });
      const trails = await trailsOf({ url: deployed.url, token }, operations);
      expect(faultsOf(operations, trails)).toEqual([]);
      expect(killed).toBe(KILLS);
      const { ok, fail, unknown } = ends(operations);
      process.stderr.write(`DynamoDB: ${ok} ok, ${fail} refused, ${unknown} unknown\n`);
      expect(Math.min(ok, fail, unknown)).toBeGreaterThan(0);
    } finally {
      for (const container of containers) await container?.stop();
      await deployed.close();
    }
  }, 240_000);
});
