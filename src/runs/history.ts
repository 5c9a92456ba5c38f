import type { Target } from './run.ts';

/** Something that this machine did or saw. Times are ISO 8601. */
export interface HistoryEvent {
  at: string;
  what: HistoryEventName;
  baseUrl: string;
  target: Target;
  by?: string; // the command that recorded it
  process?: string; // as `Processes` names it
  executionId?: string; // of a refusal, the run that is active
  idempotencyKey?: string;
  status?: string;
  durationMs?: number;
  reason?: string;
  refusal?: string; // the name of an exit code
  ifActive?: string; // what the command then did, unless it failed
  hook?: string; // the option that gave it
  failure?: string; // why a hook failed, as the end of a sentence
}

export const historyEventNames = [
  'sent',
  'sent_again',
  'response_lost',
  'accepted',
  'resolved', // a trigger whose response was lost has a run
  'resolved_by_time', // the same, as far as the time at which the run began shows it
  'refused',
  'repeat_refused', // of a trigger whose outcome stays unknown
  'superseded', // a trigger whose response was lost, as a later one has a run
  'untracked', // the key had started a run of another target
  'looked_at', // a run that this machine did not start, for the first time
  'status',
  'finished',
  'forgotten', // the service no longer knows the run
  'hook_due',
  'hook_begun',
  'hook_ended',
  'keys_honored',
  'keys_ignored',
] as const;
export type HistoryEventName = (typeof historyEventNames)[number];
