// Executes commands and steps on runs: load, decide, commit, read the reasons of a refusal, again.
// Invariants kept here: I2 (a repeat gets the first receipt), I6 (a fault never changes a state),
// I8 (every key starts with the principal's tenant). Without contention one snapshot and one write.
import { assert, Fault, isFault, unavailable } from '../fault.ts';
import {
  compareWithLedger,
  hashedKey,
  keyedOperation,
  ledgerRowIsValid,
  type KeyedCommand,
} from '../ledger.ts';
import { isJsonFault } from '../json.ts';
import { LIMITS } from '../limits.ts';
import type { Principal } from '../model/principal.ts';
import type { Run } from '../model/run.ts';
import type { LedgerRow } from '../model/workflow.ts';
import { inTime, pauseAfter } from '../patience.ts';
import type { Clock, Random } from '../ports/runtime.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { TenantSecrets } from '../secrets.ts';
import { decideApproval, refusalForInvolved } from './approve.ts';
import { APPROVAL_CHANNELS, refusalForRun } from './authorize.ts';
import type { RunContext } from './change.ts';
import type { RunCommand } from './commands.ts';
import { creationKey, decideCreate } from './create.ts';
import { refused, type RunDecision } from './decision.ts';
import type { RunOutcome, RunRefusal, StepOutcome } from './outcome.ts';
import { compileRunPlan, runAfter } from './plan.ts';
import { decideResume } from './resume.ts';
import { decideWork, type WorkStep } from './work.ts';

/** What the service is made of. */
export interface RunServiceParts {
  readonly store: StorageBackend;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: (tenant: string) => TenantSecrets;
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
  /** The ways by which approvals may come; REST and the command line where left out. */
  readonly channels?: ReadonlySet<Principal['via']>;
  /** Told of every fault that is answered `BACKEND_UNAVAILABLE`. */
  readonly onFault?: (fault: Fault, operation: string, requestId?: string) => void;
}

/** The command side of runs. Times are in epoch milliseconds; nothing is sent after `deadlineMs`. */
export interface RunService {
  execute(
    principal: Principal,
    command: RunCommand,
    deadlineMs: number,
    requestId?: string,
  ): Promise<RunOutcome>;
  /** Takes one step of the work of an attempt. Faults are thrown: a worker knows what to do with them. */
  advance(
    of: { readonly tenant: string; readonly run: string; readonly attempt: number },
    step: WorkStep,
    deadlineMs: number,
  ): Promise<StepOutcome>;
}

/** A worker as the actor of its steps. */
export const worker = (tenant: string): Principal => {
  const subject = 'system:worker';
  return { tenant, subject, name: subject, kind: 'service', scopes: new Set(), via: 'system' };
};

interface Sight {
  readonly run: Run | undefined;
  readonly ledger: LedgerRow | undefined;
}

interface Work {
  readonly tenant: string;
  /** Undefined for a run that is yet to be created. */
  readonly run: string | undefined;
  readonly keyed: KeyedCommand | undefined;
  readonly deadlineMs: number;
  readonly decide: (sight: Sight) => RunDecision;
}

