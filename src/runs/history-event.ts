import type { Target } from './run.ts';

/** Something that this machine did or saw. Times are ISO 8601. */
export interface HistoryEvent {
  at: string;
  what: HistoryEventName;
  baseUrl: string;
  target: Target;
  by?: string; // the command that recorded it
  process?: string; // its name from `Processes`
  executionId?: string; // after a refusal, the active run
  idempotencyKey?: string;
  status?: string;
  durationMs?: number;
  reason?: string;
  refusal?: string; // the name of an exit code
  ifActive?: string; // what the command did instead of failing
  hook?: string; // the option that set it
  failure?: string; // why a hook failed, as the end of a sentence
}

export const historyEventNames = [
  'sent',
  'sent_again',
  'response_lost',
  'accepted',
  'resolved', // a trigger whose response was lost has a run
  'refused',
  'repeat_refused', // the trigger's outcome stays unknown
  'superseded', // a trigger whose response was lost; a later trigger has a run
  'untracked', // the key had already started a run of another target
  'looked_at', // a run that this machine didn't start was seen for the first time
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
