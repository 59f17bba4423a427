// `checkpoint demo`: sets the stage (data folder, server process, proxy, three people) and plays.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../../core/model/principal.ts';
import { developmentIssuer } from '../../wiring/local.ts';
import { readSettings } from '../../settings.ts';
import { connectAssistant, type Assistant } from './assistant.ts';
import { runEntry, startServerProcess } from './server-process.ts';
import { startSeveringProxy } from './severing-proxy.ts';
import { playStory, type Stage } from './story.ts';
import { createTranscript, Deviation } from './transcript.ts';

type Out = (text: string) => void;

/** Plays the demo on a fresh data folder; answers 0, or 1 on any deviation. */
export async function runDemo({ out }: { readonly out: Out }): Promise<number> {
  /** What ends what was begun, in the order of the beginnings. */
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const stage = await setStage(out, ends);
    out('A pump inspection over MCP, with everything that goes wrong in real life.');
    return await exitCodeOf(() => playStory(stage), out);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

/** Plays a story; answers 0, or 1 where it deviated. */
export async function exitCodeOf(play: () => Promise<void>, out: Out): Promise<number> {
  try {
    await play();
  } catch (error) {
    if (!(error instanceof Deviation)) throw error;
    out(`\nThe story took another course. ${error.message}`);
    return 1;
  }
  out('\nEvery answer was the right one.');
  return 0;
}

async function setStage(out: Out, ends: (() => Promise<unknown>)[]): Promise<Stage> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'checkpoint-demo-'));
  ends.push(() => rm(dataFolder, { recursive: true, force: true }));
  let server = await startServerProcess(dataFolder);
  let killed: Promise<void> = Promise.resolve();
  ends.push(() => server.stop());
  const proxy = await startSeveringProxy();
  ends.push(() => proxy.close());
  proxy.target(server.port);
  const meet = async (name: string, scope: Scope): Promise<Assistant> => {
    const issuer = await developmentIssuer(readSettings({ CHECKPOINT_DATA: dataFolder }));
    const token = await issuer.sign({
      subject: name.toLowerCase(),
      name,
      tenant: 'local',
      scopes: [scope],
      kind: 'person',
      expiresInSeconds: 3_600,
    });
    const assistant = await connectAssistant(name, proxy.url, token);
    // Its connection may have been lost in the story.
    ends.push(() => assistant.close().catch(() => undefined));
    return assistant;
  };
  return {
    ana: await meet('Ana', 'procedures:run'),
    ben: await meet('Ben', 'procedures:run'),
    cara: await meet('Cara', 'procedures:supervise'),
    transcript: createTranscript(out),
    killAtNextAnswer: () => {
      proxy.severNextAnswer(() => {
        killed = server.kill();
      });
    },
    restart: async () => {
      await killed;
      server = await startServerProcess(dataFolder);
      proxy.target(server.port);
    },
    audit: () => runEntry(['audit', 'verify', '--data', dataFolder]),
  };
}
