// Carries out an erasure: reads the step's records, deletes their values and appends the event in one
// transaction, and has the backend forget them too. For the command line; no caller's token reaches it.
import { decideErase, type EraseStep } from './decide/erase.ts';
import { eventBody } from './events.ts';
import { Fault } from './fault.ts';
import { LIMITS } from './limits.ts';
import type { Principal } from './model/principal.ts';
import type { Workflow } from './model/workflow.ts';
import { compilePlan } from './plan.ts';
import type { Clock } from './ports/runtime.ts';
import type { StorageBackend } from './ports/storage.ts';

/** What became of an erasure. */
export type Erasure =
  | {
      readonly code: 'ERASED';
      /** Sequences of the records whose values are gone. */
      readonly records: readonly number[];
      /** False where the backend's own logs still hold them until nobody reads any more. */
      readonly purged: boolean;
    }
  | { readonly code: 'ALREADY_ERASED'; readonly purged: boolean }
  | { readonly code: 'NEVER_SENSITIVE' }
  | { readonly code: 'NOT_FOUND' };

/** What an erasure works with. */
export interface EraseParts {
  readonly store: StorageBackend;
  readonly clock: Clock;
}

/** The command line itself, as the actor of what it changes in a tenant. */
export function commandLine(tenant: string): Principal {
  const subject = 'system:cli';
  return { tenant, subject, name: subject, kind: 'service', scopes: new Set(), via: 'cli' };
}

/** Erases. `deadlineMs` is in epoch milliseconds. Throws faults of the store. */
export async function eraseStep(
  { store, clock }: EraseParts,
  principal: Principal,
  command: EraseStep,
  deadlineMs: number,
  requestId?: string,
): Promise<Erasure> {
  const { tenant } = principal;
  const context = { principal, ...(requestId !== undefined && { requestId }) };
  const records: number[] = [];
  for (let n = 1; n <= LIMITS.eventsPerWorkflow.max; n++) {
    const [workflow] = await store.snapshot([{ kind: 'workflow', tenant, id: command.workflow }]);
    if (workflow === undefined) return { code: 'NOT_FOUND' };
    const state = { workflow, records: await sensitiveRecords(store, workflow, command.step) };
    const decision = decideErase(state, command, { ...context, now: clock.now() });
    if (decision.kind === 'nothing') {
      if (decision.why === 'never_sensitive') return { code: 'NEVER_SENSITIVE' };
      // An erasure that was cut off after its commit is finished by repeating it.
      const purged = await store.purge();
      return records.length > 0
        ? { code: 'ERASED', records, purged }
        : { code: 'ALREADY_ERASED', purged };
    }
    const result = await store.commit(compilePlan(decision.plan), deadlineMs);
    if (result.ok) {
      records.push(...decision.records);
      if (!decision.more) return { code: 'ERASED', records, purged: await store.purge() };
    } else if (!result.failed.some(({ key }) => key.kind === 'workflow')) {
      throw new Fault('retryable', 'CHAIN_TORN', 'an event lies beyond the head of its chain');
    }
  }
  throw new Fault('retryable', 'DEADLINE_EXCEEDED', 'no attempt succeeded');
}

/** The records of a step that commit to a sensitive value, and whether the value is still there. */
async function sensitiveRecords(
  store: StorageBackend,
  { tenant, id, head_seq }: Workflow,
  step: string,
): Promise<readonly { readonly seq: number; readonly present: boolean }[]> {
  const records: { readonly seq: number; readonly present: boolean }[] = [];
  const limit = LIMITS.pageItems.max;
  for (let after = 0; after < head_seq;) {
    const page = await store.listEvents(tenant, id, { after, limit });
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
    const seqs = page
      .map(eventBody)
      // A second person's event commits to the record it confirms, which has the value.
      .filter(({ data }) => data['step'] === step && data['commitment'] !== undefined)
      .filter(({ seq, data }) => data['confirms'] === undefined && seq <= head_seq)
      .map(({ seq }) => seq);
    const rows = await store.snapshot(
      seqs.map((seq) => ({ kind: 'vault' as const, tenant, workflow: id, seq })),
    );
    seqs.forEach((seq, i) => records.push({ seq, present: rows[i] !== undefined }));
  }
  return records;
}
