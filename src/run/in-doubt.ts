import type { Fault } from './fault.ts';
import type { IfActive } from './trigger.ts';

/** Why it isn't known whether a trigger started a run, and what the journal has of it. */
export interface InDoubtDetails {
  reason: InDoubtReason;
  /**
   * When it was first sent (ISO 8601), and its age, which is infinite if the record is dated in the
   * future. Undefined if the journal doesn't have it.
   */
  recorded?: { at: string; ageMs: number };
  conflict?: ActiveRunConflict;
  /** What the trigger was to do if another run was active. */
  ifActive?: IfActive;
  /** The service ignores idempotency keys. */
  ignoresKeys: boolean;
}

/** A retry was refused because a run was active. The trigger itself may have started that run. */
export interface ActiveRunConflict {
  activeExecutionId?: string;
  /** The journal says that another idempotency key started that run. */
  isOthers: boolean;
}

/** Why a trigger is in doubt. */
export type InDoubtReason =
  /** The fault is that of the last attempt. */
  | { kind: 'last_attempt_failed'; fault: Fault }
  /** A signal came before there was a valid response. */
  | { kind: 'signal' }
  /** The service may have forgotten the idempotency key. */
  | { kind: 'expired' }
  /** The service keeps idempotency keys by API key, so with this one the key would be a new one. */
  | { kind: 'other_api_key' }
  /** A second run, or one that is too late, could start, so only `recover --resend` sends it. */
  | { kind: 'withheld' }
  /** Another process is sending it. */
  | { kind: 'sending'; process: string }
  /** A later trigger has a run. */
  | { kind: 'superseded' }
  /** The journal says so, and nothing was sent. */
  | { kind: 'listed'; isRecoverable: boolean };

/**
 * Whether the trigger was to start no run while another one is active (`--if-active skip`), and a
 * retry found one active.
 */
export const wasToBeSkipped = (trigger: { ifActive?: IfActive; conflict?: object }): boolean =>
  trigger.ifActive === 'skip' && trigger.conflict !== undefined;
