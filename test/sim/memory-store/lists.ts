// Lists of the store in memory: queries of the table see plain rows, the others what the indexes show.
import { keyFault } from '../../../lib/core/keys.ts';
import { LIMITS } from '../../../lib/core/limits.ts';
import { checkLimit, readCursor, writeCursor } from '../../../lib/core/pages.ts';
import type {
  DueItem,
  ItemKey,
  ItemKind,
  Items,
  Page,
  StorageBackend,
} from '../../../lib/core/ports/storage.ts';
import type { Row, Rows } from './rows.ts';

type Lists = Pick<
  StorageBackend,
  | 'listEvents'
  | 'listVault'
  | 'listOutbox'
  | 'laneHead'
  | 'listDue'
  | 'listParked'
  | 'listPointers'
  | 'listWorkflows'
  | 'listRuns'
  | 'listEvidence'
  | 'listAssets'
  | 'scanWorkflows'
  | 'scanTrails'
  | 'listTenants'
  | 'listLocks'
  | 'countWorkflows'
  | 'countRuns'
  | 'listTenantOutbox'
>;
type At = { readonly after?: string; readonly limit: number };
type Part = string | number;
interface Entry<T> {
  readonly at: readonly [Part, Part];
  readonly item: () => T | undefined;
}

/** The lists of the port on rows. */
export function createLists(rows: Rows): Lists {
  const query = <K extends ItemKind>(
    under: ItemKey & { readonly kind: K },
    where: (item: Items[K]) => boolean,
    order: (item: Items[K]) => readonly Part[],
    limit: number,
  ): Items[K][] => {
    checkLimit(limit, LIMITS.pageItems.max);
    if (keyFault(under) !== undefined) return [];
    return [...rows.shown(under.kind, 'plain')]
      .map(([, item]) => item)
      .filter(where)
      .toSorted((a, b) => compare(order(a), order(b)))
      .slice(0, limit)
      .map((item) => rows.readable<K>(under.kind, item));
  };

  const index = <K extends ItemKind>(
    kind: K,
    where: (item: Items[K]) => boolean,
    at: (item: Items[K], row: Row) => readonly [Part, Part],
  ): readonly Entry<Items[K]>[] =>
    [...rows.shown(kind, 'index')]
      .filter(([, item]) => where(item))
      .map(([row, item]) => ({
        at: at(item, row),
        item: () => {
          const now = row.views.plain as Items[K] | undefined;
          return now !== undefined && where(now) ? rows.readable(kind, now) : undefined;
        },
      }));

  const counted = (
    kind: 'workflow' | 'run',
    tenant: string,
    state: string,
    most: number,
  ): number => {
    checkLimit(most, LIMITS.countedWorkflows.max);
    const found = [...rows.shown(kind, 'index')].filter(
      ([, one]) => one.tenant === tenant && one.state === state,
    );
    return Math.min(found.length, most);
  };

  return {
    listEvents: async (tenant, workflow, { after, limit }) =>
      query(
        { kind: 'event', tenant, workflow, seq: 1 },
        (e) => e.tenant === tenant && e.workflow === workflow && e.seq > after,
        ({ seq }) => [seq],
        limit,
      ),
    listEvidence: async (tenant, run, { after, limit }) =>
      query(
        { kind: 'evidence', tenant, run, seq: 1 },
        (e) => e.tenant === tenant && e.run === run && e.seq > after,
        ({ seq }) => [seq],
        limit,
      ),
    listVault: async (tenant, workflow, { after, limit }) =>
      query(
        { kind: 'vault', tenant, workflow, seq: 1 },
        (e) => e.tenant === tenant && e.workflow === workflow && e.seq > after,
        ({ seq }) => [seq],
        limit,
      ).map(({ seq }) => seq),
    listOutbox: async (tenant, workflow, limit) =>
      query(
        { kind: 'outbox', tenant, workflow, lane: '', seq: 1 },
        (row) => row.tenant === tenant && row.workflow === workflow,
        ({ lane, seq }) => [lane, seq],
        limit,
      ),
    laneHead: async (tenant, workflow, lane) =>
      query(
        { kind: 'outbox', tenant, workflow, lane, seq: 1 },
        (row) =>
          row.tenant === tenant &&
          row.workflow === workflow &&
          row.lane === lane &&
          row.parked_at === undefined,
        ({ seq }) => [seq],
        1,
      )[0],
    listPointers: async (tenant, subject, limit) =>
      query(
        { kind: 'pointer', tenant, subject, workflow: '' },
        (row) => row.tenant === tenant && row.subject === subject,
        ({ since, workflow }) => [since, workflow],
        limit,
      ),
    listTenantOutbox: async (tenant, limit) =>
      query(
        { kind: 'outbox', tenant, workflow: '', lane: '', seq: 1 },
        (row) => row.tenant === tenant && row.parked_at === undefined,
        ({ due_at, workflow, lane, seq }) => [due_at, workflow, lane, seq],
        limit,
      ),
    listDue: async (shard, { from = -1, until, ...at }) => {
      if (shard !== 0) throw new RangeError(`there is no shard ${shard}`);
      return page(['due', String(until)], due(rows, from, until), at);
    },
    listParked: async (tenant, at) =>
      page(
        ['parked', tenant],
        index(
          'outbox',
          (row) => row.tenant === tenant && row.parked_at !== undefined,
          ({ parked_at = '' }, { n }) => [parked_at, padded(n)],
        ),
        at,
      ),
    listWorkflows: async (tenant, state, at) =>
      page(
        ['state', tenant, state],
        index(
          'workflow',
          (one) => one.tenant === tenant && one.state === state,
          ({ created_at, id }) => [created_at, id],
        ),
        at,
      ),
    listRuns: async (tenant, state, at) =>
      page(
        ['runs', tenant, state],
        index(
          'run',
          (one) => one.tenant === tenant && one.state === state,
          ({ created_at, id }) => [created_at, id],
        ),
        at,
      ),
    listLocks: async (tenant, at) =>
      page(
        ['locks', tenant],
        index(
          'lock',
          (lock) => lock.tenant === tenant && lock.held,
          ({ since = '', asset }) => [since, asset],
        ),
        at,
      ),
    listAssets: async (tenant, limit) => {
      checkLimit(limit, LIMITS.listedAssets.max);
      if (keyFault({ kind: 'lock', tenant, asset: '' }) !== undefined) return [];
      return [...rows.shown('lock', 'index')]
        .filter(([, lock]) => lock.tenant === tenant)
        .map(([, { asset }]) => asset)
        .toSorted(comparePart)
        .slice(0, limit);
    },
    countWorkflows: async (tenant, state, most) => counted('workflow', tenant, state, most),
    countRuns: async (tenant, state, most) => counted('run', tenant, state, most),
    scanWorkflows: async (at) =>
      page(
        ['all'],
        [...rows.shown('workflow', 'plain')].map(([, one]) => ({
          at: [one.tenant, one.id] as const,
          item: () => rows.readable<'workflow'>('workflow', one),
        })),
        at,
      ),
    scanTrails: async (at) => page(['trails'], distinct(trails(rows)), at),
    listTenants: async (at) =>
      page(['tenants'], distinct(records(rows).map(({ tenant }) => [tenant, ''] as const)), at, 1),
  } satisfies Lists;
}

