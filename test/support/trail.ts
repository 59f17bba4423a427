/** Trails as they lie in the data file, read and changed behind the back of the product. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** One event of a trail. */
export interface TrailEvent {
  readonly workflow: string;
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly data: { readonly [name: string]: unknown };
}

/** The data file of a data folder. */
export function dataFileOf(folder: string): string {
  return join(folder, 'checkpoint.sqlite');
}

/** Works on the data file with a connection of one's own. */
export function onDataFile<T>(folder: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(dataFileOf(folder), { timeout: 5_000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Every event of the data file, or those of one workflow, in the order of their trails. */
export function eventsIn(folder: string, workflow?: string): readonly TrailEvent[] {
  const rows = onDataFile(folder, (db) =>
    db.prepare('SELECT workflow, body FROM events ORDER BY workflow, seq').all(),
  );
  return rows
    .filter((row) => workflow === undefined || row['workflow'] === workflow)
    .map(({ body }) => {
      const { text } = JSON.parse(String(body)) as { text: string };
      return JSON.parse(text) as TrailEvent;
    });
}

/** Holds the write lock of the data file until released, as another program would. */
export function lockDataFile(folder: string): { readonly release: () => void } {
  const db = new DatabaseSync(dataFileOf(folder), { timeout: 5_000 });
  db.exec('BEGIN IMMEDIATE');
  return {
    release: () => {
      db.exec('ROLLBACK');
      db.close();
    },
  };
}

/** Changes what is stored of one event. */
export function changeEvent(
  db: DatabaseSync,
  workflow: string,
  seq: number,
  change: (stored: { readonly text: string; readonly hash: string }) => object,
): void {
  const where = 'WHERE workflow = ? AND seq = ?';
  const found = db.prepare(`SELECT body FROM events ${where}`).get(workflow, seq);
  const stored = JSON.parse(String(found?.['body'])) as { text: string; hash: string };
  const changed = JSON.stringify({ ...stored, ...change(stored) });
  db.prepare(`UPDATE events SET body = ? ${where}`).run(changed, workflow, seq);
}

/** Removes events of a workflow. */
export function deleteEvents(db: DatabaseSync, workflow: string, seqs: readonly number[]): void {
  for (const seq of seqs) {
    db.prepare('DELETE FROM events WHERE workflow = ? AND seq = ?').run(workflow, seq);
  }
}
