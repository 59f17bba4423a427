// A new run: its work is started by the row that its creation writes. Pure.
import { sha256Hex } from '../canonical.ts';
import { appendEvent, GENESIS } from '../events.ts';
import type { InputFault } from '../input-fault.ts';
import { hashedKey, keyedOperation, ledgerRow, type KeyedCommand } from '../ledger.ts';
import { LIMITS } from '../limits.ts';
import { runIdFrom } from '../model/aggregate.ts';
import { actorOf, type Principal } from '../model/principal.ts';
import type { Run, RunReceipt } from '../model/run.ts';
import { FORMAT } from '../model/workflow.ts';
import { isBlank } from '../names.ts';
import { requested } from '../decide/appended.ts';
import type { CreateRun } from './commands.ts';
import { startRow, timesFor, type RunContext } from './change.ts';
import { refused, type RunDecision } from './decision.ts';
import { RUN } from './timing.ts';

/**
 * What a creation is known by: its key, or else subject, service and symptom, which attach a repeat to
 * the run that was created less than ten minutes ago.
 */
export function creationKey(
  secret: string,
  principal: Principal,
  { service, symptom, key }: CreateRun,
): KeyedCommand {
  const { tenant, subject } = principal;
  const hashed =
    key === undefined
      ? sha256Hex(JSON.stringify([subject, 'create_run', service, symptom]))
      : hashedKey(principal, key);
  return keyedOperation(secret, tenant, hashed, 'create_run', { service, symptom });
}

/** Decides on a creation that is no repeat. `random` is a fresh random id. */
export function decideCreate(
  command: CreateRun,
  context: RunContext & { readonly keyed: KeyedCommand },
  random: string,
): RunDecision {
  const faults = [
    ...textFaults('/service', command.service, LIMITS.serviceChars.max),
    ...textFaults('/symptom', command.symptom, LIMITS.symptomChars.max),
  ];
  if (faults.length > 0) return refused({ code: 'INVALID_ARGUMENT', faults });
  const { principal, now, keyed } = context;
  const { tenant, subject, name } = principal;
  const { service, symptom } = command;
  const id = runIdFrom(random);
  const at = new Date(now).toISOString();
  const answer = { command: 'create_run', result: 'created' } as const;
  const { event, head } = appendEvent(
    { tenant, workflow: id, head: { seq: 0, hash: GENESIS } },
    {
      type: 'run_created',
      at,
      actor: actorOf(principal),
      data: { ...answer, service, symptom, attempt: 1, ...requested(context) },
    },
  );
  const state: Run = {
    format: FORMAT,
    tenant,
    id,
    version: 1,
    state: 'created',
    service,
    symptom,
    requester: { subject, name },
    people: [subject],
    attempt: 1,
    observations: 0,
    evidence: [],
    head_seq: head.seq,
    head_hash: head.hash,
    created_at: at,
    updated_at: at,
    ...timesFor({ state: 'created' }, now),
  };
  const receipt: RunReceipt = { ...answer, run: id, seq: head.seq, at };
  const lifeMs = command.key === undefined ? RUN.attachMs : undefined;
  return {
    kind: 'commit',
    receipt,
    plan: {
      now,
      aggregate: { op: 'create', state },
      events: [event],
      ledger: ledgerRow(keyed, receipt, now, lifeMs),
      evidence: [],
      outbox: [startRow(state, head, now)],
    },
  };
}

function textFaults(path: string, text: string, max: number): readonly InputFault[] {
  if (isBlank(text)) return [{ path, message: 'expected a text that is not empty' }];
  if ([...text].length > max) return [{ path, message: `expected at most ${max} characters` }];
  return text.isWellFormed() ? [] : [{ path, message: 'expected Unicode text' }];
}
