import { deliveryOf, type Fault, isRetryable } from '../run/fault.ts';

/** The states of a trigger. They answer one question: could a run have been started whose id we don't know? */
export type TriggerState =
  | 'ready' // nothing sent so far can have started a run
  | 'in_doubt' // an attempt was sent and may have started a run
  | TriggerEnd;
type TriggerEnd = 'started' | 'refused' | 'unknown'; // unknown: it stays open for `recover`

/** The state after each event. Only an id resolves a trigger in doubt, because a refusal may only concern the retry. */
// biome-ignore format: a table
export const protocol = {
  accepted:      { ready: 'started',   in_doubt: 'started'  }, // 201 with an id, or a replay of it
  conflict:      { ready: 'refused',   in_doubt: 'unknown'  }, // 422 runAlreadyActive
  refused:       { ready: 'refused',   in_doubt: 'unknown'  }, // 402, 401, 400 …: a complete refusal
  reused:        { ready: 'refused',   in_doubt: 'refused'  }, // the key has started a run of another target
  throttled:     { ready: 'ready',     in_doubt: 'in_doubt' }, // 429: the service has done nothing
  not_sent:      { ready: 'ready',     in_doubt: 'in_doubt' }, // nothing was sent: no name, no connection
  unsendable:    { ready: 'refused',   in_doubt: 'unknown'  }, // the same, and a retry cannot help
  expired:       { ready: 'unknown',   in_doubt: 'unknown'  }, // an attempt in doubt is too old to send its key again, or another process sends it
  lost:          { ready: 'in_doubt',  in_doubt: 'in_doubt' }, // timeout, reset, 5xx, 408, 409, unreadable 2xx
  lost_for_good: { ready: 'unknown',   in_doubt: 'unknown'  }, // the same, and a retry cannot help: 501, 303
  stopped:       { ready: 'refused',   in_doubt: 'unknown'  }, // retries ended, or the user left between two
  interrupted:   { ready: 'unknown',   in_doubt: 'unknown'  }, // the user left while the request was on its way
} as const satisfies Record<string, Record<'ready' | 'in_doubt', TriggerState>>;

export type TriggerEvent = keyof typeof protocol;

export function eventOf(fault: Fault): TriggerEvent {
  switch (fault.kind) {
    case 'aborted':
      return 'stopped';
    case 'aborted_in_flight':
      return 'interrupted';
    case 'already_active':
      return 'conflict';
    case 'reused_key':
      return 'reused';
    case 'stale_key':
    case 'taken_key':
      return 'expired';
  }
  const [ifRetryable, ifNot] = eventsByDelivery[deliveryOf(fault)];
  return isRetryable(fault) ? ifRetryable : ifNot;
}

const eventsByDelivery = {
  unknown: ['lost', 'lost_for_good'],
  not_sent: ['not_sent', 'unsendable'],
  refused: ['throttled', 'refused'],
} as const;

export function step(state: TriggerState, event: TriggerEvent): TriggerState {
  return isEnd(state) ? state : protocol[event][state];
}

export const isEnd = (state: TriggerState): state is TriggerEnd => state !== 'ready' && state !== 'in_doubt';
