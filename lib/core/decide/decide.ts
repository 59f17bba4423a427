// The one dispatch from a command on an existing workflow to its decision.
import type { WorkflowCommand } from '../model/commands.ts';
import type { Procedure } from '../model/procedure.ts';
import type { Lock, Profile, VaultRow, Workflow } from '../model/workflow.ts';
import { assert } from '../fault.ts';
import { decideAbandon, decideComplete, decideHandOver } from './assignment.ts';
import { decideProposal } from './decide-proposal.ts';
import type { DecideContext, Decision } from './decision.ts';
import type { History } from './history.ts';
import { decideRecord } from './record.ts';
import { decideResolve } from './resolve.ts';

/** Everything a command on an existing workflow looks at, as of one moment. */
export interface WorkflowSituation {
  readonly workflow: Workflow;
  readonly procedure: Procedure;
  readonly vault: VaultRow | undefined;
  /** The lock of the asset, where the workflow lost it. */
  readonly lock: Lock | undefined;
  /** The receiver, for a hand-over. */
  readonly to: Profile | undefined;
  /** What the trail tells, for a decision on a proposal. */
  readonly history?: History | undefined;
}

/** Decides a command: pure, every check before any write. */
export function decide(
  situation: WorkflowSituation,
  command: WorkflowCommand,
  context: DecideContext,
): Decision {
  switch (command.type) {
    case 'record_step':
    case 'correct_step':
      return decideRecord(situation, command, context);
    case 'resolve_block':
      return decideResolve(situation, command, context);
    case 'decide_approval': {
      const { history } = situation;
      assert(history !== undefined, 'a decision on a proposal has the trail');
      return decideProposal({ ...situation, history }, command, context);
    }
    case 'hand_over':
      assert(situation.to !== undefined, 'a hand-over has its receiver');
      return decideHandOver({ ...situation, to: situation.to }, command, context);
    case 'complete_workflow':
      return decideComplete(situation, command, context);
    case 'abandon_workflow':
      return decideAbandon(situation, command, context);
  }
}
