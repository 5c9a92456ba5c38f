import { formatDuration } from '../runs/duration.ts';
import type { LastKnown } from '../runs/follow-event.ts';
import { nameOf, type Run } from '../runs/run.ts';
import type { Fault, FaultKind } from '../runs/service.ts';
import { type ExitName, signalExits } from './exit-codes.ts';
import { Problem } from './problem.ts';

const exitNames: Record<FaultKind, ExitName> = {
  unreachable: 'unavailable',
  untrusted: 'unavailable',
  proxy_refused: 'unavailable',
  lost: 'unavailable',
  unavailable: 'unavailable',
  throttled: 'rate_limited',
  unreadable: 'bad_response',
  too_large: 'bad_response',
  unauthorized: 'unauthorized',
  no_credits: 'no_credits',
  already_active: 'already_active',
  not_found: 'not_found',
  redirected: 'bad_response',
  in_progress: 'bad_response',
  rejected: 'bad_response',
  reused_key: 'bad_response',
  stale_key: 'outcome_unknown',
  interrupted: 'interrupted',
};

/** What a fault is called in the table of exit codes. */
export const exitNameOf = (fault: Fault): ExitName => exitNames[fault.kind];

const keyHint = 'check the key with `runctl config list`, set another with `runctl config set apiKey`';
const addressHint = 'check the base address with `runctl config list`';

/** What mends a fault, whatever was asked. */
export const remedies: Partial<Record<FaultKind, string>> = {
  unauthorized: keyHint,
  no_credits: 'top up the credits, then trigger again',
  redirected: addressHint,
  unreachable: addressHint,
};

/** When the service wants the next request. */
export const comeBack = ({ retryAfterMs }: Fault) =>
  retryAfterMs === undefined ? undefined : `come back in ${formatDuration(retryAfterMs)}, as the service asks`;

export const factsOf = ({ httpStatus, serviceCode, requestId }: Fault) => ({ httpStatus, serviceCode, requestId });

/** A look at a run (status or result) that was refused, or that patience ended on. */
export function faultProblem(fault: Fault, { operation, run }: { operation: 'status' | 'result'; run: Run }): Problem {
  const meanings: Partial<Record<FaultKind, string>> = {
    not_found: `there is no run ${run.executionId} under ${nameOf(run.target)}`,
    unauthorized: 'the key was refused; the run itself is not touched',
  };
  const meaning = meanings[fault.kind] ?? `the ${operation} could not be read; the run itself is not touched`;
  const remedy = remedies[fault.kind] ?? (fault.kind === 'not_found' ? notFoundHint : again(operation, run));
  return new Problem({
    ...factsOf(fault),
    name: exitNameOf(fault),
    message: `${fault.message}: ${meaning}`,
    hint: fault.hint ?? comeBack(fault) ?? remedy,
  });
}

const notFoundHint = 'check the id, the project and the automation name; `runctl list` shows the runs known here';
const again = (command: string, { executionId }: Run) => `ask again with \`runctl ${command} ${executionId}\``;

const lastSeen = ({ status, ageMs }: LastKnown) =>
  status === undefined ? 'its state was never confirmed' : `last seen ${status} ${formatDuration(ageMs ?? 0)} ago`;

const resume = ({ executionId }: Run) => `follow it again with \`runctl watch ${executionId}\``;

/** A watch that heard nothing good for `giveUpAfterMs`, or that the service wants to wait for longer than is left of it. */
export function givenUpProblem(fault: Fault, giveUpAfterMs: number, known: LastKnown): Problem {
  const wait = comeBack(fault);
  const patience = formatDuration(giveUpAfterMs);
  const happened = wait
    ? `${fault.message}, and the wait it asks for outlasts \`--give-up-after\` (${patience})`
    : `no good answer for ${patience} (${fault.message})`;
  return new Problem({
    ...factsOf(fault),
    name: 'unavailable',
    message: `${happened}: the run may still be going, ${lastSeen(known)}`,
    hint: wait ? `${wait}; ${resume(known.run)}` : (fault.hint ?? resume(known.run)),
  });
}

/** `--timeout` passed, or will have by the time at which the service wants the next request. */
export function watchTimeoutProblem(timeoutMs: number, known: LastKnown, fault?: Fault): Problem {
  const limit = formatDuration(timeoutMs);
  const wait = fault && comeBack(fault);
  return new Problem({
    ...(fault && factsOf(fault)),
    name: 'watch_timeout',
    message: `${wait ? `${fault.message}, and the limit of ${limit} passes first` : `the limit of ${limit} passed`}: the run goes on, ${lastSeen(known)}`,
    hint: wait ? `${wait}; ${resume(known.run)}` : resume(known.run),
  });
}

/** The run has ended, its result cannot be read. */
export function resultProblem(fault: Fault, run: Run, status: string): Problem {
  return new Problem({
    ...factsOf(fault),
    name: 'result_unavailable',
    message: `the run ended ${status}, but its result could not be read: ${fault.message}`,
    hint:
      fault.kind === 'too_large'
        ? `read it whole with \`runctl result ${run.executionId} --max-output 512MiB\``
        : (fault.hint ?? comeBack(fault) ?? again('result', run)),
  });
}

export const interruptNameOf = (signal: AbortSignal): ExitName =>
  signalExits[signal.reason as keyof typeof signalExits] ?? 'interrupted';

/** The user ended the watch; the run is left alone. */
export function interruptedProblem(signal: AbortSignal, run?: Run): Problem {
  const name = interruptNameOf(signal);
  if (!run) return new Problem({ name, message: 'interrupted' });
  return new Problem({ name, message: 'interrupted: the run goes on', hint: resume(run), leavesRun: true });
}

/** Was it the user who left a run that goes on? */
export const leavesRun = ({ facts }: Problem): boolean => facts.leavesRun === true;

/** The user did not wait for the result of a run that has ended. */
export function interruptedResultProblem(signal: AbortSignal, run: Run, status: string): Problem {
  const message = `interrupted: the run ended ${status}, its result was not read`;
  return new Problem({ name: interruptNameOf(signal), message, hint: again('result', run) });
}
