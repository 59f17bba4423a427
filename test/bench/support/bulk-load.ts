// Fills a store with finished and active workflows by plain SQL. The rows are copies of real ones, taken
// from a service at work, so that their sizes are right; only their names differ.
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Principal } from '../../../lib/core/model/principal.ts';
import { complete, person, start, threeSteps } from './domain.ts';
import { recording, type RowWrite } from './raw-engine.ts';
import { openStore, serviceOn } from './service-on.ts';

/** How many tenants and assets there are, whatever the number of workflows. */
export const TENANTS = 1_000;
export const ASSETS = 10_000;

/** The workflows that are there at every size: each measured tenant has a person with three active ones. */
export const MEASURED_TENANTS = 20;
const ACTIVE_EACH = 3;
const BLOCKED_EACH = 2;

/** The person of a measured tenant who is asked "which one?". */
export const busyPerson = (tenant: number): Principal => person(`tenant-${tenant}`, 'busy');
/** The supervisor of a measured tenant. */
export const supervisor = (tenant: number): Principal =>
  person(`tenant-${tenant}`, 'boss', ['procedures:supervise', 'procedures:run']);

type Names = { readonly tenant: string; readonly subject: string; readonly asset: string };
type Kind = 'forgotten' | 'finished' | 'running' | 'blocked';
/** Writes one workflow of a kind under the names given. */
export type Copier = (db: DatabaseSync, kind: Kind, names: Names) => void;

const TEMPLATE: Names = { tenant: 'tenant-model', subject: 'bench:model', asset: 'VALVE-999999' };

/** Fills a new store at `path` with `count` workflows; answers how to write one more by plain SQL. */
export async function bulkLoad(folder: string, path: string, count: number): Promise<Copier> {
  const copy = await copier(folder);
  await (await openStore(path)).close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;');
  db.exec('BEGIN');
  let asset = 0;
  for (let tenant = 0; tenant < MEASURED_TENANTS; tenant++) {
    const names = { tenant: `tenant-${tenant}`, subject: 'bench:busy' };
    const place = (kind: Kind, subject: string): void => {
      copy(db, kind, { ...names, subject, asset: `VALVE-${ASSETS + asset++}` });
    };
    for (let i = 0; i < ACTIVE_EACH; i++) place('running', names.subject);
    for (let i = 0; i < BLOCKED_EACH; i++) place('blocked', 'bench:stuck');
  }
  const rest = count - asset;
  for (let i = 0; i < rest; i++) {
    const names = {
      tenant: `tenant-${i % TENANTS}`,
      subject: `bench:worker-${i % 50}`,
      asset: `VALVE-${i % ASSETS}`,
    };
    // The newest workflow of each asset is still active; what keys did is forgotten after a month.
    if (i >= rest - ASSETS) copy(db, 'running', names);
    else copy(db, i < rest * 0.9 ? 'forgotten' : 'finished', names);
  }
  db.exec('COMMIT');
  db.close();
  return copy;
}

