// What whoever is on call looks at and does, for callers with a token: permission first, then the same
// functions that the command line uses. Faults are answered, never thrown to a caller.
import { refusalForDeciding, refusalForOperating } from '../authorize.ts';
import { isFault, unavailable, type Fault } from '../fault.ts';
import type { Principal } from '../model/principal.ts';
import type { Lock, OutboxRow } from '../model/workflow.ts';
import type { Refusal } from '../outcome.ts';
import type { Page } from '../ports/storage.ts';
import type { SweepFindings } from '../ports/sweeps.ts';
import type { Found } from '../queries.ts';
import { findingsOf, sweepDay, type SweepDay } from '../reconcile/notes.ts';
import { releaseLock, type ForcedRelease, type ReleaseCommand } from '../release-lock.ts';
import type { TenantSecrets } from '../secrets.ts';
import { acknowledgeFaults, type Acknowledgement, type AcknowledgeCommand } from './acknowledge.ts';
import type { Asked, OperationParts } from './operate.ts';
import { findRow, redriveRow, type Redrive } from './redrive.ts';
import { repairTorn, type TornRepair } from './torn.ts';

/** How a caller asks for an operation. */
export interface OperationCall extends Pick<Asked, 'principal' | 'deadlineMs' | 'requestId'> {
  readonly key?: string;
}

/** How a caller reads. */
export type OperationRead = Pick<OperationCall, 'principal' | 'requestId'>;

/** Which page of a list. */
export interface PageOf {
  readonly after?: string;
  readonly limit: number;
}

/** A read: what was found, or why it was refused. */
export type Read<T> = Promise<Found<T> | Refusal>;

/** The operations. Every read and every change wants `ops:admin`. */
export interface Operations {
  /** Rows that still have to leave, the earliest due first; at most 100. */
  listWaiting(read: OperationRead, limit: number): Read<readonly OutboxRow[]>;
  /** Rows that wait for a person, oldest first. */
  listParked(read: OperationRead, page: PageOf): Read<Page<OutboxRow>>;
  /** One row that waits or is parked. */
  showRow(read: OperationRead, id: string): Read<OutboxRow | undefined>;
  /** Held locks, oldest first. */
  listLocks(read: OperationRead, page: PageOf): Read<Page<Lock>>;
  /** A day of the reconciler. */
  sweeps(read: OperationRead, day: string): Read<SweepDay>;
  /** What sweeps found on a day, the earliest first. */
  findings(read: OperationRead, day: string, page: PageOf): Read<Page<SweepFindings>>;
  redrive(call: OperationCall, command: { readonly id: string }): Promise<Redrive | Refusal>;
  /** Wants a person: what people said counts no more, and frozen work may go on. */
  repairTorn(
    call: OperationCall,
    command: { readonly workflow: string },
  ): Promise<TornRepair | Refusal>;
  /** Wants a person. */
  releaseLock(call: OperationCall, command: ReleaseCommand): Promise<ForcedRelease | Refusal>;
  /** Wants a person. */
  acknowledge(call: OperationCall, command: AcknowledgeCommand): Promise<Acknowledgement | Refusal>;
}

/** Builds them. */
export function createOperations(
  parts: OperationParts & { readonly secrets: (tenant: string) => TenantSecrets },
  onFault?: (fault: Fault, operation: string, requestId?: string) => void,
): Operations {
  const { store, clock, secrets } = parts;
  const guarded = async <T>(
    operation: string,
    refusal: Refusal | undefined,
    requestId: string | undefined,
    work: () => Promise<T>,
  ): Promise<T | Refusal> => {
    if (refusal !== undefined) return refusal;
    try {
      return await work();
    } catch (error) {
      if (!isFault(error) || error.code === 'PLAN_REFUSED') throw error;
      onFault?.(error, operation, requestId);
      return unavailable(error);
    }
  };
  const read = <T>(
    operation: string,
    { principal, requestId }: OperationRead,
    work: (tenant: string) => Promise<T>,
  ): Read<T> =>
    guarded(operation, refusalForOperating(principal), requestId, async () => ({
      code: 'FOUND' as const,
      value: await work(principal.tenant),
    }));
  const asked = ({ key, ...call }: OperationCall): Asked => ({
    ...call,
    ...(key !== undefined && { key: { text: key, secrets: secrets(call.principal.tenant) } }),
  });
  const change = <T>(
    operation: string,
    call: OperationCall,
    refusal: (principal: Principal) => Refusal | undefined,
    work: (asked: Asked) => Promise<T>,
  ) => guarded(operation, refusal(call.principal), call.requestId, () => work(asked(call)));

  return {
    listWaiting: (by, limit) =>
      read('list_outbox', by, (tenant) => store.listTenantOutbox(tenant, limit)),
    listParked: (by, page) => read('list_outbox', by, (tenant) => store.listParked(tenant, page)),
    showRow: (by, id) => read('show_notification', by, (tenant) => findRow(store, tenant, id)),
    listLocks: (by, page) => read('list_locks', by, (tenant) => store.listLocks(tenant, page)),
    sweeps: (by, day) =>
      read('list_sweeps', by, (tenant) => sweepDay(store, tenant, day, clock.now())),
    findings: (by, day, page) =>
      read('list_findings', by, (tenant) =>
        findingsOf(store, tenant, { day, now: clock.now() }, page),
      ),
    redrive: (call, command) =>
      change('redrive_notification', call, refusalForOperating, (by) =>
        redriveRow(parts, by, command),
      ),
    repairTorn: (call, command) =>
      change('repair_torn', call, refusalForDeciding, (by) => repairTorn(parts, by, command)),
    releaseLock: (call, command) =>
      change('release_lock', call, refusalForDeciding, (by) => releaseLock(parts, by, command)),
    acknowledge: (call, command) =>
      change('acknowledge_faults', call, refusalForDeciding, (by) =>
        acknowledgeFaults(parts, by, command),
      ),
  };
}
