// What one command carries through its attempts, and what one attempt looks at.
import type { History } from '../decide/history.ts';
import type { KeyedCommand } from '../ledger.ts';
import type { Command } from '../model/commands.ts';
import type { Principal } from '../model/principal.ts';
import type { LedgerRow, Lock, Profile, VaultRow, Workflow } from '../model/workflow.ts';

/** A command on its way. `deadlineMs` is in epoch milliseconds; nothing is sent after it. */
export interface Attempt {
  readonly principal: Principal;
  readonly command: Command;
  readonly keyed: KeyedCommand | undefined;
  readonly deadlineMs: number;
  readonly requestId: string | undefined;
  /** The receiver of a hand-over. */
  readonly to: Profile | undefined;
}

/** What an attempt decides on; `fresh` when all of it was read in one snapshot for this command. */
export interface Sight {
  readonly fresh: boolean;
  readonly ledger: LedgerRow | undefined;
  readonly workflow: Workflow | undefined;
  readonly lock: Lock | undefined;
  readonly vault: VaultRow | undefined;
  /** What the trail of the workflow tells, up to its head. */
  readonly history?: History;
}

/** The ledger row of a keyed command. */
export const ledgerKey = ({ tenant, key }: KeyedCommand) =>
  ({ kind: 'ledger', tenant, key }) as const;

/** The sight of a workflow that is known without having been read for this command. */
export const remembered = (workflow: Workflow): Sight => ({
  fresh: false,
  ledger: undefined,
  workflow,
  lock: undefined,
  vault: undefined,
});
