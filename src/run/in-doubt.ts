import type { Fault } from './fault.ts';
import { defaults } from './limits.ts';
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

/**
 * Why a trigger is in doubt. What is in doubt has other names where users see it:
 *
 * | where                        | a trigger in doubt                                   |
 * | ---------------------------- | ---------------------------------------------------- |
 * | exit code and JSON document  | `outcome_unknown`, and `unknown` under `trigger.how` |
 * | `list`                       | the status UNKNOWN                                   |
 * | `recover`, after sending it  | the resolution `failed`                              |
 */
export type InDoubtReason =
  /** Its response was lost, or the trigger was in doubt before it and the service refused it. */
  | { kind: 'last_attempt_failed'; fault: Fault }
  /** A signal came before there was a valid response. */
  | { kind: 'interrupted' }
  /** The service may have forgotten the idempotency key. */
  | { kind: 'key_expired' }
  /** The service keeps idempotency keys by API key, so with this one the key would be a new one. */
  | { kind: 'other_api_key' }
  /** Only `recover --resend` sends it. */
  | { kind: 'withheld'; because: WithheldBecause }
  /** Another process is sending it. */
  | { kind: 'sending'; process: string }
  /** A later trigger has a run. */
  | { kind: 'superseded' }
  /** The journal says so, and nothing was sent. */
  | { kind: 'listed'; isRecoverable: boolean };

/** Why a second run, or one that is too late, could start if the trigger were sent again. */
export type WithheldBecause = 'keys_ignored' | 'to_be_skipped' | 'dated_in_future' | 'old';

/** Why `recover` sends a trigger only with `--resend`. Undefined if it sends it without that. */
export function reasonToWithhold(
  trigger: { ifActive?: IfActive; conflict?: object },
  { ageMs, ignoresKeys }: { ageMs: number; ignoresKeys: boolean },
): WithheldBecause | undefined {
  if (ignoresKeys) return 'keys_ignored';
  if (wasToBeSkipped(trigger)) return 'to_be_skipped';
  if (!Number.isFinite(ageMs)) return 'dated_in_future';
  return ageMs > defaults.recoverMaxAgeMs ? 'old' : undefined;
}

/**
 * Whether the trigger was to start no run while another one is active (`--if-active skip`), and a
 * retry found one active.
 */
export const wasToBeSkipped = (trigger: { ifActive?: IfActive; conflict?: object }): boolean =>
  trigger.ifActive === 'skip' && trigger.conflict !== undefined;
