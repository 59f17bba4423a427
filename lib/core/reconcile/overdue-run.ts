// R6 for runs: work that should be running and is not. The attempt is raised in the aggregate first, and
// the same transaction writes the row that starts it: whatever carries an older attempt does nothing.
import { LIMITS } from '../limits.ts';
import { WORKING } from '../model/run.ts';
import { changed } from '../runs/change.ts';
import { failed } from '../runs/work.ts';
import { isLate, isOverdue, type RunRule } from './run-rules.ts';

/** The rule. */
export const overdueRun: RunRule = ({ run, waiting, execution }, context) => {
  const { id, state, attempt } = run;
  const { now } = context;
  // A start that waits in the outbox is late, not lost: no fault of infrastructure fails a run (I6).
  if (!WORKING.has(state) || !isOverdue(run, now) || waiting) return undefined;
  const writing = state === 'executing' || state === 'verifying';
  // Whether something was written is the question of the next rule.
  if (writing && isLate(run, now)) return undefined;
  if (execution === undefined || execution === 'running') return undefined;
  if (attempt >= LIMITS.runAttempts.max) {
    if (writing) return undefined;
    const message = 'its work was begun as often as it may be';
    const { plan } = failed(run, context, { reason: 'ATTEMPTS_SPENT', message }, RULE);
    return { rule: 'R6', finding: `${id} has no attempt left`, plan };
  }
  const { plan } = changed(run, context, {
    type: 'work_restarted',
    data: { state, ...RULE },
    starts: true,
  });
  return { rule: 'R6', finding: `the work of ${id} is not running (attempt ${attempt})`, plan };
};

const RULE = { rule: 'R6' } as const;
