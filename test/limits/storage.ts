// Limits of every backend. `test/contract/storage/limits.ts` holds each adapter to the same figures.
import { GetCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createSender } from '../../lib/adapters/dynamodb/send.ts';
import { checkTransaction } from '../../lib/core/check-transaction.ts';
import { keyBytes, storedBytes } from '../../lib/core/keys.ts';
import type { Slot, VaultRow, Workflow } from '../../lib/core/model/workflow.ts';
import { compilePlan } from '../../lib/core/plan.ts';
import type { ItemKey, Write } from '../../lib/core/ports/storage.ts';
import { create, createWorkflow, workflowKey } from '../contract/storage/bench.ts';
import { testClock, testRandom } from '../support/harness.ts';
import { startPlan, workflowOf } from '../support/plans.ts';
import { goes, type Case } from './case.ts';
import { openStore } from './stores.ts';

const tenant = 't';
const vaultKey = (seq: number) => ({ kind: 'vault', tenant, workflow: 'w1', seq }) as const;

/** A vault row of exactly so many bytes. */
function vaultRow(seq: number, bytes: number): Write {
  const { kind: _kind, ...names } = vaultKey(seq);
  const row = (value: string): VaultRow => ({ format: 1, ...names, key: 'k', value });
  const spent = storedBytes(vaultKey(seq), row(''));
  return create(vaultKey(seq), row('x'.repeat(bytes - spent)));
}

const taken = (writes: readonly Write[]): boolean => goes(() => checkTransaction(writes));

/** Whether a list takes a page of so many. */
const listed = async (
  list: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>,
): Promise<boolean> => {
  const store = await openStore();
  return list(store).then(
    () => true,
    () => false,
  );
};

/** The cases. */
export const STORAGE = {
  conflictTries: async (sends) => {
    let sent = 0;
    const client = {
      send: () => {
        sent += 1;
        const conflict = { name: 'TransactionConflictException', $metadata: {} };
        return sent < sends ? Promise.reject(conflict as unknown as Error) : Promise.resolve({});
      },
    } as unknown as DynamoDBDocumentClient;
    const parts = { client, clock: testClock(), random: testRandom(), ownTimeoutMs: 1_000_000 };
    const sender = createSender(parts);
    const call = sender.read((send) => send(new GetCommand({ TableName: 't', Key: {} })));
    return call.then(
      () => true,
      () => false,
    );
  },
  itemBytes: (bytes) => taken([vaultRow(1, bytes)]),
  transactionItems: (count) =>
    taken(Array.from({ length: count }, (_, n) => createWorkflow({ tenant, id: `w${n}` }))),
  transactionBytes: (bytes) => {
    const share = Math.floor(bytes / 11);
    return taken(
      Array.from({ length: 11 }, (_, n) => vaultRow(n + 1, n === 0 ? bytes - 10 * share : share)),
    );
  },
  partitionKeyBytes: (bytes) => {
    const spent = keyBytes(workflowKey(tenant, '')).partition;
    return taken([createWorkflow({ tenant, id: 'x'.repeat(bytes - spent) })]);
  },
  sortKeyBytes: (bytes) => {
    const key = (lane: string) =>
      ({ kind: 'outbox', tenant, workflow: 'w1', lane, seq: 1 }) as const satisfies ItemKey;
    const { kind: _kind, ...names } = key('x'.repeat(bytes - keyBytes(key('')).sort));
    const rest = { format: 1, id: 'o1', payload: {}, rev: 0, attempts: 0, due_at: 0 };
    return taken([create({ kind: 'outbox', ...names }, { ...names, ...rest })]);
  },
  stateBytes: (bytes) => {
    const { workflow } = workflowOf({ tenant });
    const { created_at: at } = workflow;
    const state = (value: string): Workflow => {
      const slot: Slot = { seq: 1, basis: 0, status: 'done', by: 'dev:ana', at, value };
      return { ...workflow, steps: { one: slot } };
    };
    const key = workflowKey(tenant);
    const spent = storedBytes(key, state('')) - storedBytes(key, {});
    const filled = state('x'.repeat(bytes - spent - 3));
    const aggregate = { op: 'create', state: filled } as const;
    return goes(() => compilePlan(startPlan({ tenant }, { aggregate })));
  },
  pageItems: (limit) =>
    listed((store) =>
      Promise.all([
        store.listEvents(tenant, 'w1', { after: 0, limit }),
        store.listVault(tenant, 'w1', { after: 0, limit }),
        store.listWorkflows(tenant, 'CREATED', { limit }),
        store.listLocks(tenant, { limit }),
        store.scanTrails({ limit }),
      ]),
    ),
  listedAssets: (limit) => listed((store) => store.listAssets(tenant, limit)),
  countedWorkflows: (most) =>
    listed((store) =>
      Promise.all([
        store.countWorkflows(tenant, 'CREATED', most),
        store.countRuns(tenant, 'created', most),
      ]),
    ),
} as const satisfies { readonly [name: string]: Case };
