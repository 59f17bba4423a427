// Which kind of aggregate an id is of. Rows around an aggregate (events, outbox, evidence) carry its id
// in the attribute `workflow`, whatever its kind: the two kinds never share an id.

const RUN = 'run-';

/** The id of a run, from a fresh random id. */
export const runIdFrom = (random: string): string => `${RUN}${random}`;

/** Whether an id is a run's; any other is a workflow's. */
export const isRunId = (id: string): boolean => id.startsWith(RUN);

/** The key of the record of an aggregate. */
export function recordKey(tenant: string, id: string) {
  const kind = isRunId(id) ? 'run' : 'workflow';
  return { kind, tenant, id } as const;
}

/** What a record of either kind keeps of its trail. */
export interface Trailed {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  /** The last event of the chain. */
  readonly head_seq: number;
  readonly head_hash: string;
}
