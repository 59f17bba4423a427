// `checkpoint demo`: sets the stage (data folder, server process, proxy, three people) and plays.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../../core/model/principal.ts';
import { developmentIssuer } from '../../wiring.ts';
import { readSettings } from '../../settings.ts';
import { connectAssistant, type Assistant } from './assistant.ts';
import { runEntry, startServerProcess } from './server-process.ts';
import { startSeveringProxy } from './severing-proxy.ts';
import { playStory } from './story.ts';
import { createTranscript, Deviation } from './transcript.ts';

/** Plays the demo on a fresh data folder; answers 0, or 1 on any deviation. */
export async function runDemo({ out }: { readonly out: (text: string) => void }): Promise<number> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'checkpoint-demo-'));
  const proxy = await startSeveringProxy();
  let server = await startServerProcess(dataFolder);
  let killed: Promise<void> = Promise.resolve();
  const people: Assistant[] = [];
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
    people.push(assistant);
    return assistant;
  };
  try {
    proxy.target(server.port);
    out('A pump inspection over MCP, with everything that goes wrong in real life.');
    await playStory({
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
    });
    out('\nEvery answer was the right one.');
    return 0;
  } catch (error) {
    if (!(error instanceof Deviation)) throw error;
    out(`\nThe story took another course. ${error.message}`);
    return 1;
  } finally {
    await Promise.allSettled(people.map((assistant) => assistant.close()));
    await proxy.close();
    await server.stop();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
