// Answers to repeats: from the ledger by key, from the state and the trail without one (I2).
import { receiptOf, type Decision } from '../decide/decision.ts';
import { eventBody } from '../events.ts';
import { assert, Fault } from '../fault.ts';
import { compareWithLedger, ledgerRow, ledgerRowIsValid, type KeyedCommand } from '../ledger.ts';
import { LIMITS } from '../limits.ts';
import type { EventBody, LedgerRow, Receipt, VaultRow, Workflow } from '../model/workflow.ts';
import type { Outcome } from '../outcome.ts';
import { rememberKey } from '../plan.ts';
import type { Clock } from '../ports/runtime.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { ProcedureRegistry } from '../procedures.ts';
import { viewOf } from '../view.ts';
import type { Attempt } from './attempt.ts';
import { trailOf } from './trail.ts';
import { procedureOf } from '../procedure-of.ts';

/** Recognises and answers repeats. */
export interface Repeats {
  /**
   * A key that did something: the same command is a replay, another one a conflict. `seen` is the
   * workflow as of the same moment as the row, where it was read with it.
   */
  fromLedger(
    keyed: KeyedCommand,
    row: LedgerRow | undefined,
    seen?: Workflow,
  ): Promise<Outcome | undefined>;
  /** The command took effect before, as the event with this sequence. */
  duplicate(attempt: Attempt, workflow: Workflow, seq: number): Promise<Outcome>;
  /** The command's own effect on an occasion that is over, or undefined where there is none. */
  search(
    attempt: Attempt,
    workflow: Workflow,
    decision: Extract<Decision, { kind: 'search' }>,
  ): Promise<Outcome | undefined>;
}

/** Builds the answers to repeats. */
export function createRepeats(
  store: StorageBackend,
  registry: ProcedureRegistry,
  clock: Clock,
): Repeats {
  const told = (workflow: Workflow, receipt: Receipt): Outcome => ({
    code: 'OK',
    duplicate: true,
    receipt,
    workflow: viewOf(workflow, procedureOf(registry, workflow)),
  });

  const fromLedger: Repeats['fromLedger'] = async (keyed, row, seen) => {
    if (row === undefined || !ledgerRowIsValid(row, clock.now())) return undefined;
    const compared = compareWithLedger(row, keyed);
    if (!compared.same) {
      return { code: 'IDEMPOTENCY_CONFLICT', operation: row.operation, fields: compared.fields };
    }
    const { receipt } = row;
    assert(!('operation' in receipt) && 'workflow' in receipt, 'a command has its receipt');
    if (seen?.id === receipt.workflow) return told(seen, receipt);
    const key = { kind: 'workflow', tenant: keyed.tenant, id: receipt.workflow } as const;
    const [workflow] = await store.snapshot([key]);
    if (workflow !== undefined) return told(workflow, receipt);
    throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'a receipt names a missing workflow');
  };

  /**
   * Answers a repeat that the state recognised. Its key is remembered: a late delivery of the same
   * command must get this answer too, when the state has moved on and could no longer tell.
   */
  const recognised = async (
    { keyed, deadlineMs }: Attempt,
    workflow: Workflow,
    receipt: Receipt,
  ): Promise<Outcome> => {
    if (keyed === undefined) return told(workflow, receipt);
    for (let n = 1; n <= LIMITS.commandAttempts.max && clock.now() < deadlineMs; n++) {
      const now = clock.now();
      const remembering = rememberKey(ledgerRow(keyed, receipt, now), now);
      const result = await store.commit(remembering, deadlineMs);
      if (result.ok) return told(workflow, receipt);
      const [failed] = result.failed;
      const answered = await fromLedger(keyed, failed?.item as LedgerRow | undefined);
      if (answered !== undefined) return answered;
      // Another delivery is writing this very key: what it does there is the answer.
      await clock.sleep(10 * n);
    }
    throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'others were writing the same key');
  };

  /** The value an event commits to. */
  const committed = async (
    { tenant, id }: Workflow,
    { seq, data }: EventBody,
  ): Promise<VaultRow | undefined> => {
    if (data['commitment'] === undefined) return undefined;
    const [vault] = await store.snapshot([{ kind: 'vault', tenant, workflow: id, seq }]);
    return vault;
  };

  return {
    fromLedger,
    duplicate: async (attempt, workflow, seq) => {
      const { tenant, id } = workflow;
      const [event] = await store.listEvents(tenant, id, { after: seq - 1, limit: 1 });
      if (event?.seq !== seq) {
        throw new Fault('retryable', 'CHAIN_TORN', 'the event of a receipt is missing');
      }
      return recognised(attempt, workflow, receiptOf(eventBody(event)));
    },
    search: async (attempt, workflow, { after, matches, holds = () => true }) => {
      const { deadlineMs } = attempt;
      for await (const body of trailOf({ store, clock, deadlineMs }, workflow, after)) {
        if (matches(body) && holds(body, await committed(workflow, body))) {
          return recognised(attempt, workflow, receiptOf(body));
        }
      }
      return undefined;
    },
  };
}
