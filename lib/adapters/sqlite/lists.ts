// Lists: always whole pages, so that no cursor of the database is ever open across an await.
import { keyFault } from '../../core/keys.ts';
import { LIMITS } from '../../core/limits.ts';
import type { EvidenceRow } from '../../core/model/run.ts';
import type {
  Lock,
  OutboxRow,
  Pointer,
  StoredEvent,
  Workflow,
  WorkflowState,
} from '../../core/model/workflow.ts';
import { checkLimit, readCursor, writeCursor } from '../../core/pages.ts';
import type { DueItem, ItemKey, Page, StorageBackend } from '../../core/ports/storage.ts';
import type { Database } from './database.ts';
import { damaged, parseItem } from './items.ts';

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

const EVENTS = `SELECT body, seq FROM events
  WHERE tenant = ? AND workflow = ? AND seq > ? ORDER BY seq LIMIT ?`;
const VAULT = `SELECT seq FROM vault
  WHERE tenant = ? AND workflow = ? AND seq > ? ORDER BY seq LIMIT ?`;
const EVIDENCE = `SELECT body, seq FROM evidence
  WHERE tenant = ? AND run = ? AND seq > ? ORDER BY seq LIMIT ?`;
const OUTBOX = `SELECT body FROM outbox
  WHERE tenant = ? AND workflow = ? ORDER BY lane, seq LIMIT ?`;
const POINTERS = `SELECT body FROM pointers
  WHERE tenant = ? AND subject = ? ORDER BY since, workflow LIMIT ?`;
const ASSETS = 'SELECT asset FROM locks WHERE tenant = ? ORDER BY asset LIMIT ?';
const byState = (table: 'workflows' | 'runs'): string =>
  `SELECT body, created_at AS a, id AS b FROM ${table}
  WHERE tenant = ? AND state = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`;
const BY_STATE = byState('workflows');
const RUNS_BY_STATE = byState('runs');
const ALL = `SELECT body, tenant AS a, id AS b FROM workflows
  WHERE (tenant, id) > (?, ?) ORDER BY tenant, id LIMIT ?`;
/** A record that was removed does not hide its trail. */
const TRAILS = `SELECT a, b FROM (SELECT tenant AS a, id AS b FROM workflows
    WHERE (tenant, id) > (?1, ?2) ORDER BY tenant, id LIMIT ?3)
  UNION SELECT a, b FROM (SELECT tenant AS a, id AS b FROM runs
    WHERE (tenant, id) > (?1, ?2) ORDER BY tenant, id LIMIT ?3)
  UNION SELECT a, b FROM (SELECT DISTINCT tenant AS a, workflow AS b FROM events
    WHERE (tenant, workflow) > (?1, ?2) ORDER BY tenant, workflow LIMIT ?3)
  ORDER BY a, b LIMIT ?3`;
const TENANT_OUTBOX = `SELECT body FROM outbox
  WHERE tenant = ? AND parked_at IS NULL
  ORDER BY due_at, workflow, lane, seq LIMIT ?`;
const HEAD = `SELECT body FROM outbox WHERE tenant = ? AND workflow = ? AND lane = ?
  AND parked_at IS NULL ORDER BY seq LIMIT ?`;
const DUE = `SELECT kind, tenant, name, lane, seq, a, b FROM (
    SELECT 'outbox' AS kind, tenant, workflow AS name, lane, seq, due_at AS a,
        'o' || printf('%015d', rowid) AS b FROM outbox
      WHERE parked_at IS NULL AND due_at BETWEEN ?2 + 0 AND ?1 + 0
    UNION ALL
    SELECT 'workflow', tenant, id, '', 0, due_at, 'w' || printf('%015d', rowid)
      FROM workflows WHERE due_at BETWEEN ?2 + 0 AND ?1 + 0
    UNION ALL
    SELECT 'run', tenant, id, '', 0, due_at, 'r' || printf('%015d', rowid)
      FROM runs WHERE due_at BETWEEN ?2 + 0 AND ?1 + 0)
  WHERE (a, b) > (?2 + 0, ?3) ORDER BY a, b LIMIT ?4`;
