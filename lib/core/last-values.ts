// What was recorded last time on an asset, carried on the lock that survives the release: no item and
// no read of its own. Bounded; texts and sensitive values have no value in a slot, so none is carried.
import { itemBytes } from './keys.ts';
import { LIMITS } from './limits.ts';
import type { Procedure, Step } from './model/procedure.ts';
import type { LastValues, PreviousValues, Workflow } from './model/workflow.ts';
import { stepOf } from './procedures.ts';

/**
 * The values of a workflow that ends at `at`, in order of recording and as many as fit; undefined
 * where there are none, so that an empty workflow does not erase what is known.
 */
export function lastValues(workflow: Workflow, at: string): LastValues | undefined {
  const { procedure, procedure_version: version } = workflow;
  const done = Object.entries(workflow.steps)
    .filter(([, { status, value }]) => status === 'done' && value !== undefined)
    .sort(([, a], [, b]) => a.seq - b.seq);
  let last: LastValues | undefined;
  for (const [step, { value = null }] of done) {
    const more: LastValues = { procedure, version, at, values: { ...last?.values, [step]: value } };
    if (itemBytes(more) > LIMITS.lastValuesBytes.max) break;
    last = more;
  }
  return last;
}

/**
 * What a start on the asset takes over. Values of another version count where the step measures the
 * same; `earlier` is that version, where this process knows it.
 */
export function previousValues(
  last: LastValues | undefined,
  procedure: Procedure,
  earlier: Procedure | undefined,
): PreviousValues | undefined {
  if (last?.procedure !== procedure.id) return undefined;
  const values = Object.entries(last.values).filter(([id]) => {
    if (last.version === procedure.version) return true;
    const now = stepOf(procedure, id);
    const before = earlier === undefined ? undefined : stepOf(earlier, id);
    return now !== undefined && before !== undefined && measuresSame(now, before);
  });
  return values.length === 0 ? undefined : { at: last.at, values: Object.fromEntries(values) };
}

function measuresSame(a: Step, b: Step): boolean {
  if (a.kind === 'reading' && b.kind === 'reading') {
    return a.unit.symbol === b.unit.symbol && a.decimals === b.decimals;
  }
  if (a.kind === 'choice' && b.kind === 'choice') {
    const known = a.options.map(({ id }) => id);
    return b.options.every(({ id }) => known.includes(id));
  }
  return a.kind === b.kind;
}
