// Carries out what a person does to keep the system going: once for each key, in one transaction with
// its event. Knows nothing of what the operations mean.
import { Fault } from '../fault.ts';
import {
  hashedKey,
  compareWithLedger,
  keyedOperation,
  ledgerRow,
  ledgerRowIsValid,
} from '../ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Principal } from '../model/principal.ts';
import type { LedgerRow, OperationReceipt, OperationType } from '../model/workflow.ts';
import { ledgerWrite } from '../plan.ts';
import type { Clock } from '../ports/runtime.ts';
import type { StorageBackend, Write } from '../ports/storage.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import type { TenantSecrets } from '../secrets.ts';

/** What operations work with. */
export interface OperationParts {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly clock: Clock;
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
}

/** How an operation was asked for. */
export interface Asked {
  readonly principal: Principal;
  /** Epoch milliseconds; nothing is sent after it. */
  readonly deadlineMs: number;
  readonly requestId?: string;
  /** The key of the caller, with the secret that its digests are made under. */
  readonly key?: { readonly text: string; readonly secrets: Pick<TenantSecrets, 'ledger'> };
}

/** What took effect before under the same key, or what else its key did. */
export type Repeated =
  | { readonly code: 'REPEATED'; readonly receipt: OperationReceipt }
  | {
      readonly code: 'IDEMPOTENCY_CONFLICT';
      readonly operation: string;
      readonly fields: readonly string[];
    };

/** One round of an operation: writes that are to be made, or the end of it without any. */
export type Round<T> =
  | {
      readonly do: 'commit';
      readonly writes: readonly Write[];
      readonly receipt: Omit<OperationReceipt, 'operation'>;
      /**
       * Answered once the writes took effect, and remembered under the key. The next round follows where
       * it is undefined: a key that was cut off between two rounds goes on when it is said again.
       */
      readonly answer: T | undefined;
      /** Called once the writes took effect. */
      readonly took?: () => void;
    }
  | { readonly do: 'end'; readonly answer: T }
  /** What was read moved meanwhile. */
  | { readonly do: 'again' };

/**
 * Runs rounds until one ends. The row of the key is written with the round that answers. Throws
 * faults of the store, and `CHAIN_TORN` where an event lies beyond the head of the trail.
 */
export async function operate<T>(
  { store, clock }: Pick<OperationParts, 'store' | 'clock'>,
  { principal, deadlineMs, key }: Asked,
  about: {
    readonly operation: OperationType;
    readonly args: Readonly<Record<string, unknown>>;
  },
  round: () => Promise<Round<T>>,
): Promise<T | Repeated> {
  const { operation, args } = about;
  const keyed =
    key &&
    keyedOperation(
      key.secrets.ledger,
      principal.tenant,
      hashedKey(principal, key.text),
      operation,
      args,
    );
  const before = async (): Promise<Repeated | undefined> => {
    if (keyed === undefined) return undefined;
    const [row] = await store.snapshot([
      { kind: 'ledger', tenant: keyed.tenant, key: keyed.key } as const,
    ]);
    return row === undefined ? undefined : repeatedBy(row);
  };
  const repeatedBy = (row: LedgerRow): Repeated | undefined => {
    if (keyed === undefined || !ledgerRowIsValid(row, clock.now())) return undefined;
    const compared = compareWithLedger(row, keyed);
    if (compared.same && 'operation' in row.receipt) {
      return { code: 'REPEATED', receipt: row.receipt };
    }
    const fields = compared.same ? [] : compared.fields;
    return { code: 'IDEMPOTENCY_CONFLICT', operation: row.operation, fields };
  };

  for (let lost = 0; lost < LIMITS.commandAttempts.max;) {
    const answer = await before();
    if (answer !== undefined) return answer;
    const next = await round();
    if (next.do === 'again') {
      lost += 1;
      continue;
    }
    if (next.do === 'end') {
      // What is found may be what this very key has done meanwhile.
      return (await before()) ?? next.answer;
    }
    const receipt = { operation, ...next.receipt };
    const now = clock.now();
    const remembering =
      keyed === undefined || next.answer === undefined
        ? []
        : [ledgerWrite(ledgerRow(keyed, receipt, now), now)];
    const result = await store.commit({ writes: [...next.writes, ...remembering] }, deadlineMs);
    if (result.ok) {
      next.took?.();
      if (next.answer !== undefined) return next.answer;
      continue;
    }
    lost += 1;
    const kinds = result.failed.map((each) => each.key.kind);
    const moved = kinds.includes('workflow') || kinds.includes('run');
    if (kinds.includes('event') && !moved && result.contended !== true) {
      throw new Fault('retryable', 'CHAIN_TORN', 'an event lies beyond the head of its chain');
    }
  }
  throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded');
}
