// Answers about what waits for a decision.
import * as z from 'zod';
import { action, digest, displayedField, instant, page } from './common.ts';

/** One action that waits. */
export const pendingApproval = z
  .object({
    kind: z.enum(['run', 'workflow']),
    run_id: z.string().optional(),
    workflow_id: z.string().optional(),
    about: z.string().describe('The service of the run, or the asset of the work.'),
    requested_by: z.string().describe('Subject of who asked for it, and never decides on it.'),
    reason: z.string().optional().describe('Why the work is blocked.'),
    missing: z.string().optional().describe('What the evidence of the run lacks.'),
    action_hash: digest.describe('Give it back in full to decide.'),
    expires_at: instant.describe('Until when it can be decided.'),
    proposed_action: action,
    proposed_action_display: z
      .array(displayedField)
      .describe('Every field of the action as it may be looked at; the JSON beside it is exact.'),
  })
  .meta({ id: 'PendingApproval' });

/** A page of what waits. */
export const pendingApprovalPage = page(pendingApproval).meta({ id: 'PendingApprovalPage' });
