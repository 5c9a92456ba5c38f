import { formatDuration } from '../system/time-text.ts';

/** What happened to a request. With `unknown`, the service may have acted on it. */
type Delivery = 'not_sent' | 'refused' | 'unknown';

/** What is said of a fault, and what the user can do about it, whatever the request was. Else the service is quoted. */
interface Words {
  says?: string; // a whole clause, in place of the message of the service
  remedy?: string;
}

/**
 * `command` is the outcome (`run/exit-codes.ts`) if a trigger, `status` or `result` ends with the fault, and `watch` if
 * a watch gives up without a valid response. `doctor` is `ok` or `warning` if the service itself responded.
 */
type FaultRow = readonly [
  isRetryable: boolean,
  delivery: Delivery,
  command: string,
  watch: string,
  doctor: string,
  words?: Words,
];

const keyHint = '`runctl config list` shows where the API key comes from: replace it there';
const addressHint = 'check the base URL: `runctl config list`';

// biome-ignore format: a table
const faults = {
  //                      retry  delivery    command            watch           doctor
  unreachable:           [true,  'not_sent', 'unavailable',     'unavailable',  'unavailable', // no name, no connection
                          { remedy: addressHint }],
  untrusted:             [false, 'not_sent', 'unavailable',     'unavailable',  'unavailable'], // the TLS handshake failed
  broken_tls:            [false, 'unknown',  'unavailable',     'unavailable',  'unavailable'], // TLS failed later
  proxy_refused:         [false, 'not_sent', 'unavailable',     'unavailable',  'unavailable'], // 407, or no tunnel
  unsent:                [false, 'not_sent', 'unavailable',     'unavailable',  'unavailable', // its turn didn't come in time
                          { remedy: 'give it more time with `--timeout`, or a higher `--rate`' }],
  unsendable:            [false, 'not_sent', 'rejected',        'rejected',     'unavailable'], // HTTP cannot carry it
  lost:                  [true,  'unknown',  'unavailable',     'unavailable',  'unavailable'], // broken off, or silent
  unavailable:           [true,  'unknown',  'unavailable',     'unavailable',  'unavailable', // 408, 425, 5xx, complete
                          { says: 'the service is unavailable' }],
  throttled:             [true,  'refused',  'rate_limited',    'rate_limited', 'warning', // 429
                          { says: 'the rate limit was reached' }],
  unreadable:            [true,  'unknown',  'unavailable',     'unavailable',  'unavailable'], // no JSON, or another document
  too_large:             [false, 'unknown',  'unavailable',     'unavailable',  'unavailable'],
  unauthorized:          [false, 'refused',  'unauthorized',    'unauthorized', 'unauthorized', // 401, 403
                          { says: 'the API key was refused', remedy: keyHint }],
  no_credits:            [false, 'refused',  'no_credits',      'unavailable',  'warning', // 402
                          { says: 'the AI credit balance is 0', remedy: 'top up the credits, then trigger again' }],
  already_active:        [false, 'refused',  'already_active',  'unavailable',  'unavailable', // 422 runAlreadyActive
                          { says: 'it is already running' }],
  not_found:             [false, 'refused',  'not_found',       'unavailable',  'ok'], // no such run or Automation
  path_not_found:        [false, 'refused',  'not_found',       'unavailable',  'unavailable', // 404, 410 to a poll: a router?
                          { remedy: addressHint }],
  redirected_to_run:     [false, 'unknown',  'rejected',        'unavailable',  'unavailable', // the trigger may have started it
                          { says: 'the service responded with a redirect to a run, not with its id' }],
  redirected:            [false, 'refused',  'rejected',        'unavailable',  'unavailable',
                          { remedy: addressHint }],
  in_progress:           [true,  'unknown',  'rejected',        'unavailable',  'unavailable'], // 409: the key is in progress
  rejected:              [false, 'refused',  'rejected',        'unavailable',  'unavailable'], // any other complete refusal
  reused_key:            [false, 'refused',  'rejected',        'unavailable',  'unavailable'], // the run of another target
  stale_key:             [false, 'not_sent', 'outcome_unknown', 'unavailable',  'unavailable'], // the service may have forgotten it
  interrupted:           [false, 'not_sent', 'interrupted',     'interrupted',  'interrupted'], // before it was sent
  interrupted_in_flight: [false, 'unknown',  'interrupted',     'interrupted',  'interrupted'],
} as const satisfies Record<string, FaultRow>;

export type FaultKind = keyof typeof faults;
/** The exit name of a trigger, `status` or `result` that ends with this fault. */
export const exitNameOf = ({ kind }: Fault) => faults[kind][2];

/** The exit name of a watch that gave up without a valid response. */
export const exitNameOfSilence = ({ kind }: Fault) => faults[kind][3];

/** What `doctor` finds if its request ends with this fault. */
export const doctorResultOf = ({ kind }: Fault) => faults[kind][4];

const wordsOf = (kind: FaultKind): Words => (faults[kind] as FaultRow)[5] ?? {};

/** The complete message for a refusal. Undefined if the service's message is quoted. */
export const sentenceOf = (kind: FaultKind) => wordsOf(kind).says;

/** What the user can do about a failed request, whatever the request was. */
export const remedyOf = ({ kind }: Pick<Fault, 'kind'>) => wordsOf(kind).remedy;

/** Why a request failed. What it means follows from `kind` and `httpStatus` alone. */
export interface Fault {
  kind: FaultKind;
  /** What happened, in one clause that fits after "because" or a colon. `reasonOf` adds the HTTP facts. */
  message: string;
  hint?: string;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  retryAfterMs?: number; // from `Retry-After`
  executionId?: string; // the active run that a 422 names
  page?: string; // the title of an HTML page, which something other than the service may have sent
}

/** The HTTP facts at the end of a sentence: ` (HTTP 422 runAlreadyActive)`. Empty if there was no response. */
export function httpOf({ httpStatus, serviceCode }: Pick<Fault, 'httpStatus' | 'serviceCode'>): string {
  return httpStatus === undefined ? '' : ` (${['HTTP', httpStatus, serviceCode].filter(Boolean).join(' ')})`;
}

/** A hint with the wait that the service asked for. Undefined if it didn't ask for one. */
export const retryAfterHint = ({ retryAfterMs }: Fault) =>
  retryAfterMs ? `try again in ${formatDuration(retryAfterMs)}, as the service asks` : undefined;

/** What documents have of a fault. */
export const faultFields = ({ httpStatus, serviceCode, requestId, retryAfterMs }: Fault) => ({
  httpStatus,
  serviceCode,
  requestId,
  retryAfterMs,
});

export const reasonOf = (fault: Fault): string => fault.message + httpOf(fault);

export const isRetryable = ({ kind }: Fault): boolean => faults[kind][0];

export const isInterruption = ({ kind }: Fault): boolean => kind === 'interrupted' || kind === 'interrupted_in_flight';

export function deliveryOf({ kind, httpStatus = 0 }: Fault): Delivery {
  // A gateway also returns 5xx if it loses the service after passing on the request.
  return httpStatus >= 500 ? 'unknown' : faults[kind][1];
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

/** The command was ended before a request was sent. */
export const interrupted: Fault = { kind: 'interrupted', message: 'interrupted' };
