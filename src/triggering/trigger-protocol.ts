import { deliveryOf, type Fault, isRetryable } from '../runs/fault.ts';
import type { Owner } from './whose-run.ts';

/** The states of a trigger. They answer one question: may a run have been started whose id we do not know? */
export type TriggerState =
  | 'ready' // nothing that was sent can have started a run
  | 'in_doubt' // an attempt was sent, and may have started one
  | TriggerEnd;
type TriggerEnd = 'started' | 'refused' | 'unknown'; // unknown: it stays open for `recover`

export type TriggerEvent =
  | 'accepted' // 201 with an id, or a replay of it
  | 'conflict' // 422 runAlreadyActive
  | 'conflict_with_ours' // an earlier attempt of ours started the run that it names
  | 'conflict_with_another' // the run that it names began before our first attempt
  | 'refused' // 402, 401, 400 …: a complete refusal
  | 'reused' // the run of another target: so has every attempt with this idempotency key been answered
  | 'throttled' // 429: nothing done
  | 'not_sent' // no byte left: name resolution, connection refused, connect timeout
  | 'unsendable' // the same, and a retry cannot help: a bad certificate
  | 'lost' // timeout, reset, gateway 5xx, 408, 409, unreadable 2xx: it may have been acted on
  | 'lost_for_good' // the same, and a retry cannot help: 501, 303
  | 'stopped' // retries ended, or the user interrupted the wait between two attempts
  | 'interrupted'; // while the request was on its way

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
  // Once in doubt, only an id resolves it: the refusal may be of the retry alone, and a conflict with our own run.
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

/** `owner` is that of the run that a conflict names. */
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

export function step(state: TriggerState, event: TriggerEvent): TriggerState {
  return isEnd(state) ? state : protocol[state][event];
}

export const isEnd = (state: TriggerState): state is TriggerEnd => state !== 'ready' && state !== 'in_doubt';
