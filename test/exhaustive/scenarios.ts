// The scenarios: how the world is at the beginning, and who does what to it at once.
import { notifyLane } from '../../lib/core/dispatch/new-row.ts';
import { keyText } from '../../lib/core/keys.ts';
import type { Command } from '../../lib/core/model/commands.ts';
import type { ItemKey } from '../../lib/core/ports/storage.ts';
import { START_MS } from '../support/harness.ts';
import type { Drift } from './invariants.ts';
import { itemsOf, type Attributes } from './items.ts';
import {
  asks,
  commands,
  delivers,
  PEOPLE,
  releases,
  sweeps,
  TENANT,
  works,
  type Who,
} from './programs.ts';
import { replay, type Answer, type Program } from './replay.ts';
import type { Actor, Scenario } from './search.ts';
import { perform, type World } from './world.ts';

/** A scenario with what is wrong at its beginning. */
export type Named = Scenario & { readonly drift?: Drift };

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NO_TIME = { stepMs: MINUTE, times: 0 };
const ASSET = 'U-1';

const EMPTY: World = {
  table: new Map(),
  lease: undefined,
  now: START_MS,
  outside: { accepted: new Map(), tickets: new Map() },
};

/** The world after a program that nobody disturbs; throws where it fails. */
async function after(world: World, by: string, program: Program): Promise<World> {
  const answers: Answer[] = [];
  let now = world;
  for (;;) {
    const { call, clock, end } = await replay(program, by, answers, now.now);
    answers.push(...clock);
    if (call === undefined) {
      if (end !== undefined && 'error' in end) throw end.error;
      return now;
    }
    const done = perform(now, call, (sent) => sent);
    answers.push(done.answer);
    now = done.world;
  }
}

const later = (world: World, ms: number): World => ({ ...world, now: world.now + ms });

/** The world with one item changed by nobody: drift. */
function drifted(
  world: World,
  key: ItemKey,
  change: (item: Attributes) => Attributes | undefined,
): World {
  const table = new Map(world.table);
  const item = change(table.get(keyText(key))?.item ?? {});
  if (item === undefined) table.delete(keyText(key));
  else table.set(keyText(key), { key, item });
  return { ...world, table };
}

const start = (key?: string, procedure = 'round'): Command => ({
  type: 'start_workflow',
  procedure,
  asset: ASSET,
  ...(key !== undefined && { key }),
});
const record = (workflow: string, confirmed: boolean, key?: string): Command => ({
  type: 'record_step',
  workflow,
  step: 'ready',
  input: { kind: 'confirm', confirmed },
  ...(key !== undefined && { key }),
});

/** Deliveries of one command of a person. */
const sent = (who: Who, command: Command, times: number): readonly Actor[] =>
  deliveries(
    `${who} ${command.type}${'decision' in command ? ` ${command.decision}` : ''}`,
    times,
    commands(who, command),
  );

const deliveries = (command: string, times: number, program: Program): readonly Actor[] =>
  Array.from({ length: times }, (_, i) => ({ by: `${command} ${i + 1}`, command, program }));

const unnamed = (by: string, times: number, program: Program): readonly Actor[] =>
  Array.from({ length: times }, (_, i) => ({ by: `${by} ${i + 1}`, program }));

