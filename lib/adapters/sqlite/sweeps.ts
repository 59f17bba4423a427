// The book of sweeps: one row for each shard, for each tenant with findings, and for each sweep that had
// some, by day. Old days go with the next note.
import { LIMITS } from '../../core/limits.ts';
import { checkLimit, foreignCursor, readCursor, writeCursor } from '../../core/pages.ts';
import type {
  RuleCount,
  ShardSweeps,
  SweepBook,
  SweepFindings,
  SweepNote,
} from '../../core/ports/sweeps.ts';
import { summed, SWEEP_PART } from '../../core/sweep-book.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

const GET = 'SELECT body FROM sweeps WHERE day = ? AND part = ?';
const PUT = `INSERT INTO sweeps (day, part, body) VALUES (?, ?, ?)
  ON CONFLICT (day, part) DO UPDATE SET body = excluded.body`;
const LIST = `SELECT part, body FROM sweeps
  WHERE day = ? AND part > ? AND part < ? ORDER BY part LIMIT ?`;
const FORGET = 'DELETE FROM sweeps WHERE day < ?';
/** Notes wait for other processes, not for a caller. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;
/** Above every text of a part. */
const END = '~';

interface Counts {
  readonly rows: number;
  readonly counts: readonly RuleCount[];
}

/** The book of the port. */
export function createSweepBook(database: Database): SweepBook {
  const list = async <T>(day: string, prefix: string, after: string, limit: number) => {
    const rows = await database.read((open) =>
      open.statement(LIST).all(day, after, `${prefix}${END}`, limit),
    );
    return rows.map(({ part, body }) => ({
      part: String(part),
      body: JSON.parse(String(body)) as T,
    }));
  };

  return {
    noteSweep: (note) =>
      database.write(NO_DEADLINE, (open) => {
        open.statement(FORGET).run(note.keptFrom);
        noteShard(open, note);
        for (const tenant of note.tenants) noteTenant(open, note, tenant);
        return { keep: true, value: undefined };
      }),
    listSweeps: async (day) => {
      const rows = await list<ShardSweeps>(day, SWEEP_PART.shards, SWEEP_PART.shards, 10_000);
      return rows.map(({ body }) => body);
    },
    countFindings: async (tenant, day) => {
      const prefix = SWEEP_PART.counts(tenant);
      const rows = await list<Counts>(day, prefix, prefix, 10_000);
      return summed(rows.flatMap(({ body }) => body.counts));
    },
    listFindings: async (tenant, day, { after, limit }) => {
      checkLimit(limit, LIMITS.pageItems.max);
      const name = ['findings', tenant, day];
      const prefix = SWEEP_PART.findings(tenant);
      const from = after === undefined ? prefix : readCursor(name, after)[0];
      if (!from.startsWith(prefix)) throw foreignCursor();
      const rows = await list<SweepFindings>(day, prefix, from, limit + 1);
      const items = rows.slice(0, limit).map(({ body }) => body);
      const last = rows[limit - 1];
      if (rows.length <= limit || last === undefined) return { items };
      return { items, next: writeCursor(name, [last.part, '']) };
    },
  };
}

function noteShard(open: Connection, { day, at, shard, end }: SweepNote): void {
  const part = SWEEP_PART.shard(shard);
  const before = get<ShardSweeps>(open, day, part);
  const sweeps = (before?.sweeps ?? 0) + 1;
  put(open, day, part, { shard, sweeps, last_at: at, last_end: end });
}

function noteTenant(
  open: Connection,
  { day, at, shard, keptMost }: SweepNote,
  { tenant, counts, findings }: SweepNote['tenants'][number],
): void {
  const part = SWEEP_PART.countsOf(tenant, shard);
  const before = get<Counts>(open, day, part) ?? { rows: 0, counts: [] };
  const rows = before.rows + 1;
  put(open, day, part, { rows, counts: summed([...before.counts, ...counts]) });
  if (rows > keptMost || findings.length === 0) return;
  const kept = SWEEP_PART.findingsAt(tenant, at, shard);
  put(open, day, kept, { at, shard, findings });
}

function get<T>(open: Connection, day: string, part: string): T | undefined {
  const row = open.statement(GET).get(day, part);
  return row === undefined ? undefined : (JSON.parse(String(row['body'])) as T);
}

function put(open: Connection, day: string, part: string, body: object): void {
  open.statement(PUT).run(day, part, JSON.stringify(body));
}
