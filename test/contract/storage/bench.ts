/** What each group of contract cases works with. */
import type { Fault } from '../../../lib/core/fault.ts';
import { isFault } from '../../../lib/core/fault.ts';
import type { Workflow } from '../../../lib/core/model/workflow.ts';
import type {
  CommitResult,
  Items,
  ItemKey,
  StorageBackend,
  Write,
} from '../../../lib/core/ports/storage.ts';
import type { TestClock } from '../../support/harness.ts';
import { workflowOf, type Names } from '../../support/plans.ts';
import type { WriterReport, WriterTask } from '../../support/writers.ts';

/** A store that is opened for one test. */
export interface OpenedStore {
  readonly store: StorageBackend;
  readonly clock: TestClock;
  /** Opens the same data once more, as another process would. */
  readonly reopen: () => Promise<StorageBackend>;
  /** Runs tasks at the same time, each in a process of its own. */
  readonly runWriters: (tasks: readonly WriterTask[]) => Promise<readonly WriterReport[]>;
  readonly close: () => Promise<void>;
}

/** The store of the running test, with names that no other test uses. */
export interface Bench extends OpenedStore {
  readonly tenant: string;
  readonly otherTenant: string;
  /** Commits raw writes with a deadline of ten seconds. */
  readonly commit: (...writes: readonly Write[]) => Promise<CommitResult>;
}

/** Gives the bench of the running test. */
export type UseBench = () => Bench;

/** The fault that a promise rejects with; a test that expects one fails without it. */
export async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
  throw new Error('expected a fault');
}

/** The write that creates an item under its own key. */
export function create(key: ItemKey, item: Items[ItemKey['kind']], expiredAt?: number): Write {
  return { op: 'create', key, item, ...(expiredAt !== undefined && { expiredAt }) };
}

/** The key of a workflow. */
export const workflowKey = (tenant: string, id = 'w1') =>
  ({ kind: 'workflow', tenant, id }) as const;

/** The key of a lock. */
export const lockKey = (tenant: string, asset = 'A-1') =>
  ({ kind: 'lock', tenant, asset }) as const;

/** The key of a ledger row. */
export const ledgerKey = (tenant: string, key: string) =>
  ({ kind: 'ledger', tenant, key }) as const;

/** The write that creates a workflow alone; `part` replaces attributes, also with unknown ones. */
export function createWorkflow(
  names: Names,
  part: Partial<Workflow> & Record<string, unknown> = {},
): Write {
  const { workflow } = workflowOf(names);
  return create(workflowKey(names.tenant, workflow.id), { ...workflow, ...part });
}
