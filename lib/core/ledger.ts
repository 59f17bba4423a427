// The ledger: what an idempotency key did. Digests are HMACs, so that a row never gives a value away.
import { canonicalMac, sameDigest, sha256Hex } from './canonical.ts';
import { LIMITS } from './limits.ts';
import type { Command } from './model/commands.ts';
import type { Principal } from './model/principal.ts';
import { FORMAT, type LedgerRow, type Receipt } from './model/workflow.ts';

/** The identity of a command under its key. */
export interface KeyedCommand {
  readonly tenant: string;
  /** Hash of subject and key: the row's key in the table. */
  readonly key: string;
  readonly operation: string;
  readonly digest: string;
  /** One HMAC per argument, to name the ones that differ. */
  readonly fields: { readonly [field: string]: string };
}

/**
 * Digests a command's operation and its arguments as they were sent, without the key and the
 * confirmation. Answers undefined where the command has no key.
 */
export function keyedCommand(
  secret: string,
  principal: Principal,
  command: Command,
): KeyedCommand | undefined {
  const { type, key, ...rest } = command;
  if (key === undefined) return undefined;
  const args: Record<string, unknown> = { ...rest };
  delete args['confirmation'];
  const operation = type === 'correct_step' ? 'record_step' : type;
  const fields = Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, canonicalMac(secret, [operation, name, value])]),
  );
  return {
    tenant: principal.tenant,
    key: sha256Hex(`${principal.subject}\n${key}`),
    operation,
    digest: canonicalMac(secret, { operation, arguments: args }),
    fields,
  };
}

/** The row to write with a command that takes effect at `now` (epoch milliseconds). */
export function ledgerRow(keyed: KeyedCommand, receipt: Receipt, now: number): LedgerRow {
  const expires_at = Math.floor(now / 1000) + LIMITS.ledgerDays.max * 86_400;
  return { format: FORMAT, ...keyed, receipt, expires_at };
}

/** Whether a row still counts at `now`: presence is never validity. */
export function ledgerRowIsValid(row: LedgerRow, now: number): boolean {
  return row.expires_at > Math.floor(now / 1000);
}

/** What a row under the same key means for a command: a replay, or the names that differ. */
export function compareWithLedger(
  row: LedgerRow,
  keyed: KeyedCommand,
): { readonly same: true } | { readonly same: false; readonly fields: readonly string[] } {
  if (row.operation !== keyed.operation) return { same: false, fields: ['operation'] };
  if (sameDigest(row.digest, keyed.digest)) return { same: true };
  const names = new Set([...Object.keys(row.fields), ...Object.keys(keyed.fields)]);
  const fields = [...names].filter((name) => row.fields[name] !== keyed.fields[name]).sort();
  return { same: false, fields };
}
