import { type Fault, type FaultKind, outcomesOf } from '../runs/fault.ts';
import { formatDuration } from '../runs/time-text.ts';
import { type ExitName, signalExits } from './exit-codes.ts';

/** The exit name of a trigger, `status` or `result` that ends with this fault. */
export const exitNameOf = (fault: Pick<Fault, 'kind'>): ExitName => outcomesOf(fault).command;

/** The exit name of a watch that gave up without a valid response. */
export const exitNameOfSilence = (fault: Fault): ExitName => outcomesOf(fault).watch;

/** What `doctor` finds if its request ends with this fault. */
export const doctorResultOf = (fault: Fault): ExitName | 'warning' => outcomesOf(fault).doctor;

/** The exit name for the signal that is the reason of an abort; `SIGPIPE` if the reader of stdout has left. */
export const interruptNameOf = ({ reason }: { reason: unknown }): ExitName =>
  reason === 'SIGPIPE' ? 'pipe_closed' : (signalExits[reason as keyof typeof signalExits] ?? 'interrupted');

const keyHint = '`runctl config list` shows where the API key comes from: replace it there';
const addressHint = 'check the base URL: `runctl config list`';

/** What the user can do about a failed request, whatever the request was. */
export const remedies: Partial<Record<FaultKind, string>> = {
  unauthorized: keyHint,
  no_credits: 'top up the credits, then trigger again',
  path_not_found: addressHint,
  redirected: addressHint,
  unreachable: addressHint,
  unsent: 'give it more time with `--timeout`, or a higher `--rate`',
};

/** A hint with the wait that the service asked for. Undefined if it didn't ask for one. */
export const retryAfterHint = ({ retryAfterMs }: Fault) =>
  retryAfterMs ? `try again in ${formatDuration(retryAfterMs)}, as the service asks` : undefined;

export const faultFields = ({ httpStatus, serviceCode, requestId, retryAfterMs }: Fault) => ({
  httpStatus,
  serviceCode,
  requestId,
  retryAfterMs,
});
