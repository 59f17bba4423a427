import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ASSISTANTS, type Assistant, type Connect } from '../support/assistants.ts';
import { dataFolder, serveInChild, tokenFor, type ServedChild } from '../support/e2e.ts';
import { inspect, INSPECTION } from '../support/inspection.ts';

let server: ServedChild;
const tokens: Record<string, string> = {};
const open: Assistant[] = [];
/** Content types and bodies of everything the server sent. */
const seen: string[] = [];

beforeAll(async () => {
  const folder = await dataFolder();
  server = await serveInChild(folder);
  for (const name of ['Ana', 'Ben']) {
    tokens[name] = await tokenFor(folder, name.toLowerCase(), 'procedures:run', '--name', name);
  }
  tokens['Cara'] = await tokenFor(folder, 'cara', 'procedures:supervise', '--name', 'Cara');
});

afterEach(async () => {
  for (const assistant of open.splice(0)) await assistant.close();
  seen.length = 0;
});

async function connected(connect: Connect, name: string): Promise<Assistant> {
  const assistant = await connect({
    url: server.url,
    token: tokens[name] ?? '',
    seen: (answer) => seen.push(answer),
  });
  open.push(assistant);
  return assistant;
}

describe('an assistant over HTTP', () => {
  test.each(ASSISTANTS)(
    '%s plays %s and completes an inspection with three people and without elicitation',
    async (_client, version, asset, connect) => {
      const ana = await connected(connect, 'Ana');
      const ben = await connected(connect, 'Ben');
      const cara = await connected(connect, 'Cara');
      expect([ana.version, ben.version, cara.version]).toEqual([version, version, version]);
      // Only a client that has listed the tools checks answers against their schemas.
      await Promise.all([ana.tools(), ben.tools(), cara.tools()]);
      const crew = { operator: ana.call, second: ben.call, supervisor: cara.call };
      expect(await inspect(crew, asset)).toEqual(INSPECTION);
      expect(seen.length).toBeGreaterThan(INSPECTION.length);
      expect(seen.filter((text) => /elicit|input_required|event-stream/.test(text))).toEqual([]);
    },
  );

  test('every client sees the same tools in the same order', async () => {
    const lists: (readonly { readonly name: string }[])[] = [];
    for (const [, , , connect] of ASSISTANTS) {
      const assistant = await connected(connect, 'Ana');
      lists.push(await assistant.tools());
    }
    expect(lists[0]?.map(({ name }) => name)).toEqual([
      'list_procedures',
      'start_workflow',
      'get_workflow',
      'list_my_workflows',
      'list_blocked',
      'record_step',
      'resolve_block',
      'hand_over',
      'complete_workflow',
      'abandon_workflow',
      'what_can_i_do',
      'investigate_incident',
      'get_run',
      'list_pending_approvals',
    ]);
    for (const list of lists.slice(1)) expect(list).toEqual(lists[0]);
  });
});
