// Executes commands: load, decide, commit, read the reasons of a refusal, again.
// Invariants kept here: I2 (a repeat gets the first receipt), I6 (a fault never changes a state),
// I8 (every key starts with the principal's tenant). A refusal is never given from memory.
import { refusalFor } from './authorize.ts';
import type { DecideContext, Decision } from './decide/decision.ts';
import { receiptOf } from './decide/decision.ts';
import { decide } from './decide/decide.ts';
import { decideStart } from './decide/start.ts';
import { eventBody } from './events.ts';
import { Fault, isFault } from './fault.ts';
import { keyText } from './keys.ts';
import {
  compareWithLedger,
  keyedCommand,
  ledgerRow,
  ledgerRowIsValid,
  type KeyedCommand,
} from './ledger.ts';
import { LIMITS } from './limits.ts';
import type { Command, StartWorkflow, WorkflowCommand } from './model/commands.ts';
import type { Principal } from './model/principal.ts';
import type { Procedure } from './model/procedure.ts';
import type { LedgerRow, Lock, Profile, Receipt, VaultRow, Workflow } from './model/workflow.ts';
import { canonicalAsset } from './names.ts';
import type { Outcome, Refusal } from './outcome.ts';
import { aggregateAfter, compilePlan, rememberKey } from './plan.ts';
import type { Clock, Random } from './ports/runtime.ts';
import type { FailedCondition, ItemKey, StorageBackend } from './ports/storage.ts';
import { stepOf, type ProcedureRegistry } from './procedures.ts';
import { activeChoices, resolvePerson } from './queries.ts';
import type { TenantSecrets } from './secrets.ts';
import { viewOf } from './view.ts';

/** What the service is made of. */
export interface ServiceParts {
  readonly store: StorageBackend;
  readonly registry: ProcedureRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: (tenant: string) => TenantSecrets;
  readonly sinks: readonly string[];
  /** Told of every fault that is answered `BACKEND_UNAVAILABLE`, for logs and metrics. */
  readonly onFault?: (fault: Fault, operation: string) => void;
}

/** The command side of Checkpoint. */
export interface Service {
  /**
   * Executes one command for a principal. `deadlineMs` is in epoch milliseconds: nothing is sent to
   * the store after it. Never throws for operational faults: they are `BACKEND_UNAVAILABLE`.
   */
  execute(principal: Principal, command: Command, deadlineMs: number): Promise<Outcome>;
}

/** What one attempt looks at; `fresh` when it was read in one snapshot for this command. */
interface Sight {
  readonly fresh: boolean;
  readonly ledger: LedgerRow | undefined;
  readonly workflow: Workflow | undefined;
  readonly lock: Lock | undefined;
  readonly vault: VaultRow | undefined;
}

interface Attempt {
  readonly principal: Principal;
  readonly command: Command;
  readonly keyed: KeyedCommand | undefined;
  readonly deadlineMs: number;
  readonly to: Profile | undefined;
}

/** How many aggregates a process remembers. */
const REMEMBERED = 1_000;

