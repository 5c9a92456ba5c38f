import { formatDuration } from '../system/time-text.ts';
import type { ExitName } from './exit-codes.ts';

/**
 * What happened to a request. `not_sent`: it never left this machine. `refused`: the service or a
 * proxy refused it, so the service didn't act on it. `unknown`: the service may have acted on it,
 * so an attempt of a trigger is in doubt (`isInDoubt` in `start/send-attempts.ts`).
 */
type Delivery = 'not_sent' | 'refused' | 'unknown';

/** What follows from a fault, whatever the request was. */
interface FaultRow {
  /** The next attempt may succeed. */
  isRetryable?: true;
  delivery: Delivery;
  /** The exit name of a trigger, `status` or `result` that ends with this fault. */
  exit: ExitName;
  /** The exit name of a watch that gives up after this fault. `unavailable` by default. */
  exitAfterGivingUp?: ExitName;
  /** A complete sentence that is printed in place of the service's message. */
  message?: string;
  remedy?: string;
}

export const apiKeyHint = '`runctl config list` shows where the API key comes from';
const addressHint = 'check the base URL: `runctl config list`';
const connectionHint = 'check the network and the base URL: `runctl config list`';
const clientHint =
  "reinstall runctl, or update Node; if that doesn't help, report a bug with the output of `--debug`";

const faults = {
  /** The host name couldn't be resolved, or there was no connection. */
  unreachable: {
    isRetryable: true,
    delivery: 'not_sent',
    exit: 'unavailable',
    remedy: connectionHint,
  },
  /** The TLS handshake failed. */
  tls_handshake_failed: { delivery: 'not_sent', exit: 'unavailable' },
  /** TLS failed after the handshake. */
  tls_failed_after_handshake: { delivery: 'unknown', exit: 'unavailable' },
  /** The HTTP client of this process failed before it sent anything, so a retry would fail, too. */
  client_failed_before_sending: { delivery: 'not_sent', exit: 'unavailable', remedy: clientHint },
  /** The HTTP client of this process failed after it may have sent something. */
  client_failed_after_sending: { delivery: 'unknown', exit: 'unavailable', remedy: clientHint },
  /** The proxy responded with 407, or opened no tunnel to the service. */
  proxy_refused: { delivery: 'not_sent', exit: 'unavailable' },
  /** The request got no permit from the rate limiter in time. */
  no_permit: {
    delivery: 'not_sent',
    exit: 'unavailable',
    remedy: 'give it more time with `--timeout`, or a higher `--rate`',
  },
  /** The request has a text that HTTP can't transmit. */
  unsendable: { delivery: 'not_sent', exit: 'rejected', exitAfterGivingUp: 'rejected' },
  /** The connection broke before the response was complete, or no response came in time. */
  lost: { isRetryable: true, delivery: 'unknown', exit: 'unavailable' },
  /** A complete response with 408, 425 or 5xx. */
  unavailable: {
    isRetryable: true,
    delivery: 'unknown',
    exit: 'unavailable',
    message: 'the service is unavailable',
  },
  /** A response with 429, or with 403 and `Retry-After`. */
  throttled: {
    isRetryable: true,
    delivery: 'refused',
    exit: 'rate_limited',
    exitAfterGivingUp: 'rate_limited',
    message: 'the rate limit was reached',
  },
  /** A 2xx response that isn't JSON or is another document than expected. */
  unreadable: { isRetryable: true, delivery: 'unknown', exit: 'unavailable' },
  too_large: { delivery: 'unknown', exit: 'unavailable' },
  /** A response with 401 or 403, unless it is an HTML page. */
  unauthorized: {
    delivery: 'refused',
    exit: 'unauthorized',
    exitAfterGivingUp: 'unauthorized',
    message: 'the API key was refused',
    remedy: `${apiKeyHint}: replace it there`,
  },
  /**
   * The API key was refused, but when its file or command was read again, it had none. Another API
   * key may be about to be stored there.
   */
  unconfirmed_refusal: { delivery: 'refused', exit: 'unauthorized' },
  /** A response with 402. */
  no_credits: {
    delivery: 'refused',
    exit: 'no_credits',
    message: 'the AI credit balance is 0',
    remedy: 'top up the credits, then trigger again',
  },
  /** A response with 422 `runAlreadyActive`. */
  already_active: {
    delivery: 'refused',
    exit: 'already_active',
    message: 'it is already running',
  },
  /** The service doesn't know the run or the Automation. */
  not_found: { delivery: 'refused', exit: 'not_found' },
  /** A poll got 404 or 410 without the service's code, so the response may come from a router. */
  path_not_found: { delivery: 'refused', exit: 'not_found', remedy: addressHint },
  /** The trigger was redirected to a run, which it may have started. */
  redirected_to_run: {
    delivery: 'unknown',
    exit: 'rejected',
    message: 'the service responded with a redirect to a run, not with its id',
  },
  redirected: { delivery: 'refused', exit: 'rejected', remedy: addressHint },
  /** A response with 409: another request with the idempotency key is in progress. */
  in_progress: { isRetryable: true, delivery: 'unknown', exit: 'rejected' },
  /** Any other complete response that refuses the request. */
  rejected: { delivery: 'refused', exit: 'rejected' },
  /** The idempotency key was used for another Automation. */
  key_of_other_automation: { delivery: 'refused', exit: 'rejected' },
  /**
   * The service repeats its refusal of this idempotency key, though the run that it calls active
   * has finished.
   */
  key_of_finished_run: { delivery: 'refused', exit: 'already_active' },
  /** The service may have forgotten the idempotency key. */
  key_expired: { delivery: 'not_sent', exit: 'outcome_unknown' },
  /** The service ignores idempotency keys, and another process was first to record this one. */
  key_in_use: { delivery: 'not_sent', exit: 'outcome_unknown' },
  /** The command was interrupted before the request was sent. */
  interrupted: { delivery: 'not_sent', exit: 'interrupted', exitAfterGivingUp: 'interrupted' },
  interrupted_in_flight: {
    delivery: 'unknown',
    exit: 'interrupted',
    exitAfterGivingUp: 'interrupted',
  },
} as const satisfies Record<string, FaultRow>;

