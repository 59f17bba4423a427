// What is wrong with what a definition says of approvals.
import type { TimedParts } from './time-faults.ts';
import type { Procedure } from './model/procedure.ts';

/** The parts concerned, as far as they can be read. */
export interface ApprovalParts extends Pick<TimedParts, 'deadline' | 'steps'> {
  readonly approval: Procedure['approval'];
}

/** Tells every fault by the JSON pointer it is at. Whether a deviation blocks may be answered in code. */
export function approvalFaults(
  { approval, deadline, steps }: ApprovalParts,
  fault: (path: string, message: string) => void,
): void {
  const deadlines = [deadline, ...steps.map((step) => step?.deadline)];
  // A step that cannot be read may be the one that blocks.
  const blocks = steps.includes(undefined) || deadlines.some((one) => one?.on_overdue === 'block');
  approval?.on.forEach((on, i) => {
    const path = `/approval/on/${i}`;
    if (approval.on.indexOf(on) !== i) fault(path, `${on} appears twice`);
    else if (on === 'overdue' && !blocks) {
      fault(path, 'expected a deadline with on_overdue block, or nothing is ever proposed');
    }
  });
}
