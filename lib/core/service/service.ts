// Executes commands: load, decide, commit, read the reasons of a refusal, again.
// Invariants kept here: I2 (a repeat gets the first receipt), I6 (a fault never changes a state),
// I8 (every key starts with the principal's tenant). A refusal is never given from memory.
import { refusalFor } from '../authorize.ts';
import { decide } from '../decide/decide.ts';
import type { DecideContext, Decision } from '../decide/decision.ts';
import { decideStart } from '../decide/start.ts';
import { assert, Fault, isFault, unavailable } from '../fault.ts';
import { isJsonFault } from '../json.ts';
import { keyedByQuestion, keyedCommand, type KeyedCommand } from '../ledger.ts';
import { LIMITS } from '../limits.ts';
import type { Command } from '../model/commands.ts';
import type { Principal } from '../model/principal.ts';
import type { LedgerRow, Workflow } from '../model/workflow.ts';
import { NOT_ASKED, type Outcome, type Refusal } from '../outcome.ts';
import { aggregateAfter, compilePlan, type CommitPlan } from '../plan.ts';
import { inTime, pauseAfter } from '../patience.ts';
import type { Clock, Random } from '../ports/runtime.ts';
import { dueNext } from '../reconcile/due-time.ts';
import type { CommitResult, FailedCondition, ItemKind, StorageBackend } from '../ports/storage.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import { activeChoices, resolvePerson } from '../queries.ts';
import { suggestAssets } from '../suggest-assets.ts';
import type { TenantSecrets } from '../secrets.ts';
import { viewOf } from '../view.ts';
import { askWhich, settle, workflowNamed } from './answers.ts';
import { ledgerKey, remembered, type Attempt, type Sight } from './attempt.ts';
import { createMemory } from './memory.ts';
import { procedureOf } from '../procedure-of.ts';
import { createRepeats } from './repeats.ts';
import { createLooker } from './sight.ts';

/** Hears of a fault, in which operation and for which request it happened. */
export type OnFault = (fault: Fault, operation: string, requestId?: string) => void;

/** What the service is made of. */
export interface ServiceParts {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: (tenant: string) => TenantSecrets;
  /** The sinks that notifications are written for. */
  readonly sinks: readonly string[];
  /** The ways by which approvals may come; REST and the command line where left out. */
  readonly channels?: ReadonlySet<Principal['via']>;
  /** Told of every fault that is answered `BACKEND_UNAVAILABLE`, for logs and metrics. */
  readonly onFault?: OnFault;
}

/** The command side of Checkpoint. */
export interface Service {
  /**
   * Executes one command for a principal. `deadlineMs` is in epoch milliseconds: nothing is sent to
   * the store after it. `requestId` stands in the event, so that an answer, its log lines and the
   * trail can be brought together. Operational faults are answered `BACKEND_UNAVAILABLE`.
   */
  execute(
    principal: Principal,
    command: Command,
    deadlineMs: number,
    requestId?: string,
  ): Promise<Outcome>;
}

/** A commit that did not happen. */
type Refused = Extract<CommitResult, { readonly ok: false }>;

/** What to look at next when an attempt did not end the command. */
interface Again {
  readonly pause: boolean;
  readonly sight?: Sight;
}

