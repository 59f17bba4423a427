// One look at a run that is due: what belongs to it, the rules over it, and when it is looked at next.
// Invariant I5: every repair carries the epoch of its lease. Others are asked (an orchestrator, a
// provider) only where a time is over.
import { isDamage, isFault } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import { isOver, WORKING, type Run } from '../model/run.ts';
import type { Orchestrator } from '../ports/orchestrator.ts';
import type { Clock } from '../ports/runtime.ts';
import { DeliveryError, isDeliveryError } from '../ports/sink.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { TicketProvider } from '../ports/tickets.ts';
import { ORCHESTRATE } from '../dispatch/new-row.ts';
import type { RunContext } from '../runs/change.ts';
import { executionName } from '../runs/execution.ts';
import { compileRunPlan } from '../runs/plan.ts';
import { orderOf } from '../runs/order.ts';
import { differences } from '../runs/read-back.ts';
import { RUN } from '../runs/timing.ts';
import { createAfterLook, type Looked, type LookOptions } from './after-look.ts';
import { overdueRun } from './overdue-run.ts';
import { reconciler } from './reconciler.ts';
import type { Rule } from './rules.ts';
import {
  isLate,
  isOverdue,
  type RunObservation,
  type RunRepair,
  type RunRule,
} from './run-rules.ts';
import { stalledRun } from './stalled-run.ts';
import { RECONCILE } from './timing.ts';

/** Whom a sweep asks about runs. */
export interface RunPorts {
  readonly orchestrator: Orchestrator;
  readonly tickets: TicketProvider;
}

/** What looks at runs. */
export interface RunLookParts {
  readonly store: StorageBackend;
  readonly clock: Clock;
  readonly sinks: readonly string[];
  /** Left out, runs are looked at as far as the store alone can tell. */
  readonly runPorts?: RunPorts;
}

const ORDER: readonly (readonly [Rule, RunRule])[] = [
  ['R6', overdueRun],
  ['R7', stalledRun],
];
/** How often one run is looked at anew in one sweep, because it moved or was repaired. */
const LOOKS = 6;

/** Builds the look. */
export function createRunLook(parts: RunLookParts) {
  const { store, clock, sinks, runPorts } = parts;
  const { settle, putOff } = createAfterLook(parts);

  const observe = async (tenant: string, id: string): Promise<RunObservation | undefined> => {
    const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
    if (run === undefined) return undefined;
    const now = clock.now();
    const nothing = { run, waiting: false, execution: undefined, written: undefined };
    if (!WORKING.has(run.state) || !isOverdue(run, now)) return nothing;
    const waiting = await isWaiting(run);
    const writing = run.state === 'executing' || run.state === 'verifying';
    if (writing && isLate(run, now)) return { ...nothing, waiting, written: await lookUp(run) };
    if (waiting) return { ...nothing, waiting };
    const name = executionName({ tenant, run: id, attempt: run.attempt });
    const execution = await answerOf('the orchestrator', async () =>
      runPorts?.orchestrator.describe(name, now + RECONCILE.askMs),
    );
    return { ...nothing, execution };
  };

  /** Whether the start of this attempt is still in the outbox, parked ones included. */
  const isWaiting = async ({ tenant, id, attempt }: Run): Promise<boolean> => {
    const rows = await store.listOutbox(tenant, id, LIMITS.pageItems.max);
    return rows.some((row) => row.lane === ORCHESTRATE && row.payload['attempt'] === attempt);
  };

  const lookUp = async (run: Run): Promise<RunObservation['written']> => {
    const order = orderOf(run);
    if (order === undefined || runPorts === undefined) return undefined;
    const { tickets } = runPorts;
    const { name: provider, settlesInMs } = tickets;
    const ticket = await answerOf('the provider', async () => {
      const found = await tickets.find(run.tenant, order.key, clock.now() + RECONCILE.askMs);
      return found && { reference: found.reference, differs: differences(order, found) };
    });
    return { provider, settlesInMs, ...(ticket !== undefined && { ticket }) };
  };

  /** Looks at one run until nothing is wrong with it, and sets the time of the next look. */
  const look = async (tenant: string, id: string, options: LookOptions): Promise<Looked> => {
    const { lease, runs, found } = options;
    let stuck: RunRepair | undefined;
    for (let n = 1; n <= LOOKS; n++) {
      try {
        const seen = await observe(tenant, id);
        if (seen === undefined) return 'well';
        const next = (now: number): number | undefined => nextLook(seen.run, seen.written, now);
        const context: RunContext = { principal: reconciler(tenant), now: clock.now(), sinks };
        const repair = seen.run.frozen === undefined ? firstRepair(seen, context, runs) : undefined;
        if (repair === undefined) return await settle(seen.run, next, options);
        const { rule, finding: what, plan } = repair;
        const about = { rule, tenant, workflow: id, what };
        if (lease === undefined) {
          found({ ...about, repaired: false });
          return 'well';
        }
        const transaction = { ...compileRunPlan(plan), lease };
        const result = await store.commit(transaction, clock.now() + RECONCILE.tickMs);
        if (result.ok) {
          found({ ...about, repaired: true });
          continue;
        }
        if (result.leaseLost === true) return 'lost';
        stuck = repair;
        // An event where the next one belongs is no race: only the trail can tell what it is.
        const kinds = result.failed.map(({ key }) => key.kind);
        if (kinds.includes('event') && !kinds.includes('run'))
          return await settle(seen.run, next, options);
      } catch (error) {
        const what = nameOf(error);
        if (what === undefined) throw error;
        const rule = isDamage(error) ? 'R8' : 'R7';
        return putOff(tenant, id, options, { rule, what });
      }
    }
    const why = stuck && { rule: stuck.rule, what: stuck.finding };
    return putOff(tenant, id, options, why);
  };

  return look;
}

/** What somebody outside answers; whatever else they do says nothing of the run, and nothing of it is told. */
async function answerOf<T>(who: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isFault(error) || isDeliveryError(error)) throw error;
    throw new DeliveryError('unknown', `${who} failed in a way that it does not know`, {
      cause: error,
    });
  }
}

function firstRepair(
  seen: RunObservation,
  context: RunContext,
  runs: (rule: Rule) => boolean,
): RunRepair | undefined {
  for (const [rule, find] of ORDER) {
    const repair = runs(rule) ? find(seen, context) : undefined;
    if (repair !== undefined) return repair;
  }
  return undefined;
}

/** When a run in which nothing is wrong is looked at next, in epoch milliseconds. */
function nextLook(run: Run, written: RunObservation['written'], now: number): number | undefined {
  if (run.frozen !== undefined) return now + RECONCILE.checkMs;
  if (isOver(run.state)) return undefined;
  const { work_by, deadline_at, proposal } = run;
  if (run.state === 'awaiting_approval') {
    const end = Date.parse(proposal?.action.expires_at ?? '') + 1;
    return end > now ? end : now + RECONCILE.laterMs;
  }
  if (written !== undefined && written.ticket === undefined) {
    const until = Date.parse(proposal?.action.not_after ?? '') + written.settlesInMs + 1;
    if (until > now) return Math.min(until, now + RUN.workMs);
  }
  const ahead = [work_by, deadline_at].filter((time) => time !== undefined && time > now);
  return Math.min(now + RUN.workMs, ...(ahead as number[]));
}

/** What is told of an error that says that a run cannot be judged now; undefined for any other. */
function nameOf(error: unknown): string | undefined {
  if (isFault(error)) return error.kind === 'unknown' ? undefined : error.code;
  return isDeliveryError(error) ? error.message : undefined;
}