/** Builds the service. */
export function createService(parts: ServiceParts): Service {
  const { store, registry, clock, random, secrets } = parts;
  const remembered = new Map<string, Workflow>();
  const cacheKey = (tenant: string, id: string): string =>
    keyText({ kind: 'workflow', tenant, id });
  const remember = (workflow: Workflow): void => {
    const key = cacheKey(workflow.tenant, workflow.id);
    remembered.delete(key);
    remembered.set(key, workflow);
    const oldest = remembered.keys().next();
    if (remembered.size > REMEMBERED && oldest.done !== true) remembered.delete(oldest.value);
  };

  const execute = async (
    principal: Principal,
    command: Command,
    deadlineMs: number,
  ): Promise<Outcome> => {
    const forbidden = refusalFor(principal, command.type);
    if (forbidden !== undefined) return forbidden;
    try {
      return await attempts(principal, command, deadlineMs);
    } catch (error) {
      if (!isFault(error) || error.code === 'PLAN_REFUSED') throw error;
      if (error.code === 'STATE_TOO_LARGE') {
        return { code: 'LIMIT_REACHED', limit: 'stateBytes', max: LIMITS.stateBytes.max };
      }
      parts.onFault?.(error, command.type);
      if (command.type !== 'start_workflow' && command.workflow !== undefined) {
        remembered.delete(cacheKey(principal.tenant, command.workflow));
      }
      return { code: 'BACKEND_UNAVAILABLE', retryAfterMs: 1_000 };
    }
  };

  const attempts = async (
    principal: Principal,
    command: Command,
    deadlineMs: number,
  ): Promise<Outcome> => {
    if (clock.now() >= deadlineMs) {
      throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'the deadline passed before the start');
    }
    const keyed = keyedCommand(secrets(principal.tenant).ledger, principal, command);
    if (command.type !== 'start_workflow' && command.workflow === undefined) {
      return bare(principal, keyed);
    }
    let to: Profile | undefined;
    if (command.type === 'hand_over') {
      const person = await resolvePerson(store, principal.tenant, command.to);
      if (!('subject' in person)) return person;
      to = person;
    }
    const attempt: Attempt = { principal, command, keyed, deadlineMs, to };
    let sight = await firstSight(attempt);
    for (let n = 1; n <= LIMITS.commandAttempts.max; n++) {
      if (clock.now() >= deadlineMs) break;
      const result = await once(attempt, sight);
      if ('code' in result) return result;
      if (result.pause) await pause(n, deadlineMs);
      sight = result.sight ?? (await look(attempt));
    }
    throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded in time');
  };

  /** A writing command that names no workflow: replay by key, or the candidates to confirm. */
  const bare = async (principal: Principal, keyed: KeyedCommand | undefined): Promise<Outcome> => {
    if (keyed !== undefined) {
      const [row] = await store.snapshot([ledgerKey(keyed)]);
      const answer = await fromLedger(principal, keyed, row);
      if (answer !== undefined) return answer;
    }
    return activeChoices(store, registry, principal);
  };

  const firstSight = async (attempt: Attempt): Promise<Sight> => {
    const { command, principal } = attempt;
    if (command.type === 'start_workflow') return look(attempt);
    const workflow = remembered.get(cacheKey(principal.tenant, command.workflow ?? ''));
    if (workflow === undefined || concernsVault(workflow, command)) return look(attempt);
    return { fresh: false, ledger: undefined, workflow, lock: undefined, vault: undefined };
  };

  const concernsVault = (workflow: Workflow, command: WorkflowCommand): boolean => {
    if (command.type !== 'record_step' && command.type !== 'correct_step') return false;
    return workflow.steps[command.step] !== undefined && isSensitive(workflow, command.step);
  };

  const isSensitive = (workflow: Workflow, id: string): boolean => {
    const step = stepOf(procedureOf(workflow), id);
    return step?.kind === 'text' && step.sensitive;
  };

  const procedureOf = (workflow: Workflow): Procedure => {
    const { procedure, procedure_version: version } = workflow;
    const found = registry.find(procedure, version);
    if (found !== undefined) return found;
    throw new Fault(
      'retryable',
      'PROCEDURE_VERSION_MISSING',
      `this process does not know ${procedure}@${version}`,
    );
  };

  /** Reads what the command looks at, as of one moment. */
  const look = async (attempt: Attempt): Promise<Sight> => {
    const { command, principal, keyed } = attempt;
    const ledgerKeys = keyed === undefined ? [] : [ledgerKey(keyed)];
    if (command.type === 'start_workflow') return lookAtAsset(principal, command, keyed);
    const workflowKey: ItemKey = {
      kind: 'workflow',
      tenant: principal.tenant,
      id: command.workflow ?? '',
    };
    const [item, ledger] = await store.snapshot([workflowKey, ...ledgerKeys]);
    const workflow = item as Workflow | undefined;
    const sight: Sight = {
      fresh: true,
      ledger: ledger as LedgerRow | undefined,
      workflow,
      lock: undefined,
      vault: undefined,
    };
    if (workflow === undefined) return sight;
    remember(workflow);
    if (!concernsVault(workflow, command) || !('step' in command)) return sight;
    return lookAtVault(sight, workflow, command.step, ledgerKeys);
  };

  /** The value that a step's slot points to, together with the state that points to it. */
  const lookAtVault = async (
    sight: Sight,
    seen: Workflow,
    step: string,
    ledgerKeys: readonly ItemKey[],
  ): Promise<Sight> => {
    const { tenant, id } = seen;
    const [again, vault, ledger] = await store.snapshot([
      { kind: 'workflow', tenant, id },
      { kind: 'vault', tenant, workflow: id, seq: seen.steps[step]?.seq ?? 0 },
      ...ledgerKeys,
    ]);
    const workflow = again as Workflow | undefined;
    if (workflow !== undefined) remember(workflow);
    const current = workflow?.steps[step]?.seq === seen.steps[step]?.seq;
    return {
      ...sight,
      fresh: current,
      workflow,
      ledger: ledger as LedgerRow | undefined,
      vault: current ? (vault as VaultRow | undefined) : undefined,
    };
  };

  const lookAtAsset = async (
    { tenant }: Principal,
    command: StartWorkflow,
    keyed: KeyedCommand | undefined,
  ): Promise<Sight> => {
    const lockKey: ItemKey = { kind: 'lock', tenant, asset: canonicalAsset(command.asset) };
    const ledgerKeys = keyed === undefined ? [] : [ledgerKey(keyed)];
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
    const moved = now?.workflow !== lock.workflow;
    return {
      fresh: !moved,
      ledger: rowAgain as LedgerRow | undefined,
      workflow: moved ? undefined : (holding as Workflow | undefined),
      lock: now,
      vault: undefined,
    };
  };

  /** One round of decide and commit: an answer, or what to look at next. */
  const once = async (
    attempt: Attempt,
    sight: Sight,
  ): Promise<Outcome | { readonly pause: boolean; readonly sight?: Sight }> => {
    const { principal, command, keyed } = attempt;
    if (keyed !== undefined) {
      const answer = await fromLedger(principal, keyed, sight.ledger);
      if (answer !== undefined) return answer;
    }
    if (command.type !== 'start_workflow' && sight.workflow === undefined) {
      const name = command.workflow ?? '';
      return sight.fresh ? { code: 'NOT_FOUND', what: 'workflow', name } : { pause: false };
    }
    const decision = decideAt(attempt, sight);
    if (decision.kind === 'commit') return commit(attempt, decision);
    if (!sight.fresh) return { pause: false };
    return conclude(attempt, sight, decision);
  };

  const decideAt = (attempt: Attempt, sight: Sight): Decision => {
    const { principal, command, keyed } = attempt;
    const context: DecideContext = {
      principal,
      now: clock.now(),
      registry,
      confirmationSecret: secrets(principal.tenant).confirmation,
      sinks: parts.sinks,
      fresh: { workflow: random.id(), vaultKey: random.key() },
      ...(keyed !== undefined && { keyed }),
    };
    if (command.type === 'start_workflow') {
      return decideStart({ lock: sight.lock, holding: sight.workflow }, command, context);
    }
    const workflow = sight.workflow as Workflow;
    const procedure = procedureOf(workflow);
    return decide({ workflow, procedure, vault: sight.vault, to: attempt.to }, command, context);
  };

  const commit = async (
    attempt: Attempt,
    decision: Extract<Decision, { kind: 'commit' }>,
  ): Promise<Outcome | { readonly pause: boolean; readonly sight?: Sight }> => {
    const { plan, receipt } = decision;
    const after = aggregateAfter(plan);
    const transaction = compilePlan(plan);
    if (clock.now() >= attempt.deadlineMs) return { pause: false };
    const result = await store.commit(transaction, attempt.deadlineMs);
    if (result.ok) {
      remember(after);
      const workflow = viewOf(after, procedureOf(after));
      return { code: 'OK', duplicate: false, receipt, workflow };
    }
    remembered.delete(cacheKey(after.tenant, after.id));
    return readReasons(attempt, result.failed);
  };

  /** Reads why a commit was refused, in the order of the design. */
  const readReasons = async (
    { principal, command, keyed }: Attempt,
    failed: readonly FailedCondition[],
  ): Promise<Outcome | { readonly pause: boolean; readonly sight?: Sight }> => {
    const of = (kind: ItemKey['kind']): FailedCondition | undefined =>
      failed.find(({ key }) => key.kind === kind);
    const row = of('ledger');
    if (row !== undefined && keyed !== undefined) {
      const answer = await fromLedger(principal, keyed, row.item as LedgerRow | undefined);
      return answer ?? { pause: true };
    }
    if (of('lock') !== undefined) return { pause: false };
    const version = of('workflow');
    if (version?.item !== undefined && command.type !== 'start_workflow') {
      const workflow = version.item as Workflow;
      remember(workflow);
      if (concernsVault(workflow, command)) return { pause: false };
      const known = { ledger: undefined, lock: undefined, vault: undefined };
      return { pause: false, sight: { ...known, fresh: false, workflow } };
    }
    if (version === undefined && of('event') !== undefined) {
      throw new Fault('retryable', 'CHAIN_TORN', 'an event lies beyond the head of its chain');
    }
    return { pause: true };
  };

  /** A key that did something: the same command is a replay, another one a conflict. */
  const fromLedger = async (
    principal: Principal,
    keyed: KeyedCommand,
    row: LedgerRow | undefined,
  ): Promise<Outcome | undefined> => {
    if (row === undefined || !ledgerRowIsValid(row, clock.now())) return undefined;
    const compared = compareWithLedger(row, keyed);
    if (compared.same) return replay(principal.tenant, row.receipt);
    const { operation } = row;
    return { code: 'IDEMPOTENCY_CONFLICT', operation, fields: compared.fields };
  };

  const replay = async (tenant: string, receipt: Receipt): Promise<Outcome> => {
    const [item] = await store.snapshot([{ kind: 'workflow', tenant, id: receipt.workflow }]);
    if (item === undefined) {
      throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'a receipt names a missing workflow');
    }
    const workflow = viewOf(item, procedureOf(item));
    return { code: 'OK', duplicate: true, receipt, workflow };
  };

  /** Turns a decision that writes nothing into an answer, from a snapshot. */
  const conclude = async (
    attempt: Attempt,
    sight: Sight,
    decision: Exclude<Decision, { kind: 'commit' }>,
  ): Promise<Outcome> => {
    if (decision.kind === 'refuse') return decision.outcome;
    const workflow = sight.workflow as Workflow;
    const { tenant } = attempt.principal;
    if (decision.kind === 'duplicate') {
      const [event] = await store.listEvents(tenant, workflow.id, {
        after: decision.seq - 1,
        limit: 1,
      });
      if (event?.seq !== decision.seq) {
        throw new Fault('retryable', 'CHAIN_TORN', 'the event of a receipt is missing');
      }
      return answer(attempt, workflow, receiptOf(eventBody(event)));
    }
    const found = await search(workflow, decision);
    return found === undefined ? decision.otherwise : answer(attempt, workflow, found);
  };

  /**
   * Answers a repeat that the state recognised. Its key is remembered: a late delivery of the same
   * command must get this answer too, when the state has moved on and could no longer tell.
   */
  const answer = async (
    { principal, keyed, deadlineMs }: Attempt,
    workflow: Workflow,
    receipt: Receipt,
  ): Promise<Outcome> => {
    if (keyed !== undefined) {
      const row = ledgerRow(keyed, receipt, clock.now());
      const result = await store.commit(rememberKey(row, clock.now()), deadlineMs);
      const [failed] = result.ok ? [] : result.failed;
      const other = failed?.item as LedgerRow | undefined;
      const answered = await fromLedger(principal, keyed, other);
      if (answered !== undefined) return answered;
    }
    return {
      code: 'OK',
      duplicate: true,
      receipt,
      workflow: viewOf(workflow, procedureOf(workflow)),
    };
  };

  const search = async (
    workflow: Workflow,
    { after, matches }: Extract<Decision, { kind: 'search' }>,
  ): Promise<Receipt | undefined> => {
    const { tenant, id } = workflow;
    let from = after;
    for (;;) {
      const page = await store.listEvents(tenant, id, { after: from, limit: LIMITS.pageItems.max });
      for (const event of page) {
        const body = eventBody(event);
        // A confirmation by a second person commits to the value of the record it confirms.
        const seq = Number(body.data['confirms'] ?? event.seq);
        const [vault] =
          body.data['commitment'] === undefined
            ? []
            : await store.snapshot([{ kind: 'vault', tenant, workflow: id, seq }]);
        if (matches(body, vault)) return receiptOf(body);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < LIMITS.pageItems.max) return undefined;
      from = last.seq;
    }
  };

  const pause = async (n: number, deadlineMs: number): Promise<void> => {
    const most = Math.min(10 * 2 ** n, 250, Math.max(0, deadlineMs - clock.now()));
    await clock.sleep(random.fraction() * most);
  };

  return { execute };
}

const ledgerKey = (keyed: KeyedCommand): { kind: 'ledger'; tenant: string; key: string } => ({
  kind: 'ledger',
  tenant: keyed.tenant,
  key: keyed.key,
});

/** Whether an outcome wrote nothing. */
export function isRefusal(outcome: Outcome): outcome is Refusal {
  return outcome.code !== 'OK';
}
