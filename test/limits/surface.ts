// Limits that a caller meets in an answer of the endpoint.
import { preferredSeconds } from '../../lib/surface/rest/wait.ts';
import { createProfileNotes } from '../../lib/surface/profiles.ts';
import { fitting } from '../../lib/surface/mcp/structured.ts';
import { answerIn } from '../../lib/surface/mcp/dialogue.ts';
import { say } from '../../lib/surface/speech/words.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { signQuestion } from '../../lib/core/confirmation.ts';
import { view } from '../support/speech-cases.ts';
import { callTool, post, send } from '../support/rpc.ts';
import { openWorld, shippedRegistry } from '../support/surface-world.ts';
import type { Case } from './case.ts';

const taken = async (name: string, args: Record<string, unknown>): Promise<boolean> => {
  const { app } = await openWorld();
  return (await callTool(app, name, args, 'sue')).data['code'] !== 'INVALID_ARGUMENT';
};
const recorded = (args: Record<string, unknown>): Promise<boolean> =>
  taken('record_step', { workflow_id: 'w', step: 's', ...args });
/** Faults of an argument only: other arguments are left out. */
const unfaulted = async (argument: string, value: string, more = {}): Promise<boolean> => {
  const { app } = await openWorld();
  const { data } = await callTool(app, 'record_step', { step: 's', ...more, [argument]: value });
  const faults = (data['faults'] ?? []) as readonly { path: string }[];
  return faults.every(({ path }) => path !== `/${argument}`);
};

/** The cases. */
export const SURFACE = {
  runWaitSeconds: (seconds) => preferredSeconds(`wait=${seconds}`) === seconds,
  bodyBytes: async (bytes) => {
    const { app } = await openWorld();
    return (
      (await post(app, '{"jsonrpc":"2.0","id":1,"method":"ping"}'.padEnd(bytes))).status === 200
    );
  },
  jsonDepth: async (levels) => {
    const { app } = await openWorld();
    // The message, its params, and arrays within.
    const nested = '['.repeat(levels - 2) + ']'.repeat(levels - 2);
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested}}}`;
    return (await post(app, body)).status === 200;
  },
  tokenChars: async (chars) => {
    const { app } = await openWorld();
    const headers = { authorization: `Bearer ${'long'.padEnd(chars, 'a')}` };
    return (await send(app, 'handshake', 'ping', {}, { headers })).status === 200;
  },
  idempotencyKeyChars: (chars) =>
    taken('start_workflow', {
      procedure: 'pump-inspection',
      asset: 'PUMP-07',
      idempotency_key: 'k'.repeat(chars),
    }),
  assetChars: (chars) => taken('get_workflow', { asset: 'A'.repeat(chars) }),
  subjectChars: (chars) => taken('hand_over', { workflow_id: 'w', to: 'b'.repeat(chars) }),
  reasonChars: (chars) =>
    taken('abandon_workflow', { workflow_id: 'w', reason: 'r'.repeat(chars) }),
  textChars: (chars) => recorded({ text: 't'.repeat(chars) }),
  workflowIdChars: (chars) => taken('get_workflow', { workflow_id: 'w'.repeat(chars) }),
  confirmationTokenChars: (chars) => unfaulted('confirmation_token', 'c'.repeat(chars)),
  spokenReadingChars: (chars) => unfaulted('spoken_reading', 'five'.padEnd(chars, 'x')),
  unitNameChars: (chars) => unfaulted('unit', 'u'.repeat(chars), { reading: 1 }),
  idChars: (chars) => unfaulted('step', 's'.repeat(chars)),
  titleChars: (chars) => unfaulted('choice', 'c'.repeat(chars)),
  uriChars: async (chars) => {
    const { app } = await openWorld();
    const uri = 'x'.repeat(chars);
    const { body } = await send(app, 'handshake', 'resources/read', { uri });
    return (body['error'] as { data?: { uri: string } }).data?.uri === uri;
  },
  spokenChoices: async (count) => {
    const { app } = await openWorld();
    for (let n = 1; n <= count; n++) {
      const args = { procedure: 'pump-inspection', asset: `PUMP-0${n}` };
      await callTool(app, 'start_workflow', args);
    }
    return !(await callTool(app, 'complete_workflow')).text.includes('more');
  },
  spokenWords: (count) => {
    const words = Array.from({ length: count }, () => 'word').join(' ');
    return say(words).split(' ').length === count;
  },
  faultsShown: async (count) => {
    const { app } = await openWorld();
    const args = Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, n]));
    const { data } = await callTool(app, 'list_my_workflows', args);
    return (data['faults'] as unknown[]).length === count;
  },
  replyBytes: (bytes) => {
    // What the sentence, the protocol's own fields and nothing spent leave to one entry.
    const left = bytes - 1_500 - '{}\n'.length;
    return fitting(['x'.repeat(left - '""\n'.length)], {}).leftOut === 0;
  },
  completions: async (count) => {
    const { app } = await openWorld((store) => ({
      queries: {
        ...createQueries(store, shippedRegistry()),
        listMine: () => {
          const workflows = Array.from({ length: count }, (_, n) => ({ ...view, asset: `A-${n}` }));
          return Promise.resolve({ code: 'FOUND', value: { workflows, more: false } });
        },
      },
    }));
    const ref = { type: 'ref/prompt', name: 'take_over_shift' };
    const params = { ref, argument: { name: 'asset', value: '' } };
    const { body } = await send(app, 'handshake', 'completion/complete', params);
    const { completion } = body['result'] as { completion: { values: string[]; hasMore: boolean } };
    return completion.values.length === count && !completion.hasMore;
  },
  requestStateChars: (chars) => {
    const asked = { tenant: 't', subject: 's', step: '', value: null };
    const occasion = { question: 'end', basis: 1, workflow: '' } as const;
    const sign = (workflow: string): string =>
      signQuestion('secret', asked, { ...occasion, workflow }, 0);
    // Base 64 grows by four for three: the workflow fills up, and the MAC what is left of it.
    let state = sign('w'.repeat(Math.floor(((chars - sign('').length) / 4) * 3) - 2));
    state = state.padEnd(chars, 'm');
    const answer = answerIn({
      canAsk: true,
      state,
      reply: { accepted: true, content: { confirm: true } },
    });
    return state.length === chars && answer !== 'declined' && answer?.state === state;
  },
  namedProfiles: async (people) => {
    let calls = 0;
    const note = createProfileNotes(
      { noteProfile: () => Promise.resolve(void calls++) },
      () => undefined,
    );
    const named = (n: number) =>
      note(
        { tenant: 't', subject: `s${n}`, name: 'N', kind: 'person', scopes: new Set(), via: 'mcp' },
        'r',
      );
    for (let n = 0; n < people; n++) await named(n);
    // Whoever is remembered is not noted again.
    await named(0);
    return calls === people;
  },
} as const satisfies { readonly [name: string]: Case };