const PARKED = `SELECT body, parked_at AS a, printf('%015d', rowid) AS b FROM outbox
  WHERE tenant = ?1 AND parked_at >= ?2 AND (parked_at, printf('%015d', rowid)) > (?2, ?3)
  ORDER BY parked_at, rowid LIMIT ?4`;
const HELD = `SELECT body, body ->> 'since' AS a, asset AS b FROM locks
  WHERE tenant = ?1 AND body ->> 'held'
    AND body ->> 'since' >= ?2 AND (body ->> 'since', asset) > (?2, ?3)
  ORDER BY body ->> 'since', asset LIMIT ?4`;
const count = (table: 'workflows' | 'runs'): string =>
  `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE tenant = ? AND state = ? LIMIT ?)`;
const COUNT = count('workflows');
const COUNT_RUNS = count('runs');
/** The first tenant above a name; two steps of an index. */
function nextTenant(above: string): string {
  const least = (table: string) => `(SELECT min(tenant) FROM ${table} WHERE tenant > ${above})`;
  const [one, two] = [least('workflows'), least('runs')];
  return `min(coalesce(${one}, ${two}), coalesce(${two}, ${one}))`;
}

/** A few steps of an index per tenant, however many aggregates each has. */
const TENANTS = `WITH RECURSIVE each_one (tenant) AS (
    SELECT ${nextTenant('?1 || ?2')}
    UNION ALL
    SELECT ${nextTenant('each_one.tenant')} FROM each_one WHERE tenant IS NOT NULL
  )
  SELECT tenant AS a, '' AS b FROM each_one WHERE tenant IS NOT NULL LIMIT ?3`;

type Row = { readonly [column: string]: unknown };

const workflowOf = ({ body }: Row): Workflow => parseItem('workflow', body);

