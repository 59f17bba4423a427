// Single-row bookkeeping: people a tenant has seen, and digests of procedures.
import type { Profile } from '../../core/model/workflow.ts';
import { foldName } from '../../core/names.ts';
import type { StorageBackend } from '../../core/ports/storage.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';

type Bookkeeping = Pick<StorageBackend, 'noteProfile' | 'findProfiles' | 'registerProcedure'>;

/** Bookkeeping waits for other processes, not for a caller. */
const NO_DEADLINE = Number.POSITIVE_INFINITY;

const PROFILE = 'SELECT subject, name FROM profiles WHERE tenant = ? AND subject = ?';
const BY_NAME = `SELECT subject, name FROM profiles
  WHERE tenant = ? AND name_key = ? AND subject <> ? ORDER BY subject LIMIT ?`;
const NOTE = `INSERT INTO profiles (tenant, subject, name, name_key) VALUES (?, ?, ?, ?)
  ON CONFLICT (tenant, subject) DO UPDATE SET name = excluded.name, name_key = excluded.name_key`;
const DIGEST = 'SELECT digest FROM procedures WHERE id = ? AND version = ?';
const REGISTER = 'INSERT INTO procedures (id, version, digest) VALUES (?, ?, ?)';

/** The bookkeeping of the port. */
export function createBookkeeping(database: Database): Bookkeeping {
  const digestOf = (connection: Connection, id: string, version: number): string | undefined => {
    const digest = connection.statement(DIGEST).get(id, version)?.['digest'];
    return digest === undefined ? undefined : String(digest);
  };

  return {
    noteProfile: async ({ tenant, subject, name }) => {
      // Most callers have been seen before, and then nothing needs the write lock.
      const known = await database.read((open) => open.statement(PROFILE).get(tenant, subject));
      if (known?.['name'] === name) return;
      await database.write(NO_DEADLINE, (connection) => {
        connection.statement(NOTE).run(tenant, subject, name, foldName(name));
        return { keep: true, value: undefined };
      });
    },
    findProfiles: (tenant, text, limit) =>
      database.read((connection) => {
        const exact = connection.statement(PROFILE).all(tenant, text);
        const named = connection.statement(BY_NAME).all(tenant, foldName(text), text, limit);
        return [...exact, ...named].slice(0, limit).map((row): Profile => ({
          tenant,
          subject: String(row['subject']),
          name: String(row['name']),
        }));
      }),
    registerProcedure: async (id, version, digest) => {
      const known = await database.read((connection) => digestOf(connection, id, version));
      if (known !== undefined) return known;
      return database.write(NO_DEADLINE, (connection) => {
        const first = digestOf(connection, id, version);
        if (first !== undefined) return { keep: false, value: first };
        connection.statement(REGISTER).run(id, version, digest);
        return { keep: true, value: digest };
      });
    },
  };
}
