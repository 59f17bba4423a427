import { describe, expect, test } from '@jest/globals';
import { LIMITS } from '../../lib/core/limits.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { view } from '../support/speech-cases.ts';
import { callTool, post, send } from '../support/rpc.ts';
import {
  closeWorldsAfterEach,
  openWorld,
  shippedRegistry,
  type World,
} from '../support/surface-world.ts';

closeWorldsAfterEach();

type Name = keyof typeof LIMITS;

/** Tries an amount and answers whether it was taken in full. */
type Try = (world: World, amount: number) => Promise<boolean>;

const taken = async (
  { app }: World,
  name: string,
  args: Record<string, unknown>,
): Promise<boolean> => (await callTool(app, name, args, 'sue')).data['code'] !== 'INVALID_ARGUMENT';

/** The limits that a caller meets at the surface, each with a way to reach it. */
const SURFACE: readonly (readonly [name: Name, attempt: Try])[] = [
  [
    'bodyBytes',
    async ({ app }, bytes) =>
      (await post(app, '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(bytes))).status === 200,
  ],
  [
    'jsonDepth',
    async ({ app }, levels) => {
      // The message, its params, and arrays within.
      const nested = '['.repeat(levels - 2) + ']'.repeat(levels - 2);
      const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested}}}`;
      return (await post(app, body)).status === 200;
    },
  ],
  [
    'tokenChars',
    async ({ app }, chars) => {
      const authorization = `Bearer ${'long'.padEnd(chars, 'a')}`;
      return (
        (await send(app, 'handshake', 'ping', {}, { headers: { authorization } })).status === 200
      );
    },
  ],
  [
    'idempotencyKeyChars',
    (world, chars) =>
      taken(world, 'start_workflow', {
        procedure: 'pump-inspection',
        asset: 'PUMP-07',
        idempotency_key: 'k'.repeat(chars),
      }),
  ],
  ['assetChars', (world, chars) => taken(world, 'get_workflow', { asset: 'A'.repeat(chars) })],
  [
    'subjectChars',
    (world, chars) => taken(world, 'hand_over', { workflow_id: 'w', to: 'b'.repeat(chars) }),
  ],
  [
    'reasonChars',
    (world, chars) =>
      taken(world, 'abandon_workflow', { workflow_id: 'w', reason: 'r'.repeat(chars) }),
  ],
  [
    'textChars',
    (world, chars) =>
      taken(world, 'record_step', { workflow_id: 'w', step: 's', text: 't'.repeat(chars) }),
  ],
  [
    'uriChars',
    async ({ app }, chars) => {
      const uri = 'x'.repeat(chars);
      const { body } = await send(app, 'handshake', 'resources/read', { uri });
      return (body['error'] as { data?: { uri: string } }).data?.uri === uri;
    },
  ],
  [
    'spokenChoices',
    async (world, count) => {
      for (let n = 1; n <= count; n++) {
        const args = { procedure: 'pump-inspection', asset: `PUMP-0${n}` };
        await callTool(world.app, 'start_workflow', args);
      }
      return !(await callTool(world.app, 'complete_workflow')).text.includes('more');
    },
  ],
  [
    'completions',
    async (_world, count) => {
      const { app } = await openWorld((store) => ({
        queries: {
          ...createQueries(store, shippedRegistry()),
          listMine: () =>
            Promise.resolve({
              code: 'FOUND',
              value: {
                workflows: Array.from({ length: count }, (_, n) => ({ ...view, asset: `A-${n}` })),
                more: false,
              },
            }),
        },
      }));
      const ref = { type: 'ref/prompt', name: 'take_over_shift' };
      const params = { ref, argument: { name: 'asset', value: '' } };
      const { body } = await send(app, 'handshake', 'completion/complete', params);
      const { completion } = body['result'] as {
        completion: { values: string[]; hasMore: boolean };
      };
      return completion.values.length === count && !completion.hasMore;
    },
  ],
];

/** What the others bound; their tests are with what they bound. */
const ELSEWHERE: { readonly [name in Name]?: string } = {
  headerBytes: 'a connection: test/e2e/attacker.test.ts',
  requestMs: 'a connection: test/e2e/attacker.test.ts',
  idleMs: 'a connection: test/e2e/attacker.test.ts',
  requestStateChars: 'a signed state: test/surface/mcp/dialogue.test.ts',
  replyBytes: 'an answer: test/surface/mcp',
  spokenWords: 'an answer: test/surface/speech.test.ts',
  blockedShown: 'an answer',
  displayNameChars: 'a token',
  tenantChars: 'a token',
  jsonNodes: 'JSON: no accepted body reaches it',
  procedureSteps: 'a definition',
  choiceOptions: 'a definition',
  eventsPerWorkflow: 'a workflow',
  confirmationMinutes: 'a workflow',
  commandAttempts: 'a workflow',
  conflictTries: 'a call of the table: test/adapters/dynamodb/faults.test.ts',
  ledgerDays: 'a workflow',
  stateBytes: 'a store',
  itemBytes: 'a store',
  transactionItems: 'a store',
  transactionBytes: 'a store',
  partitionKeyBytes: 'a store',
  sortKeyBytes: 'a store',
  pageItems: 'a store',
  connections: 'the memory of a process',
  namedProfiles: 'the memory of a process',
  ratedCallers: 'the memory of a process',
  rememberedTokens: 'the memory of a process',
  rememberedWorkflows: 'the memory of a process',
  listedAssets: 'a list',
  assetSuggestions: 'an answer',
  spokenReadingChars: 'a spoken reading',
  unitConversions: 'a definition',
  faultsShown: 'an answer',
  lastValuesBytes: 'a lock',
  countedWorkflows: 'a list',
};

describe('limits of the surface', () => {
  test.each(SURFACE)('%s: taken at the limit, refused one past it', async (name, attempt) => {
    const { max } = LIMITS[name];
    expect([name, max, await attempt(await openWorld(), max)]).toEqual([name, max, true]);
    expect([name, max + 1, await attempt(await openWorld(), max + 1)]).toEqual([
      name,
      max + 1,
      false,
    ]);
  });

  test('every row of the table is met here, or is said to bound something else', () => {
    const named = [...SURFACE.map(([name]) => name), ...Object.keys(ELSEWHERE)];
    expect(named.toSorted()).toEqual(Object.keys(LIMITS).toSorted());
  });
});
