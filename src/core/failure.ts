import type { ExitName } from './exit-codes.ts';

interface FailureRow {
  /** Whether the next attempt may do better. */
  retry: boolean;
  /** Whether an attempt to trigger that got this may have started a run. */
  effect: 'none' | 'unknown';
  exit: ExitName;
  /** One clause, if nobody has better words. */
  reason: string;
  /** The arguments of the runctl command to type; `<automation>` stands for its name. */
  fix?: string;
}

/** Every way in which a request gets no valid answer, and all that follows from it. */
// biome-ignore format: a table
export const failureTable = {
  unreachable:      { retry: true,  effect: 'none',    exit: 'unavailable',    reason: "the service can't be reached", fix: 'doctor' },
  tls:              { retry: false, effect: 'none',    exit: 'unavailable',    reason: "the service's certificate isn't trusted", fix: 'doctor' },
  proxy:            { retry: false, effect: 'none',    exit: 'unavailable',    reason: 'the proxy refused the connection', fix: 'doctor' },
  no_response:      { retry: true,  effect: 'unknown', exit: 'unavailable',    reason: 'no response in time', fix: 'doctor' },
  connection_lost:  { retry: true,  effect: 'unknown', exit: 'unavailable',    reason: 'the connection broke before the response', fix: 'doctor' },
  server_error:     { retry: true,  effect: 'unknown', exit: 'unavailable',    reason: 'the service reported an error' },
  invalid_response: { retry: true,  effect: 'unknown', exit: 'unavailable',    reason: "the response can't be read", fix: 'doctor' },
  redirected:       { retry: false, effect: 'unknown', exit: 'unavailable',    reason: "the service redirects, which runctl doesn't follow, because it would pass on the API key", fix: 'doctor' },
  in_progress:      { retry: true,  effect: 'unknown', exit: 'unavailable',    reason: 'the service is still working on it' },
  rate_limited:     { retry: true,  effect: 'none',    exit: 'rate_limited',   reason: 'too many requests' },
  unauthorized:     { retry: false, effect: 'none',    exit: 'unauthorized',   reason: 'the API key was refused', fix: 'doctor' },
  no_credits:       { retry: false, effect: 'none',    exit: 'no_credits',     reason: 'the AI credit balance is 0' },
  already_active:   { retry: false, effect: 'none',    exit: 'already_active', reason: 'it is already running', fix: 'trigger <automation> --if-active wait' },
  not_found:        { retry: false, effect: 'none',    exit: 'not_found',      reason: 'the service found no such automation or run' },
  rejected:         { retry: false, effect: 'none',    exit: 'rejected',       reason: 'the service refused the request' },
  // The last four are runctl's own.
  interrupted:      { retry: false, effect: 'none',    exit: 'interrupted',    reason: 'interrupted' },
  timeout:          { retry: false, effect: 'none',    exit: 'timeout',        reason: '--timeout expired' },
  out_of_time:      { retry: false, effect: 'none',    exit: 'unavailable',    reason: "it couldn't be sent in time" },
  not_repeated:     { retry: false, effect: 'none',    exit: 'rejected',       reason: 'another command has resolved this trigger' },
} as const satisfies Record<string, FailureRow>;

export type FailureKind = keyof typeof failureTable;

/** Why a request got no valid answer. All its texts are free of secrets. */
export interface Failure {
  kind: FailureKind;
  /** One clause, in the service's own words if it sent any. */
  reason: string;
  httpStatus?: number;
  /** The service's code, such as `runAlreadyActive`. */
  code?: string;
  requestId?: string;
  retryAfterMs?: number;
}

/** What one request got. */
export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export const failureOf = (kind: FailureKind, facts: Partial<Failure> = {}): Failure => ({
  reason: failureTable[kind].reason,
  ...facts,
  kind,
});

export const rowOf = ({ kind }: Failure): FailureRow => failureTable[kind];
