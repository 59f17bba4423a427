// The lanes that a batch of the table's stream names, each once. Reads keys and nothing else.
// Source: Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB", example event.
import type { Lane } from '../core/dispatch/row.ts';

/** Gives the lane of an outbox row by its keys in wire form, or undefined for anything else. */
export type LaneOf = (keys: unknown) => Lane | undefined;

/** The lanes of a batch in the order of their first record, and how many records named none. */
export interface StreamLanes {
  readonly lanes: readonly Lane[];
  readonly foreign: number;
}

/** Reads a batch. Whatever the function was invoked with, nothing is thrown. */
export function lanesOf(event: unknown, laneOf: LaneOf): StreamLanes {
  const { Records: records } = (event ?? {}) as { readonly Records?: unknown };
  if (!Array.isArray(records)) return { lanes: [], foreign: 1 };
  const lanes = new Map<string, Lane>();
  let foreign = 0;
  for (const record of records as readonly unknown[]) {
    const { dynamodb } = (record ?? {}) as { readonly dynamodb?: { readonly Keys?: unknown } };
    const lane = laneOf(dynamodb?.Keys);
    if (lane === undefined) foreign += 1;
    else lanes.set(JSON.stringify([lane.tenant, lane.workflow, lane.lane]), lane);
  }
  return { lanes: [...lanes.values()], foreign };
}
