import type { LastConfirmed, WarningEvent } from '../run/events.ts';
import { type ExitName, exitNameOfStatus, interruptNameOf, isInterruptName } from '../run/exit-codes.ts';
import {
  exitNameOf,
  exitNameOfSilence,
  type Fault,
  type FaultKind,
  faultFields,
  httpOf,
  isInterruption,
  reasonOf,
  remedyOf,
  retryAfterHint,
} from '../run/fault.ts';
import { Problem } from '../run/problem.ts';
import { nameOf, type Run } from '../run/run.ts';
import { errorTextOf } from '../run/service.ts';
import { endedWell } from '../run/statuses.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { FinishedWatch, UnfinishedWatch, WatchResult } from '../watching/watch-result.ts';

/** Why a watch failed. Undefined if the run finished and its result was read or can't change the exit code. */
export function watchProblem(
  watched: WatchResult,
  signal: AbortSignal,
  { argument = watched.run.executionId, hasJournal, isForgotten }: Partial<FailedPoll> = {},
): Problem | undefined {
  switch (watched.kind) {
    case 'finished':
      return watched.resultFault && resultProblem(watched, watched.resultFault, signal, argument);
    case 'timed_out':
      return timeoutProblem(watched, argument);
    case 'gave_up':
      return giveUpProblem(watched, argument);
    case 'refused':
      return refusedProblem(watched.fault, { ...watched, operation: 'status', argument, hasJournal, isForgotten });
    case 'interrupted':
      return interruptedProblem(watched, watched.run, argument);
  }
}

export function watchWarning({
  execution,
  result,
  resultFault,
  disagreement,
}: FinishedWatch): Pick<WarningEvent, 'name' | 'message'> | undefined {
  if (disagreement) {
    const { status, result } = disagreement;
    const message = `the service reports status ${status} for the run, but ${result} in its result; runctl uses ${execution.status}`;
    return { name: 'conflicting_status', message };
  }
  if (result?.error && endedWell(execution.status)) {
    return {
      name: 'completed_with_error',
      message: `the run finished ${execution.status}, though its result has an error: ${errorTextOf(result)}`,
    };
  }
  if (!resultFault || isInterruption(resultFault) || endedWell(execution.status)) return undefined;
  const message = `the run finished ${execution.status}, but its result couldn't be read: ${reasonOf(resultFault)}`;
  return { name: 'result_unavailable', message };
}

/** The problem if `trigger --watch` couldn't follow its run. Interruptions and timeouts keep their own problems. */
export function watchFailedProblem(problem: Problem): Problem {
  const { name } = problem.facts;
  if (name === 'timeout' || name === 'result_unavailable' || isInterruptName(name)) return problem;
  return problem.with({ name: 'watch_failed', shownName: name });
}

export function exitNameOfWatch(watched: WatchResult, problem: Problem | undefined): ExitName {
  if (problem) return problem.facts.name;
  return exitNameOfStatus(watched.execution?.status ?? '');
}

interface FailedPoll extends LastConfirmed {
  operation: 'status' | 'result';
  argument: string;
  hasJournal?: boolean; // without a journal, there are no runs to list
  isForgotten?: boolean; // the API key that asked is the one that started the run
}

/** After the API key is replaced, the run can be watched again. */
function refusedProblem(fault: Fault, poll: FailedPoll): Problem {
  const problem = pollProblem(fault, poll);
  const { name, hint } = problem.facts;
  if (name !== 'unauthorized') return problem;
  return problem.with({ hint: `${hint}, then ${resume(poll.argument)}` });
}

export function pollProblem(
  fault: Fault,
  { operation, argument, hasJournal = true, isForgotten, ...known }: FailedPoll,
): Problem {
  const { run, execution } = known;
  const name = exitNameOf(fault);
  const isMissing = name === 'not_found' && !fault.page;
  const orElse = fault.kind === 'path_not_found' ? ', or the base URL is wrong' : '';
  const missing = execution
    ? `the service doesn't know run ${run.executionId} of ${nameOf(run.target)}, ${lastConfirmed(known)}`
    : `${nameOf(run.target)} has no run ${run.executionId}${orElse}`;
  const seen = execution ? `, ${lastConfirmed(known)}` : '';
  const unread = `the ${operation} of ${nameOf(run.target)} couldn't be read: ${fault.message}; the run is not affected${seen}`;
  const happened = isMissing ? missing : unread;
  const retry = again(operation, argument);
  const remedy = remedyOf(fault);
  const whyMissing = isForgotten ? forgottenHint : notFoundHint(hasJournal);
  return new Problem({
    ...faultFields(fault),
    name,
    message: happened + httpOf(fault),
    hint: fault.hint ?? retryAfterHint(fault) ?? remedy ?? (isMissing ? whyMissing : retry),
  });
}

