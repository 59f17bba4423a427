// `checkpoint demo incident`: sets the stage (data folder, server process, ticket desk, two people) and plays.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../../core/model/principal.ts';
import { readSettings } from '../../settings.ts';
import { developmentIssuer, systemClock } from '../../wiring/local.ts';
import type { Assistant } from './assistant.ts';
import { exitCodeOf } from './demo.ts';
import { playIncident } from './incident-story.ts';
import { restPerson } from './rest-person.ts';
import { runEntry, startServerProcess } from './server-process.ts';
import { startTicketDesk } from './ticket-desk.ts';
import { createTranscript } from './transcript.ts';

/** Plays the demo on a fresh data folder; answers 0, or 1 on any deviation. */
export async function runIncidentDemo({
  out,
}: {
  readonly out: (text: string) => void;
}): Promise<number> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'checkpoint-demo-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(dataFolder, { recursive: true, force: true })];
  try {
    const desk = await startTicketDesk();
    ends.push(() => desk.close());
    const secrets = [`whsec_${randomBytes(24).toString('base64')}`];
    const webhook = { url: desk.url, secrets };
    const settings = { CHECKPOINT_TICKETS: JSON.stringify({ webhook }) };
    let server = await startServerProcess(dataFolder, settings);
    ends.push(() => server.stop());
    const meet = async (name: string, ...scopes: readonly Scope[]): Promise<Assistant> => {
      const issuer = await developmentIssuer(readSettings({ CHECKPOINT_DATA: dataFolder }));
      const token = await issuer.sign({
        subject: name.toLowerCase(),
        name,
        tenant: 'local',
        scopes,
        kind: 'person',
        expiresInSeconds: 3_600,
      });
      return restPerson(name, () => `http://127.0.0.1:${server.port}`, token);
    };
    const stage = {
      ana: await meet('Ana', 'runs:create', 'approvals:decide', 'audit:read'),
      cara: await meet('Cara', 'approvals:decide'),
      transcript: createTranscript(out),
      desk,
      kill: () => server.kill(),
      restart: async () => {
        server = await startServerProcess(dataFolder, settings);
      },
      pause: () => systemClock.sleep(100),
      audit: () => runEntry(['audit', 'verify', '--data', dataFolder]),
    };
    out('An incident over REST, with a server that is killed at the worst moments.');
    return await exitCodeOf(() => playIncident(stage), out);
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
