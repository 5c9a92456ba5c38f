import { deliveryOf, type Fault, isRetryable } from './fault.ts';

/**
 * The trigger protocol as a table. At every step it answers one question: may a run have been started whose id we do
 * not know? Nothing here does I/O; `trigger.ts` drives it.
 *
 * `ready`     nothing that was sent can have started a run
 * `in_doubt`  an attempt was sent, and nobody knows whether it started a run
 * `started`   the run has an id                     (end)
 * `refused`   surely no run was started             (end)
 * `unknown`   a run may have been started           (end; the trigger stays open for `recover`)
 */
export type TriggerState = 'ready' | 'in_doubt' | TriggerEnd;
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
  /** The run of another target, which the idempotency key had started before: so has every attempt been answered. */
  | 'reused'
  /** 429: refused for now, nothing done. */
  | 'throttled'
  /** No byte left: name resolution, connection refused, connect timeout. */
  | 'not_sent'
  /** The same, and a retry cannot help: a bad certificate. */
  | 'unsendable'
  /** Timeout, reset, gateway 5xx, 408, 409, unreadable 2xx: it may have been acted on. */
  | 'lost'
  /** The same, and a retry cannot help: 501, 303. */
  | 'lost_for_good'
  /** Retries ended, or the user interrupted the wait between two attempts. */
  | 'stopped'
  /** The user interrupted while the request was on its way. */
  | 'cut';

export const protocol: Record<'ready' | 'in_doubt', Record<TriggerEvent, TriggerState>> = {
  ready: {
    accepted: 'started',
    conflict: 'refused',
    conflict_with_id: 'refused',
    refused: 'refused',
    reused: 'refused',
    throttled: 'ready',
    not_sent: 'ready',
    unsendable: 'refused',
    lost: 'in_doubt',
    lost_for_good: 'unknown',
    stopped: 'refused',
    cut: 'unknown',
  },
  // Once in doubt, only an id resolves it, ours or another's: the refusal may be of the retry alone. A conflict is most
  // likely our own run; where the body names it, it is taken as ours.
  in_doubt: {
    accepted: 'started',
    conflict: 'unknown',
    conflict_with_id: 'started',
    refused: 'unknown',
    reused: 'refused',
    throttled: 'in_doubt',
    not_sent: 'in_doubt',
    unsendable: 'unknown',
    lost: 'in_doubt',
    lost_for_good: 'unknown',
    stopped: 'unknown',
    cut: 'unknown',
  },
};

/** What a failed attempt means to the protocol; `namesOurs` where the fault names a run that can only be ours. */
export function eventOf(fault: Fault, namesOurs: boolean): TriggerEvent {
  switch (fault.kind) {
    case 'interrupted':
      return 'stopped';
    case 'interrupted_in_flight':
      return 'cut';
    case 'already_active':
      return namesOurs ? 'conflict_with_id' : 'conflict';
    case 'reused_key':
      return 'reused';
  }
  switch (deliveryOf(fault)) {
    case 'unknown':
      return isRetryable(fault) ? 'lost' : 'lost_for_good';
    case 'not_sent':
      return isRetryable(fault) ? 'not_sent' : 'unsendable';
    case 'refused':
      return isRetryable(fault) ? 'throttled' : 'refused';
  }
}

/** The state after an event; an end is never left. */
export function step(state: TriggerState, event: TriggerEvent): TriggerState {
  return isEnd(state) ? state : protocol[state][event];
}

export function isEnd(state: TriggerState): state is TriggerEnd {
  return state !== 'ready' && state !== 'in_doubt';
}
