// Deadlines that have passed, all of them in one tick. The work goes on, unless the procedure says of one
// that it blocks: then a supervisor decides, as about any block.
import type { Procedure, Step } from '../model/procedure.ts';
import type { Block, DueTime, Timers } from '../model/workflow.ts';
import { blocking, type RepairContext } from './lost-lock.ts';
import { askedFor, proposalOf, proposedIn } from './proposal.ts';
import { tickPlan, type Tick, type TimedWork } from './tick.ts';

/** Deadlines that have passed and of which nobody has been told yet; `due` is the earliest of them. */
interface Missed {
  readonly whole: boolean;
  readonly steps: readonly Step[];
  readonly due: string;
  /** As they are once it has been told. */
  readonly marked: Timers;
}

/** The tick of the deadlines that have passed by now. */
export function deadlinesPassed(work: TimedWork, context: RepairContext): Tick | undefined {
  const missed = missedBy(work, context.now);
  if (missed === undefined) return undefined;
  const { workflow, procedure } = work;
  const { whole, steps, due, marked } = missed;
  const blocks = workflow.state !== 'BLOCKED' && isToBlock(missed, procedure);
  const message = messageOf(missed);
  const ids = steps.map(({ id }) => id);
  const step = steps.find(({ deadline }) => deadline?.on_overdue === 'block')?.id;
  const named = step === undefined ? {} : { step };
  const proposal = blocks
    ? proposalOf({ ...work, ...asked(work, { ...named, due }) }, context.now)
    : undefined;
  const told = askedFor(proposal, procedure, 'overdue', ...(blocks ? (['block'] as const) : []));
  return {
    finding: `a deadline of ${workflow.id} has passed: ${(whole ? ['all', ...ids] : ids).join(', ')}`,
    plan: tickPlan(work, context, {
      type: 'deadline_passed',
      data: {
        due,
        whole,
        steps: ids,
        follows: blocks ? 'block' : 'notify',
        message,
        ...proposedIn(proposal),
      },
      notice: {
        on: blocks ? 'block' : 'overdue',
        audiences: told.audiences,
        payload: {
          ...(blocks && { reason: 'overdue' }),
          message,
          due,
          whole,
          steps: steps.map(({ id, title }) => ({ step: id, title })),
          ...told.payload,
        },
      },
      change: (seq, at) => {
        if (!blocks) return { timers: marked };
        const by = context.principal.subject;
        const proposes = proposal === undefined ? {} : { proposal };
        const block: Block = { seq, reason: 'overdue', ...named, by, at, message, ...proposes };
        return blocking({ ...workflow, timers: marked }, procedure, block, context.now);
      },
    }),
  };
}

/** Nobody recorded anything: it is the holder whose work would go on. */
const asked = ({ workflow }: TimedWork, found: { readonly step?: string; readonly due: string }) =>
  ({ on: 'overdue', requester: workflow.holder.subject, found }) as const;

function missedBy({ workflow, procedure }: TimedWork, now: number): Missed | undefined {
  const { timers } = workflow;
  if (timers === undefined) return undefined;
  const over = (time: DueTime | undefined): time is DueTime =>
    time !== undefined && time.passed !== true && time.due_at <= now;
  const { deadline } = timers;
  const passed = Object.entries(timers.steps).filter(([, time]) => over(time));
  const whole = over(deadline);
  if (!whole && passed.length === 0) return undefined;
  const due = [...passed.map(([, time]) => time), ...(whole ? [deadline] : [])];
  const told = passed.map(([id, time]) => [id, { ...time, passed: true }] as const);
  const late = new Set(passed.map(([id]) => id));
  return {
    whole,
    steps: procedure.steps.filter(({ id }) => late.has(id)),
    due: new Date(Math.min(...due.map(({ due_at }) => due_at))).toISOString(),
    marked: {
      ...timers,
      ...(whole && { deadline: { ...deadline, passed: true } }),
      steps: { ...timers.steps, ...Object.fromEntries(told) },
    },
  };
}

function isToBlock({ whole, steps }: Missed, procedure: Procedure): boolean {
  const deadlines = [whole ? procedure.deadline : undefined, ...steps.map((s) => s.deadline)];
  return deadlines.some((deadline) => deadline?.on_overdue === 'block');
}

/** What is said of it; with a block it is what the work is blocked for. */
function messageOf({ whole, steps }: Missed): string {
  const [first, ...others] = steps.map(({ title }) => title);
  if (first === undefined) return 'its deadline has passed';
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return whole
    ? `its deadline has passed, and that of ${first}${more}`
    : `the deadline of ${first}${more} has passed`;
}
