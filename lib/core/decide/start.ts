// Starting a procedure: the aggregate, its first event, the lock and the pointer in one plan (I1).
import type { StartWorkflow } from '../model/commands.ts';
import { appendEvent, GENESIS } from '../events.ts';
import { previousValues } from '../last-values.ts';
import { ledgerRow } from '../ledger.ts';
import { LIMITS } from '../limits.ts';
import { actorOf } from '../model/principal.ts';
import { FORMAT, type Lock, type Receipt, type Workflow } from '../model/workflow.ts';
import { canonicalAsset } from '../names.ts';
import type { CommitPlan } from '../plan.ts';
import { isOrphaned } from '../reconcile/orphan-lock.ts';
import { assetPattern } from '../parse-procedure.ts';
import { timesAfter } from '../timers.ts';
import { busy } from './asset-lock.ts';
import { requested } from './appended.ts';
import { invalid, refuse, type DecideContext, type Decision } from './decision.ts';

/** What a start looks at: the asset's lock and, where it is held, the workflow that holds it. */
export interface StartState {
  readonly lock: Lock | undefined;
  readonly holding: Workflow | undefined;
}

/** Decides a start. */
export function decideStart(
  state: StartState,
  command: StartWorkflow,
  context: DecideContext,
): Decision {
  const procedure = context.registry.find(command.procedure);
  if (procedure === undefined) {
    const known = context.registry.list().map(({ id }) => id);
    return refuse({ code: 'NOT_FOUND', what: 'procedure', name: command.procedure, known });
  }
  const asset = canonicalAsset(command.asset);
  if (
    asset === '' ||
    asset.length > LIMITS.assetChars.max ||
    !assetPattern(procedure).test(asset)
  ) {
    return invalid(
      '/asset',
      `expected the name of a ${procedure.asset.type} such as ${procedure.asset.example}`,
    );
  }
  const { lock, holding } = state;
  // A lock that was left behind is taken over (R4), guarded by the state of whoever left it.
  const left = lock?.held === true && lock.workflow !== undefined && isOrphaned(lock, holding);
  const orphan = left ? lock : undefined;
  if (lock?.held === true && orphan === undefined) {
    return meetHeldLock(lock, holding, procedure.id, context);
  }

  const { principal, now, fresh } = context;
  const { tenant, subject, name } = principal;
  const at = new Date(now).toISOString();
  const id = fresh.workflow;
  const version = procedure.version;
  const result = { command: 'start_workflow', result: 'started' } as const;
  const { event, head } = appendEvent(
    { tenant, workflow: id, head: { seq: 0, hash: GENESIS } },
    {
      type: 'workflow_started',
      at,
      actor: actorOf(principal),
      data: {
        ...result,
        procedure: procedure.id,
        procedure_version: version,
        asset,
        ...(orphan !== undefined && { rule: 'R4', taken_over_from: orphan.workflow ?? '' }),
        ...requested(context),
      },
    },
  );
  const receipt: Receipt = { ...result, workflow: id, seq: 1, at };
  const fence = (lock?.fence ?? 0) + 1;
  const held = { workflow: id, procedure: procedure.id, subject, name, since: at };
  const row = { format: FORMAT, tenant };
  const earlier = lock?.last && context.registry.find(lock.last.procedure, lock.last.version);
  const previous = previousValues(lock?.last, procedure, earlier);
  const created: Workflow = {
    ...row,
    id,
    version: 1,
    procedure: procedure.id,
    procedure_version: version,
    asset,
    state: 'CREATED',
    holder: { subject, name },
    tenure: 1,
    offered: false,
    fence,
    steps: {},
    head_seq: head.seq,
    head_hash: head.hash,
    created_at: at,
    updated_at: at,
    ...(previous !== undefined && { previous }),
  };
  const aggregate = { ...created, ...timesAfter(created, procedure, now, { worked: true }) };
  return {
    kind: 'commit',
    receipt,
    plan: {
      tenant,
      now,
      aggregate: { op: 'create', state: aggregate },
      events: [event],
      ...(context.keyed !== undefined && { ledger: ledgerRow(context.keyed, receipt, now) }),
      locks: [
        {
          op: 'take',
          lock: { ...row, asset, fence, held: true, ...held },
          freeAt: lock?.fence,
          ...(orphan !== undefined && { orphanOf: orphan.workflow ?? '' }),
        },
      ],
      pointers: [
        {
          op: 'add',
          pointer: { ...row, subject, workflow: id, asset, procedure: procedure.id, since: at },
        },
      ],
      vault: [],
      outbox: [],
      guards: orphan === undefined ? [] : [claimless(orphan, holding)],
    },
  };
}

/** That whoever left a lock behind has not come back to it. */
function claimless(
  { tenant, workflow = '' }: Lock,
  holding: Workflow | undefined,
): CommitPlan['guards'][number] {
  const key = { kind: 'workflow', tenant, id: workflow } as const;
  if (holding === undefined) return { key, absent: true };
  return { key, expect: { version: holding.version } };
}

function meetHeldLock(
  lock: Lock,
  holding: Workflow | undefined,
  procedure: string,
  context: DecideContext,
): Decision {
  const own =
    holding !== undefined &&
    holding.holder.subject === context.principal.subject &&
    holding.procedure === procedure;
  if (own) return { kind: 'duplicate', seq: 1 };
  return busy(lock, context);
}
