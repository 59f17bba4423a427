// The ledger: what an idempotency key did. Digests are HMACs, so that a row never gives a value away.
import { canonicalMac, sameDigest, sha256Hex } from './canonical.ts';
import { LIMITS } from './limits.ts';
import type { Command, StepInput } from './model/commands.ts';
import type { Principal } from './model/principal.ts';
import { FORMAT, type LedgerRow } from './model/workflow.ts';

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
  const { key } = command;
  return key === undefined ? undefined : identityOf(secret, principal, command, key);
}

/**
 * A command without a key that answers which workflow or which person is meant: the signed question
 * is its key, and what the answer settled is part of what it says, so that one question has one effect.
 */
export function keyedByQuestion(
  secret: string,
  principal: Principal,
  settled: Command,
  state: string,
): KeyedCommand {
  return identityOf(secret, principal, settled, { question: state });
}

function identityOf(
  secret: string,
  principal: Principal,
  command: Command,
  key: string | { readonly question: string },
): KeyedCommand {
  const { type } = command;
  const args = argumentsOf(command);
  const operation = type === 'correct_step' ? 'record_step' : type;
  return keyedOperation(secret, principal.tenant, hashedKey(principal, key), operation, args);
}

/** Hash of subject and key: where the row of a key is. */
export function hashedKey(
  { subject }: Principal,
  key: string | { readonly question: string },
): string {
  // As JSON, because a separator could be part of either, and no caller's key is a question.
  return sha256Hex(JSON.stringify([subject, key]));
}

/** The identity of an operation with these arguments under a hashed key. */
export function keyedOperation(
  secret: string,
  tenant: string,
  key: string,
  operation: string,
  args: Readonly<Record<string, unknown>>,
): KeyedCommand {
  const fields = Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, canonicalMac(secret, [operation, name, value])]),
  );
  return {
    tenant,
    key,
    operation,
    digest: canonicalMac(secret, { operation, arguments: args }),
    fields,
  };
}

/** Not arguments, or known to callers under another name. */
const NOT_ARGUMENTS = new Set(['type', 'key', 'confirmation', 'answer', 'workflow', 'input']);

/** The arguments of a command under the names that callers know them by. */
export function argumentsOf(command: Command): Readonly<Record<string, unknown>> {
  const own = Object.entries(command).filter(([name]) => !NOT_ARGUMENTS.has(name));
  return {
    ...Object.fromEntries(own),
    ...('workflow' in command && { workflow_id: command.workflow }),
    ...('input' in command && inputArguments(command.input)),
  };
}

function inputArguments(input: StepInput): Readonly<Record<string, unknown>> {
  switch (input.kind) {
    case 'reading':
      return { reading: input.value, unit: input.unit };
    case 'spoken_reading':
      return { spoken_reading: input.text, unit: input.unit };
    case 'choice':
      return { choice: input.option };
    case 'text':
      return { text: input.text };
    case 'skip':
      return { skip_reason: input.reason };
    case 'confirm':
      return { confirmed: input.confirmed };
  }
}

/** How long a row counts, in milliseconds, unless something else is said. */
const LIFE_MS = LIMITS.ledgerDays.max * 86_400_000;

/** The row to write with a command that takes effect at `now` (epoch milliseconds). */
export function ledgerRow(
  keyed: KeyedCommand,
  receipt: LedgerRow['receipt'],
  now: number,
  lifeMs = LIFE_MS,
): LedgerRow {
  const expires_at = Math.floor((now + lifeMs) / 1000);
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
