import type { OutboxRow } from '../../core/model/workflow.ts';
import { counted, lasted } from '../text.ts';

/** What waits in a row and since when, as cells: kind, due time, attempts. */
export function waitingCells(row: OutboxRow, now: number): string[] {
  const { kind } = row.payload;
  return [
    typeof kind === 'string' ? kind : '?',
    whenOf(row, now),
    counted(row.attempts, 'attempt'),
  ];
}

function whenOf({ due_at, claim, parked_at }: OutboxRow, now: number): string {
  if (parked_at !== undefined) return `parked for ${lasted(now - Date.parse(parked_at))}`;
  if (claim !== undefined && claim.until > now) return 'being sent';
  return due_at <= now ? `due for ${lasted(now - due_at)}` : `due in ${lasted(due_at - now)}`;
}
