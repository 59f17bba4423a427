import type { OutboxRow } from '../../core/model/workflow.ts';
import { counted, lasted } from '../text.ts';

/** What waits in a row and since when, as cells: kind, due time, attempts. */
export function waitingCells({ payload, attempts, due_at }: OutboxRow, now: number): string[] {
  const { kind } = payload;
  return [
    typeof kind === 'string' ? kind : '?',
    due_at <= now ? `due for ${lasted(now - due_at)}` : `due in ${lasted(due_at - now)}`,
    counted(attempts, 'attempt'),
  ];
}
