/**
 * An asset as a sequential object: who works on it, what was recorded, and what each key was answered.
 * It says of every command what the design says of it, and knows nothing of how that is done.
 */
import type { Model } from './linearizable.ts';
import type { Operation } from './history.ts';

/** A command on the work of an asset, as its client sends it. */
export interface Ask {
  readonly asset: string;
  readonly do: 'start' | 'record' | 'end';
  readonly key: string;
  /** The work that is meant; a start has none yet. */
  readonly workflow?: string;
  readonly step?: string;
  readonly value?: unknown;
}

/** What a client was told: a code and, of what took effect, its receipt. */
export interface Told {
  readonly code: string;
  readonly duplicate?: boolean;
  readonly workflow?: string;
  readonly seq?: number;
}

/** One piece of work; its id is unknown as long as nobody was told. */
interface Work {
  readonly id: string | undefined;
  readonly by: string;
  readonly head: number;
  readonly steps: { readonly [step: string]: { readonly value: unknown; readonly seq: number } };
  readonly ended?: number;
}

/** All work on the asset, the latest last, and the receipts of keys: index of the work and sequence. */
interface State {
  readonly works: readonly Work[];
  readonly keys: { readonly [key: string]: { readonly work: number; readonly seq: number } };
}

/** The model. */
export const asset: Model<State, Ask, Told> = {
  first: { works: [], keys: {} },
  key: ({ works, keys }) => JSON.stringify([works, keys]),
  step: (state, { client, ask, end, told }) => {
    // Keys are their person's own.
    const key = `${client} ${ask.key}`;
    const known = state.keys[key];
    if (known !== undefined) return answered(state, known, true, { end, told });
    const expected = effectOf(state, client, ask);
    if (expected === undefined) return end === 'ok' ? undefined : state;
    const { works, receipt, duplicate } = expected;
    const after = { works, keys: { ...state.keys, [key]: receipt } };
    return end === 'fail' ? undefined : answered(after, receipt, duplicate, { end, told });
  },
};

type Effect = {
  readonly works: State['works'];
  readonly receipt: State['keys'][string];
  readonly duplicate: boolean;
};

/** What a command does; undefined where it is refused. */
function effectOf({ works }: State, client: string, ask: Ask): Effect | undefined {
  const last = works.length - 1;
  const current = works[last];
  if (ask.do === 'start') {
    if (current === undefined || current.ended !== undefined) {
      const begun: Work = { id: undefined, by: client, head: 1, steps: {} };
      const receipt = { work: works.length, seq: 1 };
      return { works: [...works, begun], receipt, duplicate: false };
    }
    if (current.by !== client) return undefined;
    return { works, receipt: { work: last, seq: 1 }, duplicate: true };
  }
  const work = works.findIndex(({ id }) => id !== undefined && id === ask.workflow);
  const meant = works[work];
  if (meant === undefined || meant.by !== client) return undefined;
  const seq = meant.head + 1;
  if (ask.do === 'end') {
    if (meant.ended !== undefined) {
      return { works, receipt: { work, seq: meant.ended }, duplicate: true };
    }
    const after = { ...meant, head: seq, ended: seq };
    return { works: works.with(work, after), receipt: { work, seq }, duplicate: false };
  }
  const before = meant.steps[ask.step ?? ''];
  if (before !== undefined) {
    if (before.value !== ask.value) return undefined;
    return { works, receipt: { work, seq: before.seq }, duplicate: true };
  }
  if (meant.ended !== undefined) return undefined;
  const steps = { ...meant.steps, [ask.step ?? '']: { value: ask.value, seq } };
  const after = { ...meant, head: seq, steps };
  return { works: works.with(work, after), receipt: { work, seq }, duplicate: false };
}

/** The state once a client was told a receipt; undefined where it can have been told no such thing. */
function answered(
  state: State,
  { work, seq }: State['keys'][string],
  duplicate: boolean,
  { end, told }: { readonly end: Operation<Ask, Told>['end']; readonly told: Told | undefined },
): State | undefined {
  if (end === 'unknown') return state;
  const found = state.works[work];
  if (end === 'fail' || found === undefined || told === undefined) return undefined;
  if (told.seq !== seq || told.duplicate !== duplicate) return undefined;
  if (found.id === told.workflow) return state;
  const taken = state.works.some(({ id }) => id === told.workflow);
  if (found.id !== undefined || taken) return undefined;
  return { ...state, works: state.works.with(work, { ...found, id: told.workflow }) };
}