function page<T>(
  name: readonly string[],
  entries: readonly Entry<T>[],
  { after, limit }: At,
): Page<T>;
function page(
  name: readonly string[],
  entries: readonly Entry<{ tenant: string; workflow: string }>[],
  at: At,
  parts: 1,
): Page<string>;
function page<T>(
  name: readonly string[],
  entries: readonly Entry<T>[],
  { after, limit }: At,
  parts?: 1,
): Page<unknown> {
  checkLimit(limit, LIMITS.pageItems.max);
  const from = after === undefined ? undefined : readCursor(name, after);
  const found = entries
    .filter(({ at }) => from === undefined || compare(at, typed(at, from)) > 0)
    .toSorted((a, b) => compare(a.at, b.at));
  const shown = found.slice(0, limit);
  const items = shown.flatMap(({ item }) => {
    const one = item();
    if (one === undefined) return [];
    return [parts === 1 ? (one as { tenant: string }).tenant : one];
  });
  const last = shown.at(-1);
  if (found.length <= limit || last === undefined) return { items };
  return { items, next: writeCursor(name, [String(last.at[0]), String(last.at[1])]) };
}

/** A position of a cursor, with numbers where the list has them. */
function typed(like: readonly Part[], from: readonly string[]): readonly Part[] {
  return from.map((part, i) => (typeof like[i] === 'number' ? Number(part) : part));
}

function due(rows: Rows, from: number, until: number): readonly Entry<DueItem>[] {
  const entry = (key: DueItem['key'], due_at: number | undefined, n: number): Entry<DueItem>[] =>
    due_at === undefined || due_at < from || due_at > until
      ? []
      : [{ at: [due_at, `${key.kind} ${padded(n)}`], item: () => ({ key, due_at }) }];
  return [
    ...[...rows.shown('outbox', 'index')].flatMap(
      ([{ n }, { tenant, workflow, lane, seq, due_at, parked_at }]) =>
        parked_at === undefined
          ? entry({ kind: 'outbox', tenant, workflow, lane, seq }, due_at, n)
          : [],
    ),
    ...[...rows.shown('workflow', 'index')].flatMap(([{ n }, { tenant, id, due_at }]) =>
      entry({ kind: 'workflow', tenant, id }, due_at, n),
    ),
    ...[...rows.shown('run', 'index')].flatMap(([{ n }, { tenant, id, due_at }]) =>
      entry({ kind: 'run', tenant, id }, due_at, n),
    ),
  ];
}

function records(rows: Rows): readonly { readonly tenant: string; readonly id: string }[] {
  return [...rows.shown('workflow', 'plain'), ...rows.shown('run', 'plain')].map(([, one]) => one);
}

function trails(rows: Rows): readonly (readonly [string, string])[] {
  const events = [...rows.shown('event', 'plain')].map(([, { tenant, workflow }]) => ({
    tenant,
    id: workflow,
  }));
  return [...records(rows), ...events].map(({ tenant, id }) => [tenant, id] as const);
}

function distinct(
  pairs: readonly (readonly [string, string])[],
): readonly Entry<{ tenant: string; workflow: string }>[] {
  const byText = new Map(pairs.map((pair) => [JSON.stringify(pair), pair]));
  return [...byText.values()].map(([tenant, workflow]) => ({
    at: [tenant, workflow],
    item: () => ({ tenant, workflow }),
  }));
}

const padded = (n: number): string => String(n).padStart(15, '0');

function compare(a: readonly Part[], b: readonly Part[]): number {
  for (const [i, part] of a.entries()) {
    const order = comparePart(part, b[i] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: Part, b: Part): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
