// Processes under load that end by SIGKILL, most of them between a commit and its answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeOnDynamo } from '../../support/dynamodb/describe.ts';
import { UNANSWERED } from '../../support/dynamodb/open-killed.ts';
import { dynamoWorld } from '../../support/dynamodb/world.ts';
import { faultsOf } from '../../support/history/judge.ts';
import { breaches, everyPage } from '../../support/invariants.ts';
import { runWriters, startWriter, type Writer, type WriterLine } from '../../support/writers.ts';

const KILLS = 50;
const UNANSWERED_AT_LEAST = 15;
const DELAYS_MS = [1, 4, 8, 16, 40];
/** Processes that are started ahead: most of their life is loading. */
const SPARE = 2;
const tenant = 'acme';
const name = 'one';

describeOnDynamo('a process that is killed', () => {
  const world = dynamoWorld();
  let cache: string;
  const writers: Writer[] = [];
  beforeAll(() => {
    // Half of a start is compiling, and only a process that ends by itself leaves what it compiled.
    cache = mkdtempSync(join(tmpdir(), 'checkpoint-compiled-'));
    process.env['NODE_COMPILE_CACHE'] = cache;
  });
  afterAll(() => {
    for (const writer of writers) writer.kill();
    delete process.env['NODE_COMPILE_CACHE'];
    rmSync(cache, { recursive: true, force: true });
  });

  test('at any moment, fifty times, leaves one effect for each key, one holder and sound trails', async () => {
    const assets = Array.from({ length: 4 * KILLS + 16 }, (_, i) => `A-${i}`);
    const task = { tenant, name, mode: 'work', lanes: 3 } as const;
    const [first] = await runWriters(world.opener, [{ ...task, assets: ['A-0'] }]);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });

    /** Takes up what the last ones left, and has enough of its own for every commit to come. */
    const starting = async (i: number): Promise<Writer> => {
      const delayMs = DELAYS_MS[i % DELAYS_MS.length] ?? 0;
      const options = { ...world.opener.options, commit: 1 + ((i * 7) % 5), delayMs };
      const opener = { module: './dynamodb/open-killed.ts', options };
      const writer = await startWriter(opener, {
        ...task,
        assets: assets.slice(Math.max(0, 4 * i - 4), 4 * i + 16),
      });
      writers.push(writer);
      return writer;
    };
    const heard: WriterLine[] = [...(first?.lines ?? [])];
    const history = [...(first?.calls ?? [])];
    let unanswered = 0;
    const spare = Array.from({ length: SPARE }, (_, i) => starting(i));
    for (let i = 0; i < KILLS; i++) {
      const writer = await spare.shift();
      if (i + SPARE < KILLS) spare.push(starting(i + SPARE));
      writer?.go();
      const { lines = [], calls = [], exitCode, stderr = '' } = (await writer?.done) ?? {};
      expect(exitCode).toBeNull();
      if (stderr.includes(UNANSWERED)) unanswered += 1;
      heard.push(...lines);
      history.push(...calls);
    }
    expect(unanswered).toBeGreaterThanOrEqual(UNANSWERED_AT_LEAST);
    expect(heard.filter(({ code }) => code !== 'OK')).toEqual([]);

    const [last] = await runWriters(world.opener, [{ ...task, assets }]);
    expect(last).toMatchObject({ exitCode: 0, stderr: '' });
    const lines = last?.lines ?? [];
    expect(lines).toHaveLength(assets.length * 3);
    expect(lines.filter(({ code }) => code !== 'OK')).toEqual([]);

    const told = new Set(heard.map(({ asset, command }) => `${asset} ${command}`));
    const unheard = lines.filter(
      ({ asset, command, duplicate }) => duplicate === true && !told.has(`${asset} ${command}`),
    );
    process.stderr.write(
      `${KILLS} kills, ${unanswered} before the answer; ${unheard.length} effects of which nobody had heard\n`,
    );

    const store = world.open();
    const workflows = await everyPage((at) => store.scanWorkflows(at));
    expect(workflows.map(({ asset }) => asset).toSorted()).toEqual(assets.toSorted());
    expect(new Set(workflows.map(({ state, head_seq }) => `${state} ${head_seq}`))).toEqual(
      new Set(['COMPLETED 3']),
    );
    expect(await breaches(store, tenant)).toEqual([]);
    // What the processes were told, at any time, can have happened one after the other.
    history.push(...(last?.calls ?? []));
    const trails = workflows.map(({ id, head_seq }) => ({ workflow: id, events: head_seq }));
    expect(faultsOf(history, trails)).toEqual([]);
    await store.close();
  }, 180_000);
});
