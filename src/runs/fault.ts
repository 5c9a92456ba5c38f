/** What became of a request: it never left this machine, it was refused, or nobody knows whether it was acted on. */
type Delivery = 'not_sent' | 'refused' | 'unknown';

interface Rule {
  /** It may pass by itself. */
  isRetryable: boolean;
  delivery: Delivery;
  /** The connection was made to somebody, who is not the service or does not let us through to it. */
  isOfConnection?: true;
}

/** Every way in which a request fails, and what follows from it. */
const rules = {
  /** No connection: name resolution, refused, connect timeout, proxy. */
  unreachable: { isRetryable: true, delivery: 'not_sent' },
  /** The TLS handshake failed: a retry does not change a certificate. */
  untrusted: { isRetryable: false, delivery: 'not_sent', isOfConnection: true },
  /** TLS failed after the request may have been read. */
  broken_tls: { isRetryable: false, delivery: 'unknown', isOfConnection: true },
  /** The proxy wants credentials (407), or does not allow the connection. */
  proxy_refused: { isRetryable: false, delivery: 'not_sent', isOfConnection: true },
  /** HTTP cannot carry the request. */
  unsendable: { isRetryable: false, delivery: 'not_sent' },
  /** The connection broke or fell silent after the request may have been read. */
  lost: { isRetryable: true, delivery: 'unknown' },
  /** 408, 425, 500, 502 to 504, 520 to 527: a complete answer, perhaps of a gateway, that says: not now. */
  unavailable: { isRetryable: true, delivery: 'unknown' },
  /** 429. */
  throttled: { isRetryable: true, delivery: 'refused' },
  /** A page where JSON was expected, a document of another shape, or a result that is not final yet. */
  unreadable: { isRetryable: true, delivery: 'unknown' },
  /** A body larger than the limit. */
  too_large: { isRetryable: false, delivery: 'unknown' },
  /** 401, 403. */
  unauthorized: { isRetryable: false, delivery: 'refused' },
  /** 402. */
  no_credits: { isRetryable: false, delivery: 'refused' },
  /** 422 `runAlreadyActive`. */
  already_active: { isRetryable: false, delivery: 'refused' },
  /** The service says that there is no such run or Automation. */
  not_found: { isRetryable: false, delivery: 'refused' },
  /** 404 or 410 to a poll: perhaps of a router, during a deployment. */
  path_not_found: { isRetryable: false, delivery: 'refused' },
  /** A redirect to a run of the target, which the trigger may have started. */
  redirected_to_run: { isRetryable: false, delivery: 'unknown' },
  redirected: { isRetryable: false, delivery: 'refused' },
  /** 409: a request with this idempotency key is still being worked on (IETF idempotency-key draft). */
  in_progress: { isRetryable: true, delivery: 'unknown' },
  /** Any other complete refusal. */
  rejected: { isRetryable: false, delivery: 'refused' },
  /** Answered with the run of another target, which the same idempotency key had started. */
  reused_key: { isRetryable: false, delivery: 'refused' },
  /** Not sent: the service may have forgotten the idempotency key, and would start a second run. */
  stale_key: { isRetryable: false, delivery: 'not_sent' },
  /** Our own signal ended the attempt before anything was sent. */
  interrupted: { isRetryable: false, delivery: 'not_sent' },
  /** Our own signal ended the attempt while the request was on its way. */
  interrupted_in_flight: { isRetryable: false, delivery: 'unknown' },
} as const satisfies Record<string, Rule>;

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
  /** From `Retry-After`; never shortened. */
  retryAfterMs?: number;
  /** An execution that the refusal names (422 `runAlreadyActive`). */
  executionId?: string;
}

/** The facts of HTTP, as they stand at the end of a sentence: ` (HTTP 422 runAlreadyActive)`. */
export function httpOf({ httpStatus, serviceCode }: Pick<Fault, 'httpStatus' | 'serviceCode'>): string {
  return httpStatus === undefined ? '' : ` (${['HTTP', httpStatus, serviceCode].filter(Boolean).join(' ')})`;
}

/** What happened, and the facts of HTTP. */
export const reasonOf = (fault: Fault): string => fault.message + httpOf(fault);

export const isRetryable = ({ kind }: Fault): boolean => rules[kind].isRetryable;

export const isInterruption = ({ kind }: Fault): boolean => kind === 'interrupted' || kind === 'interrupted_in_flight';

/** Whether the service acted on the request; only of interest for a trigger. */
export function deliveryOf({ kind, httpStatus = 0 }: Fault): Delivery {
  // A gateway answers 5xx for a service that it lost.
  return httpStatus >= 500 ? 'unknown' : rules[kind].delivery;
}

const readAfterWriteMs = 30_000;

/** The service refuses the API key, or says that there is no such run. */
export const isRefusal = ({ kind }: Fault): boolean => kind === 'unauthorized' || kind === 'not_found';

/** A certificate or a proxy is in the way, which a retry does not change where it was never otherwise. */
export function isOfConnection({ kind }: Fault): boolean {
  const rule: Rule = rules[kind];
  return rule.isOfConnection === true;
}

/** Is this a not-found so soon after the trigger, in milliseconds, that the service may not find its own new run yet? */
export function isTooEarly({ kind }: Fault, sinceTriggerMs: number | undefined): boolean {
  const isNotFound = kind === 'not_found' || kind === 'path_not_found';
  return isNotFound && sinceTriggerMs !== undefined && Math.abs(sinceTriggerMs) < readAfterWriteMs;
}