/** Builds the scenarios. */
export async function scenarios(): Promise<readonly Named[]> {
  const started = await after(EMPTY, 'setup', commands('ana', start('a')));
  const [work] = itemsOf(started.table, 'workflow');
  if (work === undefined) throw new Error('nothing was started');
  const { id } = work;
  const blocked = await after(started, 'blocking', commands('ana', record(id, false, 'b')));
  const block = itemsOf(blocked.table, 'workflow')[0]?.block?.seq ?? 0;
  const resolve = (decision: 'continue' | 'abandon'): Command => ({
    type: 'resolve_block',
    workflow: id,
    block,
    decision,
    reason: 'seen',
  });
  const done = await after(started, 'doing', commands('ana', record(id, true, 'b')));
  const complete: Command = { type: 'complete_workflow', workflow: id, key: 'c' };
  const completed = await after(done, 'completing', commands('ana', complete));
  const abandon: Command = { type: 'abandon_workflow', workflow: id, tenure: 1, reason: 'over' };
  const handOver: Command = { type: 'hand_over', workflow: id, tenure: 1, to: PEOPLE.ben.subject };
  const lock: ItemKey = { kind: 'lock', tenant: TENANT, asset: ASSET };
  const held = { held: true, workflow: id, procedure: 'round', subject: 'dev:ana', name: 'ana' };
  const left = drifted(later(completed, 2 * MINUTE), lock, (item) => ({ ...item, ...held }));
  const free = drifted(later(started, 61 * MINUTE), lock, (item) => ({ ...item, held: false }));
  const robbed = await after(free, 'robber', commands('ben', start('b')));
  const robber = itemsOf(robbed.table, 'workflow').find((one) => one.id !== id)?.id ?? '';
  const workflow: ItemKey = { kind: 'workflow', tenant: TENANT, id };
  const gone = drifted(later(started, 60 * MINUTE), workflow, () => undefined);
  const beyond: ItemKey = { kind: 'event', tenant: TENANT, workflow: id, seq: 2 };
  const [first] = itemsOf(started.table, 'event');
  const torn = drifted(started, beyond, () => ({ ...first, seq: 2, hash: 'f'.repeat(64) }));
  const lane = { tenant: TENANT, workflow: id, lane: notifyLane('log') };
  const [row] = itemsOf(blocked.table, 'outbox');
  const stray: ItemKey = { ...lane, kind: 'outbox', seq: row?.seq ?? 0 };
  const strayed = drifted(started, stray, () => ({ ...row, id: 'stray' }));

  const watching = await after(EMPTY, 'watching', commands('ana', start('a', 'watched')));
  const watched = itemsOf(watching.table, 'workflow')[0]?.id ?? '';
  const proposing = await after(watching, 'stopping', commands('ana', record(watched, false, 'b')));
  const stopped = itemsOf(proposing.table, 'workflow')[0]?.block;
  const about = (approved: boolean, key: string): Command => ({
    type: 'decide_approval',
    workflow: watched,
    approved,
    action_hash: stopped?.proposal?.action_hash ?? '',
    key,
  });
  const resolved: Command = {
    type: 'resolve_block',
    workflow: watched,
    block: stopped?.seq ?? 0,
    decision: 'continue',
    reason: 'seen',
  };

  const asked = await after(EMPTY, 'asking', asks('ana', { type: 'create_run', ...INCIDENT }));
  const run = itemsOf(asked.table, 'run')[0]?.id ?? '';
  const proposed = await after(asked, 'gathering', works(run, 1));
  const action_hash = itemsOf(proposed.table, 'run')[0]?.proposal?.action_hash ?? '';
  const decide = (approved: boolean, key: string) =>
    ({ type: 'decide_approval', run, approved, action_hash, key }) as const;
  const approved = await after(proposed, 'approving', asks('cara', decide(true, 'y')));

  return [
    {
      title: 'two people start on one asset, each heard twice',
      world: EMPTY,
      time: NO_TIME,
      actors: [...sent('ana', start('a'), 2), ...sent('ben', start('b'), 2)],
    },
    {
      title: 'a start is sent again while its key comes to its end',
      world: started,
      time: { stepMs: 31 * DAY, times: 1 },
      actors: [
        ...unnamed('ana starts', 2, commands('ana', start('a'))),
        ...sent('ana', abandon, 1),
      ],
    },
    {
      title: 'a step that blocks, said three times, a release by force, and a stranger',
      world: started,
      time: NO_TIME,
      actors: [
        ...sent('ana', record(id, false, 'b'), 3),
        ...deliveries('release', 1, releases(ASSET, 'r')),
        ...unnamed('a stranger', 1, commands('eve', abandon)),
      ],
    },
    {
      title: 'a block is decided both ways, each heard twice, while the lock is released by force',
      world: blocked,
      time: NO_TIME,
      actors: [
        ...sent('sol', resolve('continue'), 2),
        ...sent('sol', resolve('abandon'), 1),
        ...deliveries('release', 2, releases(ASSET, 'r')),
        ...sent('ben', start('b'), 1),
      ],
    },
    {
      title: 'a hand-over, an abandonment and a completion at once, each heard twice',
      world: done,
      time: NO_TIME,
      actors: [
        ...sent('ana', handOver, 2),
        ...sent('ana', abandon, 2),
        ...sent('ana', complete, 2),
      ],
    },
    {
      title: 'work ends, and the next one begins on the asset',
      world: done,
      time: NO_TIME,
      actors: [
        ...sent('ana', complete, 1),
        ...sent('ana', start('d'), 1),
        ...sent('ben', start('b'), 2),
        ...deliveries('release', 1, releases(ASSET, 'r')),
      ],
    },
    {
      title: 'work that lost its asset to other work ends, and so does the other',
      world: robbed,
      drift: { assets: [ASSET] },
      time: NO_TIME,
      actors: [
        ...sent('ana', abandon, 2),
        ...sent('ben', record(robber, false, 'n'), 1),
        ...deliveries('release', 1, releases(ASSET, 'r')),
        ...unnamed('sweep', 1, sweeps),
      ],
    },
    {
      title: 'a lock that was left behind, two sweeps, and a start',
      world: left,
      drift: { assets: [ASSET] },
      time: { stepMs: 6 * MINUTE, times: 1 },
      actors: [...unnamed('sweep', 2, sweeps), ...sent('ben', start('b'), 1)],
    },
    {
      title: 'a lock whose work is gone, while a copy of it is put back',
      world: gone,
      drift: { assets: [ASSET] },
      time: NO_TIME,
      actors: [...sent('ben', start('b'), 1), ...unnamed('copy', 1, puts(started, workflow))],
    },
    {
      title: 'two sweeps of due work, an overtaken one among them, and the work itself',
      world: later(started, 11 * MINUTE),
      time: { stepMs: 6 * MINUTE, times: 1 },
      actors: [...unnamed('sweep', 2, sweeps), ...sent('ana', record(id, true, 'b'), 1)],
    },
    {
      title: 'a notification, three who deliver it, and claims that end',
      world: blocked,
      time: { stepMs: 4 * MINUTE, times: 2 },
      actors: unnamed('delivery', 3, delivers(lane)),
    },
    {
      title: 'an event that lies beyond the head of its chain',
      world: torn,
      drift: { torn: true },
      time: NO_TIME,
      actors: [...sent('ana', record(id, true, 'b'), 2), ...sent('ana', abandon, 1)],
    },
    {
      title: 'two programs draw one name',
      world: EMPTY,
      time: NO_TIME,
      actors: [
        { by: 'ana', program: namesakes(commands('ana', start())) },
        { by: 'ben', program: namesakes(commands('ben', { ...start(), asset: 'U-2' } as Command)) },
        { by: 'one', program: namesakes(asks('ana', { type: 'create_run', ...INCIDENT })) },
        {
          by: 'other',
          program: namesakes(asks('ana', { type: 'create_run', ...INCIDENT, symptom: 'slow' })),
        },
      ],
    },
    {
      title: 'a notification that no event has caused lies where the next one belongs',
      world: strayed,
      time: NO_TIME,
      actors: sent('ana', record(id, false, 'b'), 1),
    },
    {
      title: 'an incident is reported twice, and two attempts gather for it',
      world: EMPTY,
      time: NO_TIME,
      actors: deliveries('report', 3, asks('ana', { type: 'create_run', ...INCIDENT })),
    },
    {
      title: 'an action is approved and denied at once, also by its requester, until it expires',
      world: proposed,
      time: { stepMs: 40 * MINUTE, times: 2 },
      actors: [
        ...deliveries('approve', 2, asks('cara', decide(true, 'y'))),
        ...deliveries('deny', 1, asks('dan', decide(false, 'n'))),
        ...unnamed('requester', 1, asks('ana', decide(true, 'own'))),
        ...unnamed('sweep', 1, sweeps),
      ],
    },
    {
      title:
        'what a block proposes is approved and denied at once, also by its holder, until it expires',
      world: proposing,
      time: { stepMs: 40 * MINUTE, times: 2 },
      actors: [
        ...deliveries('approve', 2, commands('cara', about(true, 'y'))),
        ...deliveries('deny', 1, commands('dan', about(false, 'n'))),
        ...unnamed('holder', 1, commands('ana', about(true, 'own'))),
        ...unnamed('sweep', 1, sweeps),
      ],
    },
    {
      title:
        'what a block proposes is approved while the block is resolved and the lock is released',
      world: proposing,
      time: NO_TIME,
      actors: [
        ...deliveries('approve', 2, commands('cara', about(true, 'y'))),
        ...sent('sol', resolved, 1),
        ...deliveries('release', 1, releases(ASSET, 'r')),
        ...sent('ben', start('s'), 1),
      ],
    },
    {
      title: 'an approved write by two workers of one attempt and a sweep that begins the next',
      world: approved,
      time: { stepMs: 40 * MINUTE, times: 2 },
      actors: [...unnamed('worker', 2, works(run, 2)), ...unnamed('sweep', 1, sweeps)],
    },
    {
      title: 'two workers gather for one incident',
      world: asked,
      time: { stepMs: 6 * MINUTE, times: 1 },
      actors: [...unnamed('worker', 2, works(run, 1)), ...unnamed('sweep', 1, sweeps)],
    },
  ];
}

const INCIDENT = { service: 'checkout', symptom: 'payments time out' } as const;

/** A program whose randomness is the same as that of every other one. */
const namesakes =
  (program: Program): Program =>
  (ports, by) =>
    program({ ...ports, random: { ...ports.random, id: () => 'same' } }, by);

/** Puts work of another world back while its lock still names it, as somebody who restores a copy. */
const puts =
  (from: World, key: ItemKey): Program =>
  (ports) => {
    const item = from.table.get(keyText(key))?.item;
    const named = { held: true, workflow: 'id' in key ? key.id : '' };
    const lock = {
      op: 'check',
      key: { kind: 'lock', tenant: TENANT, asset: ASSET },
      expect: named,
    };
    return ports
      .port<{ commit: (transaction: unknown) => Promise<unknown> }>('copy')
      .commit({ writes: [{ op: 'create', key, item }, lock] });
  };
