import type { Fault } from './service.ts';

/**
 * The trigger protocol as a table. At every step it answers one question: may a run have been started whose id we do
 * not know? Nothing here does I/O; `trigger.ts` drives it.
 *
 * `ready`     nothing that was sent can have started a run
 * `doubtful`  an attempt was sent whose fate nobody knows
 * `started`   the run has an id                     (end)
 * `refused`   surely no run was started             (end)
 * `unknown`   a run may have been started           (end; the intent stays open for `recover`)
 */
export type TriggerState = 'ready' | 'doubtful' | TriggerEnd;
export type TriggerEnd = 'started' | 'refused' | 'unknown';

export type TriggerEvent =
  /** 201 with an id, or a replay of it. */
  | 'accepted'
  /** 422 `runAlreadyActive`. */
  | 'conflict'
  /** The same, and the body names the active execution, which is no other trigger's. */
  | 'conflict_with_id'
  /** 402, 401, 400 …: a complete refusal. */
  | 'refused'
  /** The run of another target, which the key had started before: so has every attempt been answered. */
  | 'reused'
  /** 429: refused for now, nothing done. */
  | 'throttled'
  /** No byte left: DNS, refused, connect time-out. */
  | 'not_sent'
  /** The same, and no repeat can mend it: a bad certificate. */
  | 'unsendable'
  /** Time-out, reset, gateway 5xx, 408, 409, unreadable 2xx: it may have been acted on. */
  | 'lost'
  /** The same, with a status that no repeat mends: 501, 303. */
  | 'lost_for_good'
  /** Patience ended, or the user interrupted the wait between two attempts. */
  | 'stopped'
  /** The user interrupted while the request was on its way. */
  | 'cut';

export const protocol: Record<'ready' | 'doubtful', Record<TriggerEvent, TriggerState>> = {
  ready: {
    accepted: 'started',
    conflict: 'refused',
    conflict_with_id: 'refused',
    refused: 'refused',
    reused: 'refused',
    throttled: 'ready',
    not_sent: 'ready',
    unsendable: 'refused',
    lost: 'doubtful',
    lost_for_good: 'unknown',
    stopped: 'refused',
    cut: 'unknown',
  },
  // Once in doubt, only an id settles it, ours or another's: the refusal may be of the repeat alone. A conflict is most likely our own
  // run; where the body names it, it is taken as ours.
  doubtful: {
    accepted: 'started',
    conflict: 'unknown',
    conflict_with_id: 'started',
    refused: 'unknown',
    reused: 'refused',
    throttled: 'doubtful',
    not_sent: 'doubtful',
    unsendable: 'unknown',
    lost: 'doubtful',
    lost_for_good: 'unknown',
    stopped: 'unknown',
    cut: 'unknown',
  },
};

/** The event that a fault of an attempt is; `namesOurs` where it names a run that can only be ours. */
export function eventOf(fault: Fault, namesOurs: boolean): TriggerEvent {
  if (fault.kind === 'interrupted') return fault.acted === 'unknown' ? 'cut' : 'stopped';
  if (fault.kind === 'already_active') return namesOurs ? 'conflict_with_id' : 'conflict';
  if (fault.kind === 'throttled') return 'throttled';
  if (fault.kind === 'reused_key') return 'reused';
  if (fault.acted === 'unknown') return fault.transient ? 'lost' : 'lost_for_good';
  if (fault.kind === 'unreachable') return 'not_sent';
  return fault.httpStatus === undefined ? 'unsendable' : 'refused';
}

export function isEnd(state: TriggerState): state is TriggerEnd {
  return state !== 'ready' && state !== 'doubtful';
}
