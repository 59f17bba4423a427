// The list of heads of each day, written in parts to where it cannot be changed. A process that ends in the
// middle leaves whole parts, and the next one goes on behind them.
// Invariant: no table is scanned. Trails are found by tenant and state, through lists that may lag: one
// that moves between two states at that moment can be missing in the list of the day.
import type { Trailed } from '../model/aggregate.ts';
import { RUN_STATES } from '../model/run.ts';
import { WORKFLOW_STATES } from '../model/workflow.ts';
import type { HeadsArchive } from '../ports/heads-archive.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Page, StorageBackend } from '../ports/storage.ts';
import { dayOf } from '../instant.ts';
import { LIMITS } from '../limits.ts';
import { headLines } from './heads.ts';
import type { HeadsSigner } from './heads-key.ts';

/** What signs lists. */
export interface DailyHeadsParts {
  readonly store: Pick<StorageBackend, 'listTenants' | 'listWorkflows' | 'listRuns'>;
  readonly archive: HeadsArchive;
  readonly signer: HeadsSigner;
  readonly clock: Clock;
  /** How many heads a part has, about; 5,000 unless given. */
  readonly partHeads?: number;
}

/** What was signed by one call. */
export interface SignedHeads {
  readonly parts: number;
  readonly heads: number;
  /** Whether the list of the day is not whole yet. */
  readonly more: boolean;
}

/** Signs the list of today. */
export interface DailyHeads {
  /** Whether the list of today is not whole yet. */
  due(): Promise<boolean>;
  /** Writes what is missing of it, one part at least, until `goOn` answers false. */
  sign(goOn: () => boolean): Promise<SignedHeads>;
}

const PART_HEADS = 5_000;

type At = { readonly after?: string; readonly limit: number };
type List = (store: DailyHeadsParts['store'], tenant: string, at: At) => Promise<Page<Trailed>>;

const LISTS: readonly List[] = [
  ...WORKFLOW_STATES.map(
    (state): List =>
      (store, tenant, at) =>
        store.listWorkflows(tenant, state, at),
  ),
  ...RUN_STATES.map(
    (state): List =>
      (store, tenant, at) =>
        store.listRuns(tenant, state, at),
  ),
];

/** Where the walk stands: a page of one tenant, one of its lists, and a place in it. */
interface Place {
  readonly tenants?: string;
  readonly list: number;
  readonly after?: string;
}

interface Progress {
  readonly day: string;
  readonly part: number;
  /** Undefined once the list is whole. */
  readonly place: Place | undefined;
}

/** Builds it. */
export function createDailyHeads(parts: DailyHeadsParts): DailyHeads {
  const { store, archive, signer, clock, partHeads = PART_HEADS } = parts;
  let known: Progress | undefined;

  /** How far the list of a day is; what this process has seen of it is not asked for again. */
  const progressOf = async (day: string): Promise<Progress> => {
    let now = known?.day === day ? known : { day, part: 1, place: { list: 0 } };
    while (now.place !== undefined) {
      const kept = await archive.find(day, now.part);
      if (kept === undefined) break;
      now = { day, part: now.part + 1, place: placeIn(kept.next) };
    }
    known = now;
    return now;
  };

  const collect = async (from: Place, goOn: () => boolean) => {
    const records: Trailed[] = [];
    let place: Place | undefined = from;
    do {
      const page: { readonly items: readonly Trailed[]; readonly next: Place | undefined } =
        await pageAt(store, place);
      records.push(...page.items);
      place = page.next;
    } while (place !== undefined && records.length < partHeads && goOn());
    return { records, next: place };
  };

  return {
    due: async () => (await progressOf(dayOf(clock.now()))).place !== undefined,
    sign: async (goOn) => {
      const now = clock.now();
      const day = dayOf(now);
      let [written, heads] = [0, 0];
      for (let first = true; first || goOn(); first = false) {
        const { part, place } = await progressOf(day);
        if (place === undefined) return { parts: written, heads, more: false };
        const { records, next } = await collect(place, goOn);
        const list = { now, part, more: next !== undefined };
        let text = '';
        for await (const line of headLines(records, signer, list)) text += `${line}\n`;
        const kept = { next: next === undefined ? undefined : textOf(next) };
        // Whoever was first has the name; the next look goes on behind that part.
        if (!(await archive.keep(day, part, text, kept))) continue;
        known = { day, part: part + 1, place: next };
        written += 1;
        heads += records.length;
      }
      return { parts: written, heads, more: known?.place !== undefined };
    },
  };
}

/** One page of the walk, and where it goes on. */
async function pageAt(store: DailyHeadsParts['store'], place: Place) {
  const { tenants, list, after } = place;
  const cursor = tenants === undefined ? {} : { after: tenants };
  const { items, next: nextTenants } = await store.listTenants({ ...cursor, limit: 1 });
  const [tenant] = items;
  const read = LISTS[list];
  const page =
    tenant === undefined || read === undefined
      ? { items: [] }
      : await read(store, tenant, {
          limit: LIMITS.pageItems.max,
          ...(after !== undefined && { after }),
        });
  const here = tenants === undefined ? {} : { tenants };
  let next: Place | undefined;
  if (page.next !== undefined) next = { ...here, list, after: page.next };
  else if (tenant !== undefined && list + 1 < LISTS.length) next = { ...here, list: list + 1 };
  else if (nextTenants !== undefined) next = { tenants: nextTenants, list: 0 };
  return { items: page.items, next };
}

const textOf = (place: Place): string =>
  Buffer.from(JSON.stringify(place), 'utf8').toString('base64url');

function placeIn(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Place;
}
