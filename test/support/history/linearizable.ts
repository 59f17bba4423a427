/**
 * Decides whether calls that overlapped can have happened one after the other: each at a moment between
 * its beginning and its answer, in an order in which a sequential model gives the same answers. A call
 * without an answer may have happened at any moment since, or not at all. The search is that of Wing and
 * Gong with the memory of Lowe: no set of calls is tried twice from the same state.
 */
import type { Operation } from './history.ts';

/** A sequential object. States are values; `key` is the same for states that behave alike. */
export interface Model<State, Ask, Told> {
  readonly first: State;
  readonly key: (state: State) => string;
  /** The state after a call with this answer, or undefined where it cannot have been answered so. */
  readonly step: (state: State, operation: Operation<Ask, Told>) => State | undefined;
}

/** The verdict; `stuck` is what was still to be explained where most of it was. */
export type Verdict<Ask, Told> =
  | { readonly linearizable: true }
  | {
      readonly linearizable: false;
      readonly explained: readonly Operation<Ask, Told>[];
      readonly stuck: readonly Operation<Ask, Told>[];
    };

/** Decides on the calls of one object. */
export function linearizable<State, Ask, Told>(
  operations: readonly Operation<Ask, Told>[],
  { first, key, step }: Model<State, Ask, Told>,
): Verdict<Ask, Told> {
  const all = operations.toSorted((a, b) => a.invoked - b.invoked);
  const tried = new Set<string>();
  let best: readonly number[] = [];
  const stack: { readonly state: State; readonly order: readonly number[] }[] = [
    { state: first, order: [] },
  ];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { state, order } = at;
    const done = new Set(order);
    const left = all.flatMap((operation, i) => (done.has(i) ? [] : [{ operation, i }]));
    if (left.every(({ operation }) => operation.end === 'unknown')) return { linearizable: true };
    if (order.length > best.length) best = order;
    // Nothing can come before a call that had ended when it began.
    const before = Math.min(...left.map(({ operation }) => operation.returned));
    for (const { operation, i } of left.toReversed()) {
      if (operation.invoked > before) continue;
      const after = step(state, operation);
      if (after === undefined) continue;
      // A call of which nobody knows changes something, or need not have happened.
      if (operation.end === 'unknown' && key(after) === key(state)) continue;
      const next = [...order, i];
      const name = `${next.toSorted((a, b) => a - b).join()} ${key(after)}`;
      if (tried.has(name)) continue;
      tried.add(name);
      stack.push({ state: after, order: next });
    }
  }
  const explained = new Set(best);
  return {
    linearizable: false,
    explained: best.flatMap((i) => all[i] ?? []),
    stuck: all.filter(({ end }, i) => !explained.has(i) && end !== 'unknown'),
  };
}
