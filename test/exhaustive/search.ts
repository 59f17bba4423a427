// Breadth-first search over everything that a few programs at once can do to a world: each of their calls
// may be carried out before or after every other one, or never, and time may pass in between.
import { createHash } from 'node:crypto';
import { isFault } from '../../lib/core/fault.ts';
import { isDeliveryError } from '../../lib/core/ports/sink.ts';
import type { Transaction } from '../../lib/core/ports/storage.ts';
import { merged, type Passing } from './merged.ts';
import { replay, type Answer, type Call, type Program, type Standing } from './replay.ts';
import { perform, type Alter, type Done, type World } from './world.ts';

/** One program of a scenario. Two with the same `command` are deliveries of one command. */
export interface Actor {
  readonly by: string;
  readonly command?: string;
  /** How long the command is known again, where that is not for good; in milliseconds. */
  readonly knownForMs?: number;
  /** The tenant in which it works, where that is one. */
  readonly tenant?: string;
  readonly program: Program;
}

/** What is searched. */
export interface Scenario {
  readonly title: string;
  readonly world: World;
  readonly actors: readonly Actor[];
  /** How often time may pass, and how far each time. */
  readonly time: { readonly stepMs: number; readonly times: number };
}

/** A call that was carried out, with the world before and after it. */
export interface Step {
  readonly actor: Actor;
  readonly call: Call;
  readonly answers: readonly Answer[];
  /** The time at which the program made the call; it is carried out at that of `before`. */
  readonly sentAt: number;
  readonly before: World;
  readonly done: Done;
}

/** What every state and every step is held against; an answer says what is wrong. */
export interface Judge<History> {
  readonly begin: (world: World) => History;
  /** What a step adds to what has to be remembered. */
  readonly step: (history: History, step: Step) => History | string;
  /** What an actor's end adds. */
  readonly end: (history: History, actor: Actor, value: unknown) => History | string;
  readonly world: (history: History, world: World) => string | undefined;
}

/** What was found. */
export interface Found {
  readonly states: number;
  readonly steps: number;
  readonly depth: number;
  /** Whether there is nothing beyond what was searched. */
  readonly closed: boolean;
  readonly violation?: { readonly what: string; readonly trace: readonly string[] };
  /** Every guard that a transaction carried, by its name. */
  readonly guards: ReadonlySet<string>;
}

/** How far a search goes, and what it does to every transaction. */
export interface SearchOptions {
  readonly mostStates: number;
  readonly alter?: Alter;
  readonly guardsOf?: (transaction: Transaction) => readonly string[];
}

/** Where a program is after some answers; shared by every state in which it got the same ones. */
interface Node {
  readonly answers: readonly Answer[];
  readonly standing: Standing;
  readonly at: number;
  readonly next: Map<string, Node>;
  readonly forms: Map<string, number>;
}

interface State<History> {
  readonly world: World;
  readonly nodes: readonly (Node | undefined)[];
  readonly left: number;
  readonly history: History;
  readonly from: number;
  readonly label: string;
}

