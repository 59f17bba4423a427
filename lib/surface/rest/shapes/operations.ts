// Answers to whoever is on call.
import * as z from 'zod';
import { instant, jsonObject, page, problem, someone } from './common.ts';

/** What a change did, as an event of the workflow's trail. */
export const operationReceipt = z.object({
  operation: z.string(),
  workflow_id: z.string(),
  event: z.int().describe('Sequence of its event in the trail.'),
  at: instant,
  duplicate: z.boolean().describe('True: it had been done before under this key.'),
});

/** An outbox row in a list. */
export const notification = z
  .object({
    id: z.string(),
    workflow_id: z.string().describe('The workflow or run that it is about.'),
    lane: z.string(),
    event: z.int(),
    kind: z.string().nullable(),
    attempts: z.int(),
    due_at: instant,
    being_sent: z.boolean(),
    last_error: z.string().optional(),
    parked_at: instant.optional(),
  })
  .meta({ id: 'Notification' });

/** An outbox row with what it carries. */
export const notificationInFull = notification
  .extend({ payload: jsonObject })
  .meta({ id: 'NotificationInFull' });

/** A page of the outbox. */
export const notificationPage = page(notification)
  .extend({ more: z.boolean().optional().describe('Of waiting ones: whether there may be more.') })
  .meta({ id: 'NotificationPage' });

/** A page of held locks. */
export const lockPage = page(
  z.object({
    asset: z.string(),
    workflow_id: z.string(),
    procedure: z.string(),
    holder: someone,
    since: instant,
    fence: z.int().describe('Grows with every holder; a writer with an older one is refused.'),
  }),
).meta({ id: 'LockPage' });

/** What a forced release did. */
export const lockReleased = operationReceipt
  .extend({ holder: z.string().optional() })
  .meta({ id: 'LockReleased' });

/** Why an asset was not taken away; `HELD_ANEW` says who holds it by now. */
export const heldProblem = problem
  .extend({ fence: z.int().optional(), workflow_id: z.string().optional() })
  .meta({ id: 'HeldProblem' });

const faults = z.array(
  z.object({ seq: z.int(), what: z.string(), acknowledged: z.int().optional() }),
);

/** Why frozen work did not go on; `LOOK_FIRST` says what is found and how it is named. */
export const unseenProblem = problem
  .extend({ faults: faults.optional(), seen: z.string().optional() })
  .meta({ id: 'UnseenProblem' });

/** What moving a torn trail aside did. */
export const trailRepaired = operationReceipt
  .extend({ events: z.int().optional(), faults: faults.optional() })
  .meta({ id: 'TrailRepaired' });

/** What acknowledging faults did. */
export const trailAcknowledged = operationReceipt
  .extend({ faults: faults.optional() })
  .meta({ id: 'TrailAcknowledged' });

/** What sending a parked notification again did. */
export const redriven = operationReceipt.meta({ id: 'Redriven' });

/** A day of the reconciler. */
export const sweepDay = z
  .object({
    day: z.iso.date(),
    shards: z.array(
      z.object({
        shard: z.int(),
        sweeps: z.int(),
        last_at: instant,
        last_end: z.string(),
      }),
    ),
    counts: z.array(z.object({ rule: z.string(), found: z.int(), repaired: z.int() })),
  })
  .meta({ id: 'SweepDay' });

/** A page of what sweeps found. */
export const findingPage = page(
  z.object({
    at: instant,
    shard: z.int(),
    rule: z.string(),
    workflow_id: z.string(),
    what: z.string(),
    repaired: z.boolean(),
  }),
)
  .extend({ day: z.iso.date() })
  .meta({ id: 'FindingPage' });
