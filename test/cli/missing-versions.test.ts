// A server that lacks the version of active workflows says so at its start, and serves all others.
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { dataFolder, serveInChild } from '../support/e2e.ts';
import { talked } from '../support/talked.ts';
import { onDataFile } from '../support/trail.ts';

const TEXT =
  'Missing procedure versions, whose workflows cannot be served: pump-inspection@7 (1 active)';

async function logOf(folder: string, until: string): Promise<string> {
  const server = await serveInChild(folder);
  for (let n = 0; n < 100 && !server.log().includes(until); n++) await setTimeout(20);
  await server.stop();
  return server.log();
}

test('a missing version is one warning line; nothing is logged where none is missing', async () => {
  const folder = await dataFolder();
  await talked(folder, 'ana', ['start pump-inspection PUMP-07', 'start pump-inspection PUMP-08']);
  expect(await logOf(folder, TEXT)).not.toContain('Missing procedure versions');
  onDataFile(folder, (db) =>
    db.exec(`UPDATE workflows SET body = json_set(body, '$.procedure_version', 7)
      WHERE body ->> 'asset' = 'PUMP-08'`),
  );
  const lines = (await logOf(folder, TEXT)).trimEnd().split('\n');
  const warned = lines.map((line) => JSON.parse(line) as { msg: string; level: number });
  expect(warned.filter(({ msg }) => msg.startsWith('Missing'))).toEqual([
    expect.objectContaining({ msg: TEXT, level: 40 }),
  ]);
});
