// What is wrong between the times of a definition and the people who are told of them.
import type { Procedure, Step } from './model/procedure.ts';

/** The parts concerned, each in its place, as far as they can be read. */
export interface TimedParts {
  readonly deadline: Procedure['deadline'];
  readonly reminder: Procedure['reminder'];
  readonly steps: readonly (Step | undefined)[];
  readonly escalation: readonly (Procedure['escalation'][number] | undefined)[];
}

/** Tells every fault by the JSON pointer it is at. */
export function timeFaults(
  { deadline, reminder, steps, escalation }: TimedParts,
  fault: (path: string, message: string) => void,
): void {
  // One that cannot be read may be the one that is missed.
  const tells = (on: 'overdue' | 'reminder'): boolean =>
    escalation.some((rule) => rule === undefined || rule.on === on);
  const nobody = (on: string): string => `expected an escalation on ${on}, or nobody is told of it`;
  const deadlineFault = (of: Procedure['deadline'], path: string): void => {
    if (of?.on_overdue === 'notify' && !tells('overdue')) fault(path, nobody('overdue'));
  };
  steps.forEach((step, i) => {
    const path = `/steps/${i}/deadline`;
    if (step?.deadline === undefined) return;
    if (step.optional)
      fault(path, 'expected no deadline on an optional step, which nobody has to do');
    deadlineFault(step.deadline, path);
  });
  deadlineFault(deadline, '/deadline');
  if (reminder !== undefined && !tells('reminder')) fault('/reminder', nobody('reminder'));
  escalation.forEach((rule, i) => {
    if (rule === undefined) return;
    if (rule.after_minutes !== undefined && rule.on !== 'block') {
      fault(`/escalation/${i}/after_minutes`, 'expected it on a block only');
    }
    if (rule.times !== undefined && rule.after_minutes === undefined) {
      fault(`/escalation/${i}/times`, 'expected after_minutes with it');
    }
  });
}