/** Builds the service. */
export function createRunService(parts: RunServiceParts): RunService {
  const { store, clock, random, sinks, channels = APPROVAL_CHANNELS } = parts;

  const look = async ({ tenant, run, keyed }: Work): Promise<Sight> => {
    const runs = run === undefined ? [] : [{ kind: 'run', tenant, id: run } as const];
    const rows = keyed === undefined ? [] : [{ kind: 'ledger', tenant, key: keyed.key } as const];
    const items = await store.snapshot([...runs, ...rows]);
    return {
      run: run === undefined ? undefined : (items[0] as Run | undefined),
      ledger: keyed === undefined ? undefined : (items[runs.length] as LedgerRow | undefined),
    };
  };

  /** Looks, decides and commits until something is written or refused. */
  const settle = async (work: Work): Promise<RunOutcome | { readonly stepped: Run }> => {
    for (let n = 1; n <= LIMITS.commandAttempts.max; n++) {
      inTime(clock, work.deadlineMs);
      const sight = await look(work);
      const decision = work.decide(sight);
      if (decision.kind === 'refuse') return decision.outcome;
      if (decision.kind === 'duplicate') {
        const { receipt } = decision;
        const { run = await runOf(work, receipt.run) } = sight;
        return { code: 'OK', duplicate: true, receipt, run };
      }
      const { plan, receipt } = decision;
      const transaction = compileRunPlan(plan);
      inTime(clock, work.deadlineMs);
      const result = await store.commit(transaction, work.deadlineMs);
      if (result.ok) {
        const run = runAfter(plan);
        return receipt === undefined
          ? { stepped: run }
          : { code: 'OK', duplicate: false, receipt, run };
      }
      const kinds = result.failed.map(({ key }) => key.kind);
      const alone =
        result.contended !== true && !kinds.includes('ledger') && !kinds.includes('run');
      if (alone && kinds.includes('event')) {
        throw new Fault('retryable', 'CHAIN_TORN', 'an event lies beyond the head of its chain');
      }
      await pauseAfter(n, parts, work.deadlineMs);
    }
    throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded');
  };

  const runOf = async ({ tenant }: Work, id: string): Promise<Run> => {
    const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
    if (run !== undefined) return run;
    throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'a receipt names a missing run');
  };

  /** What a key did before: a replay, a conflict, or nothing. */
  const byKey = (keyed: KeyedCommand, row: LedgerRow | undefined): RunDecision | undefined => {
    if (row === undefined || !ledgerRowIsValid(row, clock.now())) return undefined;
    const compared = compareWithLedger(row, keyed);
    if (!compared.same) {
      const { operation } = row;
      return refused({ code: 'IDEMPOTENCY_CONFLICT', operation, fields: compared.fields });
    }
    assert('run' in row.receipt, 'a command on a run has its receipt');
    return { kind: 'duplicate', receipt: row.receipt };
  };

  const decideOn = (
    principal: Principal,
    command: RunCommand,
    keyed: KeyedCommand | undefined,
    requestId: string | undefined,
    { run, ledger }: Sight,
  ): RunDecision => {
    const context: RunContext = {
      principal,
      now: clock.now(),
      sinks,
      ...(requestId !== undefined && { requestId }),
      ...(keyed !== undefined && { keyed }),
    };
    if (command.type === 'create_run') {
      assert(keyed !== undefined, 'a creation always has a key');
      return byKey(keyed, ledger) ?? decideCreate(command, { ...context, keyed }, random.id());
    }
    if (run === undefined) return refused({ code: 'NOT_FOUND', what: 'run', name: command.run });
    thawed(run);
    if (command.type === 'decide_approval') {
      // Permission is checked before a replay is given.
      const { requester, people } = run;
      const involved = refusalForInvolved(principal, { requester: requester.subject, people });
      if (involved !== undefined) return refused(involved);
    }
    const replayed = keyed === undefined ? undefined : byKey(keyed, ledger);
    if (replayed !== undefined) return replayed;
    return command.type === 'decide_approval'
      ? decideApproval(run, command, context)
      : decideResume(run, context);
  };

  const execute: RunService['execute'] = async (principal, command, deadlineMs, requestId) => {
    const forbidden = refusalForRun(principal, command.type, channels);
    if (forbidden !== undefined) return forbidden;
    try {
      const { tenant } = principal;
      const keyed = keyedCommand(parts.secrets(tenant).ledger, principal, command);
      const decide = (sight: Sight) => decideOn(principal, command, keyed, requestId, sight);
      const run = command.type === 'create_run' ? undefined : command.run;
      const outcome = await settle({ tenant, run, keyed, deadlineMs, decide });
      assert('code' in outcome, 'a command has a receipt');
      return outcome;
    } catch (error) {
      return answerTo(error, command.type, requestId);
    }
  };

  const answerTo = (error: unknown, operation: string, requestId?: string): RunRefusal => {
    if (isJsonFault(error)) {
      const { path, message } = error;
      return { code: 'INVALID_ARGUMENT', faults: [{ path, message }] };
    }
    if (!isFault(error) || error.code === 'PLAN_REFUSED') throw error;
    parts.onFault?.(error, operation, requestId);
    return unavailable(error);
  };

  const advance: RunService['advance'] = async ({ tenant, run: id, attempt }, step, deadlineMs) => {
    const decide = ({ run }: Sight): RunDecision => {
      if (run === undefined) return refused({ code: 'NOT_FOUND', what: 'run', name: id });
      thawed(run);
      const context: RunContext = { principal: worker(tenant), now: clock.now(), sinks };
      return decideWork(run, attempt, step, context);
    };
    const outcome = await settle({ tenant, run: id, keyed: undefined, deadlineMs, decide });
    if ('stepped' in outcome) return { code: 'OK', run: outcome.stepped };
    assert(outcome.code !== 'OK', 'a step has no receipt');
    return outcome;
  };

  return { execute, advance };
}

/** Nothing is decided on a run whose trail does not verify. */
function thawed({ frozen }: Run): void {
  if (frozen !== undefined) throw new Fault('terminal', 'CHAIN_BROKEN', frozen.what);
}

function keyedCommand(
  secret: string,
  principal: Principal,
  command: RunCommand,
): KeyedCommand | undefined {
  if (command.type === 'create_run') return creationKey(secret, principal, command);
  const { type, key, ...args } = command;
  if (key === undefined) return undefined;
  return keyedOperation(secret, principal.tenant, hashedKey(principal, key), type, args);
}