export type FaultKind = keyof typeof faults;

const rowOf = (kind: FaultKind): FaultRow => faults[kind];

/** The exit name of a trigger, `status` or `result` that ends with this fault. */
export const exitNameOfFault = (fault: Fault): ExitName => rowOf(fault.kind).exit;

/** The exit name of a watch that gave up without a valid response. */
export const exitNameAfterGivingUp = (fault: Fault): ExitName =>
  rowOf(fault.kind).exitAfterGivingUp ?? 'unavailable';

/**
 * Whether the service says that it doesn't know the project. The HTTP status doesn't matter,
 * because the interface documents none for that.
 */
export const isProjectUnknown = ({ serviceCode, page }: Fault): boolean =>
  page === undefined && /^project_?not_?found$/i.test(serviceCode ?? '');

/** The complete message for a refusal. Undefined if the service's message is quoted. */
export const sentenceOf = (kind: FaultKind): string | undefined => rowOf(kind).message;

/** What the user can do about a failed request, whatever the request was. */
export function remedyOf({ kind, httpStatus, page }: Fault): string | undefined {
  // The page may not come from the service, so there may be credits.
  if (kind === 'no_credits' && page !== undefined) return undefined;
  return kind === 'unauthorized' && httpStatus === 403
    ? `${apiKeyHint}: give it access, or use another`
    : rowOf(kind).remedy;
}

/** Why a request failed. What it means follows from `kind` and `httpStatus` alone. */
export interface Fault {
  kind: FaultKind;
  /**
   * What happened, in one clause that fits after "because" or a colon. `reasonOf` adds the HTTP
   * facts.
   */
  message: string;
  hint?: string;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  /** From `Retry-After`. */
  retryAfterMs?: number;
  /** The active run that a 422 names. */
  executionId?: string;
  /** Which API key was refused, if it has been read several times. */
  apiKeyVersion?: number;
  /** The title of an HTML page, which something other than the service may have sent. */
  page?: string;
}

type HttpFacts = Pick<Fault, 'httpStatus' | 'serviceCode'>;

/** `HTTP 422 runAlreadyActive`, or nothing if there was no response. */
export const httpFactsOf = ({ httpStatus, serviceCode }: HttpFacts): string[] =>
  httpStatus === undefined ? [] : [['HTTP', httpStatus, serviceCode].filter(Boolean).join(' ')];

/**
 * The HTTP facts at the end of a sentence: ` (HTTP 422 runAlreadyActive)`. Empty if there was no
 * response.
 */
export const httpOf = (fault: HttpFacts): string =>
  httpFactsOf(fault)
    .map((facts) => ` (${facts})`)
    .join('');

/**
 * A hint with the wait that the service asked for. Undefined if it didn't ask for one, or if
 * waiting doesn't help.
 */
export const retryAfterHint = ({ kind, retryAfterMs }: Fault) =>
  retryAfterMs && kind !== 'unauthorized'
    ? `the service asks to wait ${formatDuration(retryAfterMs)}`
    : undefined;

/** What to do about a failed request: what its fault says, else `fallback`. */
export const hintOf = (fault: Fault, fallback: string): string =>
  fault.hint ?? retryAfterHint(fault) ?? remedyOf(fault) ?? fallback;

export const reasonOf = (fault: Fault): string => fault.message + httpOf(fault);

export const isRetryable = (fault: Fault): boolean => rowOf(fault.kind).isRetryable === true;

export const isInterruption = ({ kind }: Fault): boolean =>
  kind === 'interrupted' || kind === 'interrupted_in_flight';

export function deliveryOf(fault: Fault): Delivery {
  // A gateway also returns 5xx if it loses the service after passing on the request.
  return (fault.httpStatus ?? 0) >= 500 ? 'unknown' : rowOf(fault.kind).delivery;
}

const readAfterWriteMs = 30_000;

const kindsThatStopEveryRequest: readonly FaultKind[] = [
  'tls_handshake_failed',
  'tls_failed_after_handshake',
  'proxy_refused',
  'client_failed_before_sending',
  'client_failed_after_sending',
];

/**
 * Whether every request fails like this one, because of TLS, a proxy or this process. Then a retry
 * helps only if the service was reached before.
 */
export const stopsEveryRequest = ({ kind }: Fault): boolean =>
  kindsThatStopEveryRequest.includes(kind);

/** Whether the service has too many requests, so that no run should be polled for a while. */
export const isOverload = ({ kind, httpStatus }: Fault): boolean =>
  kind === 'throttled' || httpStatus === 503;

/**
 * Whether a run was not found so soon after its trigger that the service may not be able to read
 * its own new run yet.
 */
export function isTooEarly({ kind }: Fault, sinceTriggerMs: number | undefined): boolean {
  const isNotFound = kind === 'not_found' || kind === 'path_not_found';
  // The time is negative if the clock was set back since the trigger.
  return isNotFound && sinceTriggerMs !== undefined && Math.abs(sinceTriggerMs) < readAfterWriteMs;
}

/** The command was ended before a request was sent. */
export const interruptedFault: Fault = { kind: 'interrupted', message: 'interrupted' };
