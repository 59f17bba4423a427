/** Judges a recorded history asset by asset, and against the trails that are there at the end. */
import type { Ask, Told } from './asset.ts';
import { asset as model } from './asset.ts';
import type { Operation } from './history.ts';
import { linearizable } from './linearizable.ts';

/** A trail at the end: the work it tells of, and how many events it has. */
export interface Trail {
  readonly workflow: string;
  readonly events: number;
}

/** What is wrong with a history, in sentences; nothing where it could have happened. */
export function faultsOf(
  operations: readonly Operation<Ask, Told>[],
  trails: readonly Trail[],
): readonly string[] {
  const faults: string[] = [];
  for (const [name, those] of Map.groupBy(operations, ({ ask }) => ask.asset)) {
    const verdict = linearizable(those, model);
    if (verdict.linearizable) continue;
    const lines = [...verdict.explained.slice(-5), ...verdict.stuck.slice(0, 5)].map(lineOf);
    faults.push(`${name}: no order of its calls gives these answers\n  ${lines.join('\n  ')}`);
  }
  // Every effect that somebody was told of is in a trail, and a trail has nothing that nobody asked for.
  const told = operations.flatMap(({ end, told: answer }) =>
    end === 'ok' && answer ? answer : [],
  );
  const events = new Map(trails.map(({ workflow, events: n }) => [workflow, n]));
  for (const { workflow = '', seq = 0 } of told) {
    if (seq > (events.get(workflow) ?? 0)) faults.push(`${workflow} has no event ${seq}`);
  }
  for (const { workflow, events: n } of trails) {
    const asked = operations.filter(({ ask, told: answer }) =>
      ask.do === 'start' ? answer?.workflow === workflow : ask.workflow === workflow,
    );
    const keys = new Set(asked.map(({ client, ask }) => `${client} ${ask.key}`));
    const begun = asked.some(({ ask }) => ask.do === 'start');
    if (n > keys.size + (begun ? 0 : 1)) {
      faults.push(`${workflow} has ${n} events, and ${keys.size} commands were sent`);
    }
  }
  return faults;
}

function lineOf({ client, ask, invoked, returned, end, told }: Operation<Ask, Told>): string {
  const what = `${ask.do} ${ask.step ?? ''} ${ask.key}`;
  return `${invoked}-${returned} ${client} ${what}: ${end} ${JSON.stringify(told)}`;
}