/** Searches a scenario until everything is known, something is wrong, or there are too many states. */
export async function search<History>(
  { world, actors, time }: Scenario,
  judge: Judge<History>,
  { mostStates, alter = (sent) => sent, guardsOf = () => [] }: SearchOptions,
): Promise<Found> {
  const first: State<History> = {
    world,
    nodes: actors.map(() => undefined),
    left: time.times,
    history: judge.begin(world),
    from: -1,
    label: 'begin',
  };
  const roots = actors.map(() => new Map<string, Node>());
  const states: State<History>[] = [first];
  const seen = new Set<string>();
  const guards = new Set<string>();
  const classes = new Map<string, number>();
  const itemForms = new WeakMap<object, Map<string, number>>();
  let steps = 0;

  const classOf = (text: string): number => {
    const known = classes.get(text);
    if (known !== undefined) return known;
    classes.set(text, classes.size);
    return classes.size - 1;
  };
  const passingOf = ({ world: { now }, left }: State<History>): Passing => ({
    now,
    stepMs: time.stepMs,
    left,
  });
  const formOf = (about: object, of: () => unknown, passing: Passing): number => {
    const when = `${passing.now} ${passing.left}`;
    const forms = itemForms.get(about) ?? new Map<string, number>();
    itemForms.set(about, forms);
    const known = forms.get(when);
    if (known !== undefined) return known;
    const form = classOf(merged(of(), passing));
    forms.set(when, form);
    return form;
  };
  const keyOf = (state: State<History>): string => {
    const { table, lease, outside } = state.world;
    const passing = passingOf(state);
    const rows = [...table.values()].map((row) => formOf(row.item, () => row, passing));
    const held = lease === undefined ? 0 : formOf(lease, () => lease, passing);
    const stand = state.nodes.map((node) => {
      if (node === undefined) return -1;
      return node.standing.call === undefined
        ? -2
        : formOf(node, () => told(node, passing), passing);
    });
    const kept = [[...outside.accepted.keys()].toSorted(), [...outside.tickets.keys()]];
    const past = merged(state.history, passing);
    const parts = [rows.toSorted((a, b) => a - b), held, stand, kept, state.left, past];
    return createHash('sha1').update(JSON.stringify(parts)).digest('base64');
  };
  const traceOf = (state: State<History>, last: string): readonly string[] => {
    const trace = [last];
    for (let at: State<History> | undefined = state; at !== undefined; at = states[at.from]) {
      trace.unshift(at.label);
    }
    return trace;
  };
  const found = (violation?: Found['violation'], depth = 0, closed = false): Found => ({
    states: states.length,
    steps,
    depth,
    closed,
    guards,
    ...(violation !== undefined && { violation }),
  });

  seen.add(keyOf(first));
  let depth = 0;
  for (let at = 0, layer = 1; at < states.length; at++) {
    if (at === layer) {
      depth += 1;
      layer = states.length;
    }
    const state = states[at];
    if (state === undefined) break;
    const add = (next: State<History>): void => {
      const key = keyOf(next);
      if (seen.has(key)) return;
      seen.add(key);
      states.push(next);
    };
    for (const [i, actor] of actors.entries()) {
      let node = state.nodes[i];
      if (node === undefined) {
        const when = String(state.world.now);
        node = roots[i]?.get(when) ?? (await nodeOf(actor, [], state.world.now));
        roots[i]?.set(when, node);
      }
      const { call, clock } = node.standing;
      if (call === undefined) continue;
      steps += 1;
      if (call.port === 'store' && (call.name === 'commit' || call.name === 'keep')) {
        for (const name of guardsOf(transactionOf(call))) guards.add(name);
      }
      const done = perform(state.world, call, alter);
      const step = {
        actor,
        call,
        answers: node.answers,
        sentAt: node.at,
        before: state.world,
        done,
      };
      const label = labelOf(actor, call, done);
      let history = judge.step(state.history, step);
      if (typeof history === 'string') {
        return found({ what: history, trace: traceOf(state, label) }, depth);
      }
      const given = `${done.world.now} ${JSON.stringify(done.answer)}`;
      const after =
        node.next.get(given) ??
        (await nodeOf(actor, [...node.answers, ...clock, done.answer], done.world.now));
      node.next.set(given, after);
      const { end } = after.standing;
      if (end !== undefined && 'value' in end) {
        history = judge.end(history, actor, end.value);
        if (typeof history === 'string') {
          return found({ what: history, trace: traceOf(state, label) }, depth);
        }
      }
      const wrong = judge.world(history, done.world);
      if (wrong !== undefined) return found({ what: wrong, trace: traceOf(state, label) }, depth);
      const nodes = state.nodes.with(i, after);
      add({ ...state, world: done.world, nodes, history, from: at, label });
    }
    if (state.left > 0) {
      const later = { ...state.world, now: state.world.now + time.stepMs };
      add({ ...state, world: later, left: state.left - 1, from: at, label: 'time passes' });
    }
    if (states.length >= mostStates) return found(undefined, depth);
  }
  return found(undefined, depth, true);
}

async function nodeOf(actor: Actor, answers: readonly Answer[], now: number): Promise<Node> {
  const standing = await replay(actor.program, actor.by, answers, now);
  const { end } = standing;
  if (end !== undefined && 'error' in end && !isExpected(end.error)) throw end.error;
  return { answers, standing, at: now, next: new Map(), forms: new Map() };
}

/** A program may fail by a fault that its callers know; whatever else it throws is a fault of the program. */
const isExpected = (error: unknown): boolean => isFault(error) || isDeliveryError(error);

/** What a program knows: its answers, and how long ago it looked at the clock. */
const told = ({ answers, standing }: Node, { now, stepMs }: Passing): readonly unknown[] =>
  [...answers, ...standing.clock].map((answer) =>
    answer.kind === 'now' ? Math.round((now - answer.now) / stepMs) : answer,
  );

const transactionOf = ({ name, args }: Call): Transaction =>
  name === 'commit'
    ? (args[0] as Transaction)
    : { writes: [args[0]] as unknown as Transaction['writes'] };

function labelOf({ by }: Actor, { port, name, args }: Call, { wrote, answer }: Done): string {
  if (name !== 'commit' && name !== 'keep') {
    const keys = name === 'snapshot' ? (args[0] as readonly { kind: string }[]) : [];
    return `${by}: ${port}.${name} ${keys.map(({ kind }) => kind).join(' ')}`.trim();
  }
  const kept = wrote.map(({ op, key }) => `${op} ${key.kind}`).join(', ');
  return `${by}: ${name} ${wrote.length > 0 ? kept : `refused ${JSON.stringify(answer)}`}`;
}
