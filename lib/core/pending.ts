// What waits for somebody's decision: actions of runs, then those that blocked work proposes. Reads only.
import { refusalForProposals } from './authorize.ts';
import { assert } from './fault.ts';
import { InputError } from './input-error.ts';
import type { Run } from './model/run.ts';
import type { Page } from './ports/storage.ts';
import type { Found, Queries } from './queries.ts';
import type { RunRefusal } from './runs/outcome.ts';
import type { RunQueries, RunRead } from './runs/queries.ts';
import type { WorkflowView } from './view.ts';

/** One action that waits: that of a run, or that of a blocked workflow. */
export type Pending = { readonly run: Run } | { readonly workflow: WorkflowView };

/** What is read with. */
export interface PendingParts {
  readonly queries: Pick<Queries, 'listProposals'>;
  readonly runQueries: Pick<RunQueries, 'list' | 'refusal'>;
}

/**
 * Everything that waits and that somebody may read; the oldest first within runs and within work. A page may
 * hold fewer than asked for and still have a next one.
 */
export async function listPending(
  { queries, runQueries }: PendingParts,
  read: RunRead,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<Found<Page<Pending>> | RunRefusal> {
  const { principal, requestId } = read;
  const refusal = refusalForProposals(principal);
  const seesRuns = runQueries.refusal(principal) === undefined;
  if (refusal !== undefined && !seesRuns) return refusal;
  const [from, inner] = after === undefined ? ['runs' as const] : positionIn(after);
  const items: Pending[] = [];
  if (from === 'runs' && seesRuns) {
    const found = await runQueries.list(read, 'awaiting_approval', pageAt(limit, inner));
    if (found.code !== 'FOUND') return found;
    items.push(...found.value.items.map((run) => ({ run })));
    const { next } = found.value;
    if (next !== undefined) return page(items, ['runs', next]);
  }
  if (refusal !== undefined) return page(items);
  if (items.length === limit) return page(items, ['workflows']);
  const at = pageAt(limit - items.length, from === 'workflows' ? inner : undefined);
  const found = await queries.listProposals(principal, at, requestId);
  if (found.code !== 'FOUND') {
    const { code } = found;
    assert(code === 'FORBIDDEN' || code === 'BACKEND_UNAVAILABLE', 'a list names nothing');
    return found;
  }
  items.push(...found.value.items.map((workflow) => ({ workflow })));
  const { next } = found.value;
  return page(items, next === undefined ? undefined : ['workflows', next]);
}

type Position = readonly [from: 'runs' | 'workflows', inner?: string];

const page = (items: readonly Pending[], next?: Position): Found<Page<Pending>> => ({
  code: 'FOUND',
  value: { items, ...(next !== undefined && { next: JSON.stringify(next) }) },
});

const pageAt = (limit: number, after: string | undefined) => ({
  limit,
  ...(after !== undefined && { after }),
});

function positionIn(after: string): Position {
  const position = JSON.parse(after) as Position;
  if (position[0] === 'runs' || position[0] === 'workflows') return position;
  throw new InputError([{ path: '/cursor', message: 'expected a cursor that this list gave' }]);
}
