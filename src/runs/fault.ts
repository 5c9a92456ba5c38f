/** What became of a request; with `unknown`, the service may have acted on it. */
type Delivery = 'not_sent' | 'refused' | 'unknown';

// biome-ignore format: a table
const rules = {
  unreachable:           { isRetryable: true,  delivery: 'not_sent' }, // no name, no connection, no way through a proxy
  untrusted:             { isRetryable: false, delivery: 'not_sent' }, // the TLS handshake failed
  broken_tls:            { isRetryable: false, delivery: 'unknown'  }, // TLS failed later
  proxy_refused:         { isRetryable: false, delivery: 'not_sent' }, // 407, or a tunnel not allowed
  unsendable:            { isRetryable: false, delivery: 'not_sent' }, // HTTP cannot carry the request
  lost:                  { isRetryable: true,  delivery: 'unknown'  }, // broken off, or silent, after it was sent
  unavailable:           { isRetryable: true,  delivery: 'unknown'  }, // 408, 425, 5xx: a complete answer, perhaps of a gateway
  throttled:             { isRetryable: true,  delivery: 'refused'  }, // 429
  unreadable:            { isRetryable: true,  delivery: 'unknown'  }, // no JSON, another document, a result too early
  too_large:             { isRetryable: false, delivery: 'unknown'  },
  unauthorized:          { isRetryable: false, delivery: 'refused'  }, // 401, 403
  no_credits:            { isRetryable: false, delivery: 'refused'  }, // 402
  already_active:        { isRetryable: false, delivery: 'refused'  }, // 422 runAlreadyActive
  not_found:             { isRetryable: false, delivery: 'refused'  }, // the service knows no such run or Automation
  path_not_found:        { isRetryable: false, delivery: 'refused'  }, // 404 or 410 to a poll: perhaps of a router
  redirected_to_run:     { isRetryable: false, delivery: 'unknown'  }, // to a run, which the trigger may have started
  redirected:            { isRetryable: false, delivery: 'refused'  },
  in_progress:           { isRetryable: true,  delivery: 'unknown'  }, // 409: a request with the same key is in progress
  rejected:              { isRetryable: false, delivery: 'refused'  }, // any other complete refusal
  reused_key:            { isRetryable: false, delivery: 'refused'  }, // answered with the run of another target
  stale_key:             { isRetryable: false, delivery: 'not_sent' }, // the service may have forgotten the key
  interrupted:           { isRetryable: false, delivery: 'not_sent' }, // by the user, before it was sent
  interrupted_in_flight: { isRetryable: false, delivery: 'unknown'  },
} as const satisfies Record<string, { isRetryable: boolean; delivery: Delivery }>;

export type FaultKind = keyof typeof rules;

/** Why a request failed. What it means follows from `kind` and `httpStatus` alone. */
export interface Fault {
  kind: FaultKind;
  /** What happened, in one clause that fits after "because" or a colon; `reasonOf` adds the facts of HTTP. */
  message: string;
  hint?: string;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  retryAfterMs?: number; // from `Retry-After`
  executionId?: string; // the active run that a 422 names
}

/** The facts of HTTP as the end of a sentence, ` (HTTP 422 runAlreadyActive)`; empty if no answer came. */
export function httpOf({ httpStatus, serviceCode }: Pick<Fault, 'httpStatus' | 'serviceCode'>): string {
  return httpStatus === undefined ? '' : ` (${['HTTP', httpStatus, serviceCode].filter(Boolean).join(' ')})`;
}

export const reasonOf = (fault: Fault): string => fault.message + httpOf(fault);

export const isRetryable = ({ kind }: Fault): boolean => rules[kind].isRetryable;

export const isInterruption = ({ kind }: Fault): boolean => kind === 'interrupted' || kind === 'interrupted_in_flight';

export function deliveryOf({ kind, httpStatus = 0 }: Fault): Delivery {
  // A gateway also answers 5xx when it loses the service after passing the request on.
  return httpStatus >= 500 ? 'unknown' : rules[kind].delivery;
}

const readAfterWriteMs = 30_000;

export const isRefusal = ({ kind }: Fault): boolean => kind === 'unauthorized' || kind === 'not_found';

/** TLS or a proxy stops every request: a retry helps only if the service was reached before. */
export const isOfConnection = ({ kind }: Fault): boolean =>
  kind === 'untrusted' || kind === 'broken_tls' || kind === 'proxy_refused';

/** Is it a not-found so soon after the trigger that the service may not find its own new run yet? */
export function isTooEarly({ kind }: Fault, sinceTriggerMs: number | undefined): boolean {
  const isNotFound = kind === 'not_found' || kind === 'path_not_found';
  return isNotFound && sinceTriggerMs !== undefined && Math.abs(sinceTriggerMs) < readAfterWriteMs;
}
