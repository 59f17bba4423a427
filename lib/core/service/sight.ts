// Loading what a command looks at, as of one moment. Two separate reads are no snapshot: where a
// second item's key is only known from the first, both are read again together.
import type { Command, StartWorkflow } from '../model/commands.ts';
import {
  holdsAsset,
  type LedgerRow,
  type Lock,
  type VaultRow,
  type Workflow,
} from '../model/workflow.ts';
import { canonicalAsset } from '../names.ts';
import type { Clock } from '../ports/runtime.ts';
import type { ItemKey, StorageBackend } from '../ports/storage.ts';
import { stepOf, type ProcedureRegistry } from '../procedures.ts';
import { ledgerKey, remembered, type Attempt, type Sight } from './attempt.ts';
import type { Memory } from './memory.ts';
import { procedureOf } from '../procedure-of.ts';
import { readHistory } from './trail.ts';

/** Looks on behalf of commands. */
export interface Looker {
  /** What the process remembers, or else a snapshot. */
  glance(attempt: Attempt): Promise<Sight>;
  /** A snapshot. */
  look(attempt: Attempt): Promise<Sight>;
  /** Whether a command looks at a sensitive value, a lock or the trail, so that the state is not enough. */
  needsMore(workflow: Workflow, command: Command): boolean;
}

/** Builds the looker. */
export function createLooker(
  store: StorageBackend,
  registry: ProcedureRegistry,
  memory: Memory,
  clock: Clock,
): Looker {
  const needsVault = (workflow: Workflow, command: Command): boolean => {
    if (!('step' in command) || workflow.steps[command.step] === undefined) return false;
    const step = stepOf(procedureOf(registry, workflow), command.step);
    return step?.kind === 'text' && step.sensitive;
  };

  /** Work that lost its asset takes it again, if it is free. */
  const needsLock = (workflow: Workflow, { type }: Command): boolean =>
    (type === 'resolve_block' || type === 'decide_approval') &&
    workflow.state === 'BLOCKED' &&
    !holdsAsset(workflow);

  const needsMore = (workflow: Workflow, command: Command): boolean =>
    needsVault(workflow, command) ||
    needsLock(workflow, command) ||
    command.type === 'decide_approval';

  const look = async (attempt: Attempt): Promise<Sight> => {
    const sight = await lookAtItems(attempt);
    if (attempt.command.type !== 'decide_approval' || sight.workflow === undefined) return sight;
    const { deadlineMs } = attempt;
    return { ...sight, history: await readHistory({ store, clock, deadlineMs }, sight.workflow) };
  };

  const lookAtItems = async (attempt: Attempt): Promise<Sight> => {
    const { command, principal, keyed } = attempt;
    const ledgerKeys = keyed === undefined ? [] : [ledgerKey(keyed)];
    if (command.type === 'start_workflow') {
      return lookAtAsset(store, principal.tenant, command, ledgerKeys);
    }
    const { tenant } = principal;
    const key: ItemKey = { kind: 'workflow', tenant, id: command.workflow ?? '' };
    const [item, row] = await store.snapshot([key, ...ledgerKeys]);
    const workflow = item as Workflow | undefined;
    const ledger = row as LedgerRow | undefined;
    if (workflow === undefined) {
      return { fresh: true, ledger, workflow, lock: undefined, vault: undefined };
    }
    memory.remember(workflow);
    if (needsLock(workflow, command)) return lookAtLock(store, workflow, ledgerKeys);
    if (!needsVault(workflow, command) || !('step' in command)) {
      return { fresh: true, ledger, workflow, lock: undefined, vault: undefined };
    }
    return lookAtVault(store, workflow, command.step, ledgerKeys);
  };

  const glance = async (attempt: Attempt): Promise<Sight> => {
    const { command, principal } = attempt;
    if (command.type === 'start_workflow') return look(attempt);
    const workflow = memory.recall(principal.tenant, command.workflow ?? '');
    if (workflow === undefined || needsMore(workflow, command)) return look(attempt);
    return remembered(workflow);
  };

  return { glance, look, needsMore };
}

/** The value that a step's record points to, together with the state that points to it. */
async function lookAtVault(
  store: StorageBackend,
  { tenant, id, steps }: Workflow,
  step: string,
  ledgerKeys: readonly ItemKey[],
): Promise<Sight> {
  const seq = steps[step]?.seq;
  const [again, value, row] = await store.snapshot([
    { kind: 'workflow', tenant, id },
    { kind: 'vault', tenant, workflow: id, seq: seq ?? 0 },
    ...ledgerKeys,
  ]);
  const workflow = again as Workflow | undefined;
  const fresh = workflow?.steps[step]?.seq === seq;
  return {
    fresh,
    ledger: row as LedgerRow | undefined,
    workflow,
    lock: undefined,
    vault: fresh ? (value as VaultRow | undefined) : undefined,
  };
}

/** The lock of a workflow's asset, as of the same moment as the workflow. */
async function lookAtLock(
  store: StorageBackend,
  { tenant, id, asset }: Workflow,
  ledgerKeys: readonly ItemKey[],
): Promise<Sight> {
  const [workflow, lock, row] = await store.snapshot([
    { kind: 'workflow', tenant, id },
    { kind: 'lock', tenant, asset },
    ...ledgerKeys,
  ]);
  return {
    fresh: true,
    ledger: row as LedgerRow | undefined,
    workflow: workflow as Workflow | undefined,
    lock: lock as Lock | undefined,
    vault: undefined,
  };
}

/** The asset's lock and, where it is held, the workflow that holds it. */
async function lookAtAsset(
  store: StorageBackend,
  tenant: string,
  command: StartWorkflow,
  ledgerKeys: readonly ItemKey[],
): Promise<Sight> {
  const lockKey: ItemKey = { kind: 'lock', tenant, asset: canonicalAsset(command.asset) };
  const [first, row] = await store.snapshot([lockKey, ...ledgerKeys]);
  const lock = first as Lock | undefined;
  const ledger = row as LedgerRow | undefined;
  if (lock?.workflow === undefined) {
    return { fresh: true, ledger, workflow: undefined, lock, vault: undefined };
  }
  const [again, holding, rowAgain] = await store.snapshot([
    lockKey,
    { kind: 'workflow', tenant, id: lock.workflow },
    ...ledgerKeys,
  ]);
  const now = again as Lock | undefined;
  const fresh = now?.workflow === lock.workflow;
  return {
    fresh,
    ledger: rowAgain as LedgerRow | undefined,
    workflow: fresh ? (holding as Workflow | undefined) : undefined,
    lock: now,
    vault: undefined,
  };
}
