import { deliveryOf, type Fault, isRetryable } from '../runs/fault.ts';
import type { Owner } from './whose-run.ts';

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
type TriggerEnd = 'started' | 'refused' | 'unknown';

export type TriggerEvent =
  /** 201 with an id, or a replay of it. */
  | 'accepted'
  /** 422 `runAlreadyActive`: nobody knows whose run is active. */
  | 'conflict'
  /** The same, and an earlier attempt of ours started the run that it names. */
  | 'conflict_with_ours'
  /** The same, and the run that it names began before our first attempt. */
  | 'conflict_with_another'
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
  | 'interrupted';

export const protocol: Record<'ready' | 'in_doubt', Record<TriggerEvent, TriggerState>> = {
  ready: {
    accepted: 'started',
    conflict: 'refused',
    conflict_with_ours: 'refused',
    conflict_with_another: 'refused',
    refused: 'refused',
    reused: 'refused',
    throttled: 'ready',
    not_sent: 'ready',
    unsendable: 'refused',
    lost: 'in_doubt',
    lost_for_good: 'unknown',
    stopped: 'refused',
    interrupted: 'unknown',
  },
  // Once in doubt, only an id resolves it, ours or another's: the refusal may be of the retry alone. A conflict is most
  // likely our own run; the time at which the run that it names began can tell.
  in_doubt: {
    accepted: 'started',
    conflict: 'unknown',
    conflict_with_ours: 'started',
    conflict_with_another: 'refused',
    refused: 'unknown',
    reused: 'refused',
    throttled: 'in_doubt',
    not_sent: 'in_doubt',
    unsendable: 'unknown',
    lost: 'in_doubt',
    lost_for_good: 'unknown',
    stopped: 'unknown',
    interrupted: 'unknown',
  },
};

/** What a failed attempt means to the protocol; `owner` is that of the run that a conflict names. */
export function eventOf(fault: Fault, owner: Owner): TriggerEvent {
  switch (fault.kind) {
    case 'interrupted':
      return 'stopped';
    case 'interrupted_in_flight':
      return 'interrupted';
    case 'already_active':
      return owner === 'unknown' ? 'conflict' : `conflict_with_${owner}`;
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
