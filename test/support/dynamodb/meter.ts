/**
 * Counts what goes over the wire of a client: calls, items of transactions, bytes of requests and the
 * capacity that the engine says was used, each as the service would bill it.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** One call as it was sent. */
export interface MeteredCall {
  readonly operation: string;
  /** Items of a transaction or a batch; 1 for every other call. */
  readonly items: number;
  /** Bytes of the request's body. */
  readonly bytes: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** Counts the calls of a client. */
export interface Meter {
  /** The calls since the last time. */
  take(): readonly MeteredCall[];
}

interface Capacity {
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly CapacityUnits?: number;
}

const WRITES = new Set(['TransactWriteItems', 'PutItem', 'UpdateItem', 'DeleteItem']);

/** Whether a call writes. */
export const isWrite = ({ operation }: Pick<MeteredCall, 'operation'>): boolean =>
  WRITES.has(operation);

const NOTHING: MeteredCall = { operation: '', items: 0, bytes: 0, readUnits: 0, writeUnits: 0 };

/** Puts a meter on a client. */
export function meterOf(client: DynamoDBDocumentClient): Meter {
  let calls: MeteredCall[] = [];
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = { ...args.input, ReturnConsumedCapacity: 'INDEXES' };
      const { commandName = '' } = context as { readonly commandName?: string };
      const operation = commandName.replace(/Command$/u, '');
      let bytes = 0;
      const inner = context as { noteBytes?: (count: number) => void };
      inner.noteBytes = (count) => {
        bytes = count;
      };
      // In the order in which they begin, because some are under way together.
      const place = calls.push(NOTHING) - 1;
      const into = calls;
      const note = (consumed: number): void => {
        const writes = isWrite({ operation });
        into[place] = {
          operation,
          items: itemsOf(args.input),
          bytes,
          readUnits: writes ? 0 : consumed,
          writeUnits: writes ? consumed : 0,
        };
      };
      try {
        const result = await next({ ...args, input });
        note(capacityOf(result.output));
        return result;
      } catch (error) {
        note(0);
        throw error;
      }
    },
    { step: 'initialize', priority: 'low', name: 'meter' },
  );
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const { body } = args.request as { readonly body?: Uint8Array };
      const inner = context as { noteBytes?: (count: number) => void };
      inner.noteBytes?.(body?.byteLength ?? 0);
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'meterBytes' },
  );
  return {
    take: () => {
      const taken = calls;
      calls = [];
      return taken;
    },
  };
}

function capacityOf(output: object): number {
  const { ConsumedCapacity } = output as { readonly ConsumedCapacity?: Capacity | Capacity[] };
  const all = ConsumedCapacity === undefined ? [] : [ConsumedCapacity].flat();
  return all.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}

function itemsOf(input: object): number {
  const { TransactItems, RequestItems } = input as {
    readonly TransactItems?: readonly unknown[];
    readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly unknown[] }>>;
  };
  if (TransactItems !== undefined) return TransactItems.length;
  const batches = Object.values(RequestItems ?? {});
  return batches.length === 0 ? 1 : batches.reduce((sum, { Keys = [] }) => sum + Keys.length, 0);
}
