/** One server with the people of a plant, for the tests of one file. */
import { beforeAll } from '@jest/globals';
import { dataFolder, serve, tokenFor } from './e2e.ts';
import { eventsIn } from './trail.ts';
import { tool, type Peer } from './wire.ts';

/** The server and who calls it. Filled before the first test. */
export interface Plant {
  folder: string;
  ana: Peer;
  ben: Peer;
  cara: Peer;
  /** Ana by her name, in another tenant. */
  elsewhere: Peer;
  /** Starts an inspection of a pump of its own for Ana; answers its workflow. */
  started(): Promise<string>;
  /** The types of the events of a workflow. */
  typesOf(workflow: string): string[];
}

/** Serves a fresh data folder to the tests of this file. */
export function usePlant(settings: { readonly [name: string]: string } = {}): Plant {
  const plant = {} as Plant;
  beforeAll(async () => {
    const folder = await dataFolder();
    const { url } = await serve(folder, settings);
    const peer = async (scope: string, subject: string, ...options: string[]): Promise<Peer> => ({
      url,
      token: await tokenFor(folder, subject, scope, ...options),
    });
    let pumps = 10;
    plant.folder = folder;
    plant.ana = await peer('procedures:run', 'ana', '--name', 'Ana');
    plant.ben = await peer('procedures:run', 'ben', '--name', 'Ben');
    plant.cara = await peer('procedures:supervise', 'cara', '--name', 'Cara');
    plant.elsewhere = await peer('procedures:run', 'ana', '--tenant', 'elsewhere');
    plant.started = async () => {
      const args = { procedure: 'pump-inspection', asset: `PUMP-${pumps++}` };
      const { fields, text } = await tool(plant.ana, 'start_workflow', args);
      if (fields['code'] !== 'OK') throw new Error(text);
      return String(fields['workflow_id']);
    };
    plant.typesOf = (workflow) => eventsIn(folder, workflow).map(({ type }) => type);
  });
  return plant;
}