/** The lists of the port. */
export function createLists(database: Database): Lists {
  const rows = (sql: string, values: readonly (string | number)[]) =>
    database.read((connection) => connection.statement(sql).all(...values));

  const list = async <K extends 'event' | 'outbox' | 'pointer' | 'evidence'>(
    under: ItemKey & { readonly kind: K },
    sql: string,
    values: readonly (string | number)[],
    limit: number,
  ) => {
    checkLimit(limit, LIMITS.pageItems.max);
    if (keyFault(under) !== undefined) return [];
    const found = await rows(sql, [...values, limit]);
    return found.map(({ body, seq }) => {
      const item = parseItem(under.kind, body);
      // A row under another number than its own would be listed for ever.
      if (seq !== undefined && 'seq' in item && item.seq !== seq) throw damaged(under.kind);
      return item;
    });
  };

  const page = async <T>(
    name: readonly string[],
    sql: string,
    { after, limit }: { readonly after?: string; readonly limit: number },
    itemOf: (row: Row) => T,
    first: readonly [string, string] = ['', ''],
  ): Promise<Page<T>> => {
    checkLimit(limit, LIMITS.pageItems.max);
    const from = after === undefined ? first : readCursor(name, after);
    // One row more tells whether there is a next page.
    const found = await rows(sql, [...name.slice(1), ...from, limit + 1]);
    const shown = found.slice(0, limit);
    const items = shown.map(itemOf);
    const last = shown.at(-1);
    if (found.length <= limit || last === undefined) return { items };
    return { items, next: writeCursor(name, [String(last['a']), String(last['b'])]) };
  };

  const counted = async (sql: string, tenant: string, state: string, most: number) => {
    checkLimit(most, LIMITS.countedWorkflows.max);
    const [row] = await rows(sql, [tenant, state, most]);
    return Number(row?.['n']);
  };

  return {
    listEvents: (tenant, workflow, { after, limit }): Promise<readonly StoredEvent[]> => {
      const under = { kind: 'event', tenant, workflow, seq: 1 } as const;
      return list(under, EVENTS, [tenant, workflow, after], limit);
    },
    listEvidence: (tenant, run, { after, limit }): Promise<readonly EvidenceRow[]> => {
      const under = { kind: 'evidence', tenant, run, seq: 1 } as const;
      return list(under, EVIDENCE, [tenant, run, after], limit);
    },
    listVault: async (tenant, workflow, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      if (keyFault({ kind: 'vault', tenant, workflow, seq: 1 }) !== undefined) return [];
      const found = await rows(VAULT, [tenant, workflow, after, limit]);
      return found.map(({ seq }) => Number(seq));
    },
    listOutbox: (tenant, workflow, limit): Promise<readonly OutboxRow[]> => {
      const under = { kind: 'outbox', tenant, workflow, lane: '', seq: 1 } as const;
      return list(under, OUTBOX, [tenant, workflow], limit);
    },
    laneHead: async (tenant, workflow, lane) => {
      const under = { kind: 'outbox', tenant, workflow, lane, seq: 1 } as const;
      return (await list(under, HEAD, [tenant, workflow, lane], 1))[0];
    },
    listDue: (shard, { from = -1, until, ...at }) => {
      if (shard !== 0) throw new RangeError(`there is no shard ${shard}`);
      return page(['due', String(until)], DUE, at, dueItem, [String(from), '']);
    },
    listParked: (tenant, at) =>
      page(['parked', tenant], PARKED, at, ({ body }): OutboxRow => parseItem('outbox', body)),
    listPointers: (tenant, subject, limit): Promise<readonly Pointer[]> => {
      const under = { kind: 'pointer', tenant, subject, workflow: '' } as const;
      return list(under, POINTERS, [tenant, subject], limit);
    },
    listWorkflows: (tenant, state: WorkflowState, at) =>
      page(['state', tenant, state], BY_STATE, at, workflowOf),
    listRuns: (tenant, state, at) =>
      page(['runs', tenant, state], RUNS_BY_STATE, at, ({ body }) => parseItem('run', body)),
    listAssets: async (tenant, limit) => {
      checkLimit(limit, LIMITS.listedAssets.max);
      if (keyFault({ kind: 'lock', tenant, asset: '' }) !== undefined) return [];
      return (await rows(ASSETS, [tenant, limit])).map(({ asset }) => String(asset));
    },
    scanTrails: (at) =>
      page(['trails'], TRAILS, at, ({ a, b }) => ({ tenant: String(a), workflow: String(b) })),
    scanWorkflows: (at) => page(['all'], ALL, at, workflowOf),
    listTenants: (at) => page(['tenants'], TENANTS, at, ({ a }) => String(a)),
    listLocks: (tenant, at) =>
      page(['locks', tenant], HELD, at, ({ body }): Lock => parseItem('lock', body)),
    countWorkflows: (tenant, state, most) => counted(COUNT, tenant, state, most),
    countRuns: (tenant, state, most) => counted(COUNT_RUNS, tenant, state, most),
    listTenantOutbox: (tenant, limit): Promise<readonly OutboxRow[]> => {
      const under = { kind: 'outbox', tenant, workflow: '', lane: '', seq: 1 } as const;
      return list(under, TENANT_OUTBOX, [tenant], limit);
    },
  };
}

function dueItem({ kind, tenant: of, name, lane, seq, a }: Row): DueItem {
  const tenant = String(of);
  const due_at = Number(a);
  if (kind === 'workflow' || kind === 'run') {
    return { key: { kind, tenant, id: String(name) }, due_at };
  }
  const row = { workflow: String(name), lane: String(lane), seq: Number(seq) };
  return { key: { kind: 'outbox', tenant, ...row }, due_at };
}
