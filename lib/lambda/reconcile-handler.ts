// The tasks of the reconciler's state machine. It carries ids and counts only: findings go to the log.
// Absent members and null are the same, and whatever else does not fit is refused by name.
import type { Context } from 'aws-lambda';
import { DELIVERY } from '../core/dispatch/row.ts';
import type { DueShards } from '../core/reconcile/due-shards.ts';
import type { Sweeper, SweepReport } from '../core/reconcile/sweep.ts';
import type { DailyHeads, SignedHeads } from '../core/trail/daily-heads.ts';
import type { Observers } from './observers.ts';
import { cannotStart, TaskError, taskFunction, whole, type TaskHandler } from './task-function.ts';
import { toldStart } from './told-start.ts';

/** What sweeps. */
export interface ReconcileApp {
  /** The shards with due work. */
  readonly dueShards: () => Promise<DueShards>;
  readonly sweeper: Sweeper;
  /** Signs the heads of each day, where the deployment has a place for them. */
  readonly heads?: DailyHeads;
}

/** Answer of the task `look`; shards are objects, because a Map item that is 0 breaks an interpreter. */
export interface Looked {
  readonly due: number;
  /** Whether the list of heads of the day is still to be signed. */
  readonly heads: boolean;
  readonly shards: readonly { readonly shard: number }[];
}

/** Answer of the task `sweep`; `more` says that the time ran out before the work did. */
export interface Swept {
  readonly round: number;
  readonly more: boolean;
  readonly end: SweepReport['end'];
  readonly delivered: number;
  readonly failed: number;
  readonly parked: number;
  readonly looked: number;
  readonly findings: number;
}

/** Answer of the task `report`. */
export interface Reported {
  readonly shards: number;
  readonly failed: number;
}

/** Answer of any task; that of `heads` is what was signed. */
type Answer = Looked | Swept | Reported | SignedHeads;

/** The handler, and its start. */
export interface ReconcileFunction {
  readonly handler: TaskHandler<Answer>;
  /** Resolves when the first start has ended, whichever way. */
  readonly started: Promise<unknown>;
}

/** No delivery is begun that may not come to its end, with the writes around it. */
const MARGIN_MS = DELIVERY.attemptMs + 5_000;

const inTime = (context: Context) => (): boolean => context.getRemainingTimeInMillis() > MARGIN_MS;

/** Builds the function and starts it. `open` is called again by the next task after it failed. */
export function createReconcileFunction(
  observers: Observers,
  open: () => Promise<ReconcileApp>,
): ReconcileFunction {
  const { log, count, waiting } = observers;
  const app = toldStart(observers, open);

  const look = async ({ dueShards, heads }: ReconcileApp): Promise<Looked> => {
    const { shards, overdueMs } = await dueShards();
    count('ticks');
    waiting(overdueMs);
    // What cannot be asked for keeps nothing from being swept: its own task fails afterwards, and is told.
    const signing = (await heads?.due().catch(() => true)) ?? false;
    return { due: shards.length, heads: signing, shards: shards.map((shard) => ({ shard })) };
  };

  const sweep = async (
    { sweeper }: ReconcileApp,
    { shard, round = 0, execution }: Members,
    context: Context,
  ): Promise<Swept> => {
    const goOn = inTime(context);
    const by = typeof execution === 'string' ? { by: execution } : {};
    const report = await sweeper.sweep(whole(shard, 'shard'), { goOn, ...by });
    const { end, delivered: of, looked } = report;
    count('sweeps');
    if (end === 'lost') count('leasesLost');
    const { delivered, failed, parked } = of;
    const findings = report.findings.length;
    const done = { round: whole(round ?? 0, 'round') + 1, more: end === 'out_of_time', end };
    return { ...done, delivered, failed, parked, looked, findings };
  };

  const signHeads = async ({ heads }: ReconcileApp, context: Context): Promise<SignedHeads> => {
    const signed = (await heads?.sign(inTime(context))) ?? { parts: 0, heads: 0, more: false };
    if (signed.parts > 0) log({ level: 'info', msg: 'list of heads signed', ...signed });
    return signed;
  };

  const report = ({ shards }: Members): Reported => {
    if (!Array.isArray(shards)) throw new TaskError('expected shards to be a list');
    const failed = (shards as readonly unknown[]).filter(
      (each) => (each as { readonly failed?: unknown } | null)?.failed === true,
    ).length;
    if (failed > 0) count('shardsFailed', failed);
    return { shards: shards.length, failed };
  };

  const run = async (event: unknown, context: Context): Promise<Answer> => {
    const members = (event ?? {}) as Members;
    if (members.task === 'report') return report(members);
    const opened = await app();
    if (opened === undefined) throw cannotStart();
    if (members.task === 'look') return look(opened);
    if (members.task === 'sweep') return sweep(opened, members, context);
    if (members.task === 'heads') return signHeads(opened, context);
    throw new TaskError('expected task to be look, sweep, report or heads');
  };

  return { handler: taskFunction(observers, run), started: app() };
}

interface Members {
  readonly task?: unknown;
  readonly shard?: unknown;
  readonly round?: unknown;
  readonly execution?: unknown;
  readonly shards?: unknown;
}