/** Builds the service. */
export function createService(parts: ServiceParts): Service {
  const { store, registry, clock, random, secrets } = parts;
  const memory = createMemory(LIMITS.rememberedWorkflows.max);
  const repeats = createRepeats(store, registry, clock);
  const looker = createLooker(store, registry, memory, clock);

  const execute: Service['execute'] = async (principal, command, deadlineMs, requestId) => {
    const forbidden = refusalFor(principal, command.type, parts.channels);
    if (forbidden !== undefined) return forbidden;
    try {
      const outcome = await run(principal, command, deadlineMs, requestId);
      // Without a key, the only thing that can have done something else before is the question.
      const twice = outcome.code === 'IDEMPOTENCY_CONFLICT' && command.key === undefined;
      return twice ? NOT_ASKED : outcome;
    } catch (error) {
      if (isJsonFault(error)) {
        const { path, message } = error;
        return { code: 'INVALID_ARGUMENT', faults: [{ path, message }] };
      }
      if (!isFault(error) || error.code === 'PLAN_REFUSED') throw error;
      if (error.code === 'STATE_TOO_LARGE') {
        return { code: 'LIMIT_REACHED', limit: 'stateBytes', max: LIMITS.stateBytes.max };
      }
      parts.onFault?.(error, command.type, requestId);
      // The attempt may have been committed: what is remembered may be old.
      memory.forget(principal.tenant, workflowNamed(command));
      return unavailable(error);
    }
  };

  const run: Service['execute'] = async (principal, sent, deadlineMs, requestId) => {
    inTime(clock, deadlineMs);
    const { ledger, confirmation } = secrets(principal.tenant);
    const byCaller = keyedCommand(ledger, principal, sent);
    const settled = settle(confirmation, principal, sent, clock.now());
    if ('code' in settled) return (await byKey(byCaller)) ?? settled;
    const { command, to, question } = settled;
    const said = to !== undefined && command.type === 'hand_over' ? { ...command, to } : command;
    const keyed =
      byCaller ?? (question && keyedByQuestion(ledger, principal, said, question.state));
    if (question?.late === true) return (await byKey(keyed)) ?? NOT_ASKED;
    const which = (refusal: Refusal, workflow: string): Refusal =>
      askWhich(confirmation, principal, sent, refusal, workflow, clock.now());
    if (command.type !== 'start_workflow' && command.workflow === undefined) {
      const answer = await byKey(keyed);
      return answer ?? which(await activeChoices(store, registry, principal), '');
    }
    const receiver =
      command.type === 'hand_over'
        ? await resolvePerson(store, principal.tenant, to ?? command.to)
        : undefined;
    // A name may mean somebody else by now, or nobody: what its key did still counts.
    if (receiver !== undefined && 'code' in receiver) {
      const workflow = 'workflow' in command ? (command.workflow ?? '') : '';
      return (await byKey(keyed)) ?? which(receiver, workflow);
    }
    const attempt: Attempt = { principal, command, keyed, deadlineMs, requestId, to: receiver };
    let sight = await looker.glance(attempt);
    for (let n = 1; n <= LIMITS.commandAttempts.max; n++) {
      const result = await once(attempt, sight);
      if ('code' in result) return result;
      if (result.pause) await pauseAfter(n, parts, deadlineMs);
      sight = result.sight ?? (await looker.look(attempt));
    }
    throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded');
  };

  /** What a key did, for commands that cannot be decided. */
  const byKey = async (keyed: KeyedCommand | undefined): Promise<Outcome | undefined> => {
    if (keyed === undefined) return undefined;
    const [row] = await store.snapshot([ledgerKey(keyed)]);
    return repeats.fromLedger(keyed, row);
  };

  /** One round of decide and commit. */
  const once = async (attempt: Attempt, sight: Sight): Promise<Outcome | Again> => {
    const { command, keyed } = attempt;
    const { workflow } = sight;
    inTime(clock, attempt.deadlineMs);
    if (keyed !== undefined) {
      const seen = sight.fresh ? workflow : undefined;
      const answer = await repeats.fromLedger(keyed, sight.ledger, seen);
      if (answer !== undefined) return answer;
    }
    if (command.type !== 'start_workflow' && workflow === undefined) {
      const name = command.workflow ?? '';
      return sight.fresh ? { code: 'NOT_FOUND', what: 'workflow', name } : { pause: false };
    }
    const decision = decideOn(attempt, sight);
    if (decision.kind === 'commit') return commit(attempt, decision);
    if (!sight.fresh) return { pause: false };
    if (decision.kind === 'refuse') return withSuggestions(attempt, decision.outcome);
    assert(workflow !== undefined, 'only a workflow can have seen a command before');
    if (decision.kind === 'duplicate') return repeats.duplicate(attempt, workflow, decision.seq);
    return (await repeats.search(attempt, workflow, decision)) ?? decision.otherwise;
  };

  /** A start on a name that no asset can have is refused with the names that may be meant. */
  const withSuggestions = async (attempt: Attempt, refusal: Refusal): Promise<Outcome> => {
    const { command, principal } = attempt;
    if (command.type !== 'start_workflow' || refusal.code !== 'INVALID_ARGUMENT') return refusal;
    const { asset, procedure: id } = command;
    const procedure = registry.find(id);
    inTime(clock, attempt.deadlineMs);
    const near = await suggestAssets(
      store,
      principal.tenant,
      asset,
      procedure === undefined ? [] : [procedure],
    );
    return { ...refusal, ...near };
  };

  const decideOn = (attempt: Attempt, sight: Sight): Decision => {
    const { principal, command, keyed, requestId, to } = attempt;
    const { workflow, lock, vault, history } = sight;
    const context: DecideContext = {
      principal,
      now: clock.now(),
      registry,
      confirmationSecret: secrets(principal.tenant).confirmation,
      sinks: parts.sinks,
      fresh: freshFrom(random),
      ...(keyed !== undefined && { keyed }),
      ...(requestId !== undefined && { requestId }),
    };
    if (command.type === 'start_workflow') {
      return decideStart({ lock, holding: workflow }, command, context);
    }
    assert(workflow !== undefined, 'a command on a workflow has it');
    if (workflow.frozen !== undefined) {
      throw new Fault('terminal', 'CHAIN_BROKEN', workflow.frozen.what);
    }
    const procedure = procedureOf(registry, workflow);
    return decide({ workflow, procedure, vault, lock, to, history }, command, context);
  };

  const commit = async (
    attempt: Attempt,
    { plan, receipt }: Extract<Decision, { kind: 'commit' }>,
  ): Promise<Outcome | Again> => {
    const after = aggregateAfter(plan);
    const transaction = compilePlan(plan);
    inTime(clock, attempt.deadlineMs);
    const result = await store.commit(transaction, attempt.deadlineMs);
    if (result.ok) {
      memory.remember(after);
      const workflow = viewOf(after, procedureOf(registry, after));
      return { code: 'OK', duplicate: false, receipt, workflow };
    }
    memory.forget(after.tenant, after.id);
    if (lostItsLock(plan, result)) {
      await hurry(after.tenant, after.id);
      throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'the workflow has lost its lock');
    }
    return reasons(attempt, result);
  };

  /** The next sweep looks at a workflow that was found to have drifted; failing that, a later one. */
  const hurry = async (tenant: string, id: string): Promise<void> => {
    const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id }]);
    if (workflow === undefined) return;
    const now = clock.now();
    await store.keep(dueNext(workflow, now), now + HURRY_MS);
  };

  /** Reads why a commit was refused, in order of precedence: ledger, others, lock, version, event. */
  const reasons = async (
    { command, keyed }: Attempt,
    { failed, contended }: Refused,
  ): Promise<Outcome | Again> => {
    const of = (kind: ItemKind): FailedCondition | undefined =>
      failed.find(({ key }) => key.kind === kind);
    const row = of('ledger');
    if (row !== undefined && keyed !== undefined) {
      const answer = await repeats.fromLedger(keyed, row.item as LedgerRow | undefined);
      return answer ?? { pause: true };
    }
    if (contended === true) return { pause: true };
    if (of('lock') !== undefined) return { pause: false };
    const version = of('workflow');
    if (version?.item !== undefined && command.type !== 'start_workflow') {
      const workflow = version.item as Workflow;
      memory.remember(workflow);
      if (looker.needsMore(workflow, command)) return { pause: false };
      return { pause: false, sight: remembered(workflow) };
    }
    if (version === undefined && of('event') !== undefined) {
      throw new Fault('retryable', 'CHAIN_TORN', 'an event lies beyond the head of its chain');
    }
    return { pause: true };
  };

  return { execute };
}

/** Whether the lock that a workflow ought to hold is not its own, while its state is as it was read. */
function lostItsLock(plan: CommitPlan, { failed, contended }: Refused): boolean {
  const held = plan.locks.some(({ op }) => op === 'release' || op === 'hand_over');
  return held && contended !== true && failed.every(({ key }) => key.kind === 'lock');
}

/** How long bookkeeping of a command may take. */
const HURRY_MS = 1_000;

/** Randomness for one decision, drawn when it is first looked at: most decisions need none. */
function freshFrom(random: Random): DecideContext['fresh'] {
  let workflow: string | undefined;
  let vaultKey: string | undefined;
  return {
    get workflow() {
      return (workflow ??= random.id());
    },
    get vaultKey() {
      return (vaultKey ??= random.key());
    },
  };
}
