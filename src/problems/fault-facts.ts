import { formatDuration } from '../runs/duration.ts';
import type { Fault, FaultKind } from '../runs/fault.ts';
import { type ExitName, signalExits } from './exit-codes.ts';

const exitNames: Record<FaultKind, ExitName> = {
  unreachable: 'unavailable',
  untrusted: 'unavailable',
  broken_tls: 'unavailable',
  proxy_refused: 'unavailable',
  unsendable: 'rejected',
  lost: 'unavailable',
  unavailable: 'unavailable',
  throttled: 'rate_limited',
  unreadable: 'unavailable',
  too_large: 'rejected',
  unauthorized: 'unauthorized',
  no_credits: 'no_credits',
  already_active: 'already_active',
  not_found: 'not_found',
  path_not_found: 'not_found',
  redirected_to_run: 'rejected',
  redirected: 'rejected',
  in_progress: 'rejected',
  rejected: 'rejected',
  reused_key: 'rejected',
  stale_key: 'outcome_unknown',
  interrupted: 'interrupted',
  interrupted_in_flight: 'interrupted',
};

export const exitNameOf = (fault: Fault): ExitName => exitNames[fault.kind];

/** The exit name for the signal that is the reason of an abort; `SIGPIPE` if the reader of stdout has left. */
export const interruptNameOf = ({ reason }: { reason: unknown }): ExitName =>
  reason === 'SIGPIPE' ? 'pipe_closed' : (signalExits[reason as keyof typeof signalExits] ?? 'interrupted');

const keyHint = '`runctl config list` shows where the API key comes from: replace it there';
const addressHint = 'check the base URL: `runctl config list`';

/** What the user can do about a failed request, if that does not depend on what was asked for. */
export const remedies: Partial<Record<FaultKind, string>> = {
  unauthorized: keyHint,
  no_credits: 'top up the credits, then trigger again',
  path_not_found: addressHint,
  redirected: addressHint,
  unreachable: addressHint,
};

/** A hint with the wait that the service asked for; undefined if it asked for none. */
export const retryAfterHint = ({ retryAfterMs }: Fault) =>
  retryAfterMs === undefined ? undefined : `try again in ${formatDuration(retryAfterMs)}, as the service asks`;

export const factsOf = ({ httpStatus, serviceCode, requestId, retryAfterMs }: Fault) => ({
  httpStatus,
  serviceCode,
  requestId,
  retryAfterMs,
});
