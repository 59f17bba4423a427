// Outbox rows as they are written, and the names of their lanes.
import { sha256Hex } from '../canonical.ts';
import { FORMAT, type OutboxRow } from '../model/workflow.ts';
import { DELIVERY, type Lane } from './row.ts';

/** The lane of the notifications to a sink. */
export const notifyLane = (sink: string): string => `notify:${sink}`;

/** The lane of the starts of work. */
export const ORCHESTRATE = 'orchestrate';

/**
 * A row of the event at this head of its trail. Its id is the same however often it is built, and another
 * one where another event took that place: after a restore a receiver must not take it for a repeat.
 */
export function newRow(
  { tenant, workflow, lane }: Lane,
  { seq, hash }: { readonly seq: number; readonly hash: string },
  payload: OutboxRow['payload'],
  now: number,
): OutboxRow {
  return {
    format: FORMAT,
    tenant,
    workflow,
    lane,
    seq,
    id: sha256Hex(`${tenant}\n${workflow}\n${lane}\n${seq}\n${hash}`).slice(0, 32),
    payload,
    rev: 0,
    attempts: 0,
    due_at: now + DELIVERY.fastPathMs,
  };
}
