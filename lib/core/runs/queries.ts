// Reads of runs for people: one run with its observations, lists by state, the trail. Decides nothing.
import { readableEvent, type ReadableEvent } from '../events.ts';
import { isFault, unavailable, type Fault } from '../fault.ts';
import { InputError } from '../input-error.ts';
import { isRunId } from '../model/aggregate.ts';
import type { Principal } from '../model/principal.ts';
import { RUN_STATES, type EvidenceRow, type Run, type RunState } from '../model/run.ts';
import type { Page, StorageBackend } from '../ports/storage.ts';
import { refusalForReadingRuns, refusalForRunTrail } from './authorize.ts';
import type { RunRefusal } from './outcome.ts';
import { presentEvidence } from './present-evidence.ts';

/** A read that found what was asked for. */
export interface FoundRun<T> {
  readonly code: 'FOUND';
  readonly value: T;
}

/** Who reads, and the request in the log line about a fault. */
export interface RunRead {
  readonly principal: Principal;
  readonly requestId?: string;
}

/** A run with what its tools answered since its gathering began, oldest first. */
export interface RunWithEvidence {
  readonly run: Run;
  readonly evidence: readonly EvidenceRow[];
}

/** A page of a run's trail, and the sequence of its last event as of the read. */
export interface RunTrailPage {
  readonly run: Run;
  readonly events: readonly ReadableEvent[];
  readonly head: number;
}

/** The query side of runs. Operational faults are answered `BACKEND_UNAVAILABLE`. */
export interface RunQueries {
  /** Why somebody may read no run at all; undefined where they may. */
  refusal(principal: Principal): RunRefusal | undefined;
  /** One run as it is at this moment. */
  get(read: RunRead, id: string): Promise<FoundRun<Run> | RunRefusal>;
  /** One run with the observations of its present gathering. */
  getWithEvidence(read: RunRead, id: string): Promise<FoundRun<RunWithEvidence> | RunRefusal>;
  /** Observations of a run after a sequence, ascending; every one of them is untrusted. */
  observations(
    read: RunRead,
    id: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<FoundRun<readonly EvidenceRow[]> | RunRefusal>;
  /**
   * Runs in one state, or in all of them in the order of the machine; oldest first within a state. A
   * page may hold fewer than asked for and still have a next one.
   */
  list(
    read: RunRead,
    state: RunState | undefined,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<FoundRun<Page<Run>> | RunRefusal>;
  /** The events of a run after a sequence, for auditors. */
  events(
    read: RunRead,
    id: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<FoundRun<RunTrailPage> | RunRefusal>;
}

/** Builds the query side. */
export function createRunQueries(
  store: Pick<StorageBackend, 'snapshot' | 'listRuns' | 'listEvents' | 'listEvidence'>,
  onFault?: (fault: Fault, operation: string, requestId?: string) => void,
): RunQueries {
  const guarded = async <T>(
    operation: string,
    { requestId }: RunRead,
    refusal: RunRefusal | undefined,
    read: () => Promise<FoundRun<T> | RunRefusal>,
  ): Promise<FoundRun<T> | RunRefusal> => {
    if (refusal !== undefined) return refusal;
    try {
      return await read();
    } catch (error) {
      if (!isFault(error)) throw error;
      onFault?.(error, operation, requestId);
      return unavailable(error);
    }
  };
  const find = async (tenant: string, id: string): Promise<FoundRun<Run> | RunRefusal> => {
    // An id of another kind is no key of a run.
    const [run] = isRunId(id) ? await store.snapshot([{ kind: 'run', tenant, id }]) : [];
    return run === undefined
      ? { code: 'NOT_FOUND', what: 'run', name: id }
      : { code: 'FOUND', value: run };
  };
  const reading = ({ principal }: RunRead): RunRefusal | undefined =>
    refusalForReadingRuns(principal);

  return {
    refusal: refusalForReadingRuns,
    get: (read, id) =>
      guarded('get_run', read, reading(read), () => find(read.principal.tenant, id)),
    getWithEvidence: (read, id) =>
      guarded('get_run', read, reading(read), async () => {
        const { tenant } = read.principal;
        const found = await find(tenant, id);
        if (found.code !== 'FOUND') return found;
        const run = found.value;
        const evidence = await presentEvidence(store, run);
        return { code: 'FOUND', value: { run, evidence } };
      }),
    observations: (read, id, page) =>
      guarded('list_observations', read, reading(read), async () => {
        const { tenant } = read.principal;
        const found = await find(tenant, id);
        if (found.code !== 'FOUND') return found;
        return { code: 'FOUND', value: await store.listEvidence(tenant, id, page) };
      }),
    list: (read, state, page) =>
      guarded('list_runs', read, reading(read), async () => {
        const { tenant } = read.principal;
        return state === undefined
          ? { code: 'FOUND', value: await ofEveryState(store, tenant, page) }
          : { code: 'FOUND', value: await store.listRuns(tenant, state, page) };
      }),
    events: (read, id, { after, limit }) =>
      guarded('list_run_events', read, refusalForRunTrail(read.principal), async () => {
        const { tenant } = read.principal;
        const found = await find(tenant, id);
        if (found.code !== 'FOUND') return found;
        const run = found.value;
        const events = await store.listEvents(tenant, id, { after, limit });
        // The trail may have grown since the record was read: a page never passes its head.
        const known = events.filter(({ seq }) => seq <= run.head_seq).map(readableEvent);
        return { code: 'FOUND', value: { run, events: known, head: run.head_seq } };
      }),
  };
}

/** State by state; where one ends, the next begins on the same page. */
async function ofEveryState(
  store: Pick<StorageBackend, 'listRuns'>,
  tenant: string,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<Page<Run>> {
  const [from, start] = after === undefined ? [RUN_STATES[0], undefined] : positionIn(after);
  const items: Run[] = [];
  let inner = start;
  for (let at = RUN_STATES.findIndex((state) => state === from); at < RUN_STATES.length; at++) {
    const state = RUN_STATES[at] ?? 'created';
    const left = limit - items.length;
    if (left === 0) return { items, next: JSON.stringify([state]) };
    const page = await store.listRuns(tenant, state, {
      limit: left,
      ...(inner !== undefined && { after: inner }),
    });
    items.push(...page.items);
    if (page.next !== undefined) return { items, next: JSON.stringify([state, page.next]) };
    inner = undefined;
  }
  return { items };
}

function positionIn(after: string): readonly [RunState, string | undefined] {
  const [state, inner] = JSON.parse(after) as [RunState, string | undefined];
  if (RUN_STATES.includes(state)) return [state, inner];
  throw new InputError([{ path: '/cursor', message: 'expected a cursor that this list gave' }]);
}