/** Records one workflow of each kind and answers how to copy them. */
async function copier(folder: string): Promise<Copier> {
  const rows: (readonly RowWrite[])[] = [];
  const store = await openStore(join(folder, `model-${crypto.randomUUID()}.sqlite`));
  const { ok, execute } = serviceOn(recording(store, rows));
  const who = person(TEMPLATE.tenant, 'model');
  const ids: string[] = [];
  const begin = async (asset: string): Promise<string> => {
    const { receipt } = await ok(who, start(asset));
    ids.push(receipt.workflow);
    return receipt.workflow;
  };
  const models = {} as Record<Kind, readonly RowWrite[]>;
  const take = (kind: Kind): void => {
    models[kind] = lastOfEach(rows.splice(0).flat());
  };
  const finished = await begin(TEMPLATE.asset);
  for (const step of threeSteps(finished)) await ok(who, step);
  await ok(who, complete(finished));
  // A finished workflow has let go of its asset, which somebody else holds by now.
  take('finished');
  models.finished = models.finished.filter(
    ({ sql }) => !sql.includes(' locks ') && !sql.includes(' pointers '),
  );
  models.forgotten = models.finished.filter(({ sql }) => !sql.includes(' ledger '));

  const running = await begin(TEMPLATE.asset);
  await ok(who, threeSteps(running)[0] as Parameters<typeof ok>[1]);
  take('running');
  const blocked = await begin('VALVE-999998');
  const broken = { type: 'record_step', workflow: blocked, step: 'isolated' } as const;
  const no = { ...broken, input: { kind: 'confirm', confirmed: false } } as const;
  const asked = await execute(who, no);
  if (asked.code !== 'NEEDS_CONFIRMATION' || asked.confirmation === undefined) {
    throw new Error('a deviation is confirmed');
  }
  await ok(who, { ...no, confirmation: asked.confirmation });
  take('blocked');
  await store.close();

  const modelNames = [...ids, TEMPLATE.asset, 'VALVE-999998', TEMPLATE.tenant, TEMPLATE.subject];
  const pattern = new RegExp(modelNames.join('|'), 'g');
  let number = 0;
  return (db, kind, { tenant, subject, asset }) => {
    const id = scattered(number++);
    const named = (text: string): string =>
      text.replaceAll(pattern, (name) => {
        if (ids.includes(name)) return id;
        if (name === TEMPLATE.tenant) return tenant;
        return name === TEMPLATE.subject ? subject : asset;
      });
    for (const { sql, values } of models[kind]) {
      const copied = values.map((value) => (typeof value === 'string' ? named(value) : value));
      // A ledger row's key is a hash, so it is made unlike the others by the workflow's id.
      if (sql.includes(' ledger ')) copied[1] = `${id}${String(copied[1]).slice(id.length)}`;
      statementOf(db, sql).run(...copied);
    }
  };
}

const statements = new WeakMap<DatabaseSync, Map<string, ReturnType<DatabaseSync['prepare']>>>();

function statementOf(db: DatabaseSync, sql: string): ReturnType<DatabaseSync['prepare']> {
  const known = statements.get(db) ?? new Map<string, ReturnType<DatabaseSync['prepare']>>();
  statements.set(db, known);
  const statement = known.get(sql) ?? db.prepare(sql);
  known.set(sql, statement);
  return statement;
}

/** The rows as they are in the end: of several writes of one row, inserted once with the last content. */
function lastOfEach(writes: readonly RowWrite[]): readonly RowWrite[] {
  const rows = new Map<string, RowWrite>();
  for (const write of writes) {
    const [verb, table = ''] = /^(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/.exec(write.sql) ?? [];
    const once = ['workflows', 'locks', 'pointers'].includes(table);
    const name = once ? table : `${table} ${rows.size}`;
    if (verb?.startsWith('INSERT') === true) rows.set(name, write);
    else if (verb?.startsWith('UPDATE') === true) rows.set(name, inserted(write));
    else rows.delete(name);
  }
  return [...rows.values()];
}

/** An `UPDATE` as the `INSERT` of the same row. */
function inserted({ sql, values }: RowWrite): RowWrite {
  const [, table = '', set = '', where = ''] = /^UPDATE (\w+) SET (.*) WHERE (.*)$/.exec(sql) ?? [];
  const names = (text: string): readonly string[] =>
    [...text.matchAll(/"?(\w+)"? = \?/g)].map(([, name = '']) => name);
  const columns = [...names(set), ...names(where)].map((name) => `"${name}"`);
  const marks = columns.map(() => '?').join(', ');
  const text = `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${marks})`;
  return { sql: text, values };
}

/** An id of 26 characters that is unlike its neighbours, as real ones are. */
function scattered(number: number): string {
  const mixed = (BigInt(number + 1) * 0x9e37_79b9_7f4a_7c15n) % (1n << 64n);
  return mixed.toString(36).padStart(26, '0');
}