const forgottenHint =
  'perhaps the service was restored from a backup; if you still want this run, trigger again with a new idempotency key';
const notFoundHint = (hasJournal: boolean) =>
  `check the id, the project and the automation${hasJournal ? '; `runctl list` shows the runs of this machine' : ''}`;
const again = (command: string, argument: string) => `\`runctl ${command} ${argument}\``;

const lastConfirmed = ({ execution, ageMs = 0 }: LastConfirmed) =>
  execution ? `last confirmed ${execution.status} ${formatDuration(ageMs)} ago` : 'its status was never confirmed';

const resume = (argument: string) => again('watch', argument);

function giveUpProblem(watched: Extract<UnfinishedWatch, { kind: 'gave_up' }>, argument: string): Problem {
  const { fault, giveUpAfterMs } = watched;
  const wait = retryAfterHint(fault);
  const failure = `${nameOf(watched.run.target)} couldn't be followed: no valid response for ${formatDuration(giveUpAfterMs)}, ${fault.message}`;
  return new Problem({
    ...faultFields(fault),
    name: exitNameOfSilence(fault),
    message: `${failure}; the run may still be running, ${lastConfirmed(watched)}${httpOf(fault)}`,
    hint: wait ? `${wait}; ${resume(argument)}` : (fault.hint ?? resume(argument)),
  });
}

function timeoutProblem(watched: Extract<UnfinishedWatch, { kind: 'timed_out' }>, argument: string): Problem {
  const { fault } = watched;
  const limit = formatDuration(watched.timeoutMs);
  const wait = fault && retryAfterHint(fault);
  const why = fault ? `: ${fault.message}` : '';
  const continues = watched.execution?.isFinal ? '' : 'the run continues, ';
  return new Problem({
    ...(fault && faultFields(fault)),
    name: 'timeout',
    message: `stopped watching ${nameOf(watched.run.target)} after ${limit}${why}; ${continues}${lastConfirmed(watched)}${fault ? httpOf(fault) : ''}`,
    hint: wait ? `${wait}; ${resume(argument)}` : resume(argument),
  });
}

/** The run has finished, but its result couldn't be read, or the user didn't wait for it. */
function resultProblem(
  { execution, run }: FinishedWatch,
  fault: Fault,
  signal: AbortSignal,
  argument: string,
): Problem | undefined {
  const { status } = execution;
  if (isInterruption(fault)) {
    const message = `interrupted; ${nameOf(run.target)} finished ${status}, but its result was not read`;
    return new Problem({ name: interruptNameOf(signal), message, hint: again('result', argument) });
  }
  if (!endedWell(status)) return undefined;
  const hints: Partial<Record<FaultKind, string>> = {
    too_large: `runctl reads results of up to 64 MiB; \`runctl status ${argument}\` shows the run`,
    unauthorized: fault.hint ?? remedyOf({ kind: 'unauthorized' }),
  };
  return new Problem({
    ...faultFields(fault),
    name: 'result_unavailable',
    shownName: exitNameOf(fault),
    message: `${nameOf(run.target)} finished ${status}, but its result couldn't be read: ${reasonOf(fault)}`,
    hint: hints[fault.kind] ?? fault.hint ?? retryAfterHint(fault) ?? again('result', argument),
  });
}

const askedWait = ({ askedUntilMs }: { askedUntilMs?: number }): string =>
  askedUntilMs === undefined ? '' : ` (it was waiting until ${localTime(askedUntilMs)}, as the service had asked)`;

/** The user ended the command. The run, if any, continues. `interrupt` is the signal or has its reason. */
export function interruptedProblem(
  interrupt: { reason: unknown; askedUntilMs?: number },
  run?: Run,
  argument = '',
): Problem {
  const name = interruptNameOf(interrupt);
  if (!run) return new Problem({ name, message: 'interrupted' });
  const message = `stopped watching ${nameOf(run.target)}; the run continues${askedWait(interrupt)}`;
  return new Problem({ name, message, hint: resume(argument) });
}
