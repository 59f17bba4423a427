// What an event of a run can be.

/** Everything that happens to a run. */
export type RunEventType =
  | 'run_created'
  | 'gathering_started'
  | 'observation_recorded'
  | 'action_proposed'
  | 'action_approved'
  | 'action_denied'
  | 'approval_expired'
  | 'write_intended'
  | 'write_made'
  | 'run_completed'
  | 'run_failed'
  | 'run_resumed'
  | 'work_restarted';
