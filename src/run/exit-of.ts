import { attributions } from './attribution.ts';
import { type ExitName, exitCodeOf, isSignalExitName } from './exit-codes.ts';
import { exitNameAfterGivingUp, exitNameOfFault, type Fault } from './fault.ts';
import type { LastConfirmed, Outcome, OutcomeOf } from './outcome.ts';
import type { ProblemName } from './problem.ts';
import type { RunResult, RunSnapshot } from './service.ts';
import { exitNameOfRun, isSuccess } from './statuses.ts';

/**
 * The name under which the JSON document reports this outcome (`runctl.outcome`). It is a name in
 * the table of exit codes.
 */
export function exitNameOfOutcome(outcome: Outcome): ExitName {
  if (outcome.interruptedBy) return outcome.interruptedBy;
  switch (outcome.kind) {
    case 'dry_run':
    case 'skipped':
    case 'info':
      return 'ok';
    case 'no_run':
      return outcome.waitEnd?.kind === 'gave_up'
        ? exitNameAfterGivingUp(outcome.fault)
        : exitNameOfFault(outcome.fault);
    case 'in_doubt':
      return outcome.inDoubt.reason.kind === 'superseded' ? 'ok' : 'outcome_unknown';
    case 'has_run':
      return exitNameWithRun(outcome);
    case 'status':
      return exitNameOfStatus(outcome);
    case 'watch_ended':
      return exitNameOfWatchEnd(outcome);
    case 'request_failed':
      return exitNameOfFault(outcome.fault);
    case 'not_found':
      return 'not_found';
    case 'problem':
      return outcome.problem.facts.name;
  }
}

function exitNameOfStatus({ snapshot, requestFault }: OutcomeOf<'status'>): ExitName {
  return requestFault && isSuccess(snapshot.status)
    ? 'result_unavailable'
    : exitNameOfRun(snapshot);
}

/**
 * A trigger that found an earlier run exits as that run ended, because repeating a command must not
 * turn a failed run into a success.
 */
function exitNameWithRun({ triggerInfo, snapshot }: OutcomeOf<'has_run'>): ExitName {
  const isEarlier = attributions[triggerInfo.attribution].how !== 'started';
  return isEarlier && snapshot?.isFinal ? exitNameOfRun(snapshot) : 'ok';
}

/**
 * If `trigger --watch` couldn't watch its run to the end, it exits with `watch_failed`, because the
 * run was started. A timeout and a signal keep their own names.
 */
function exitNameOfWatchEnd({ triggerInfo, end }: OutcomeOf<'watch_ended'>): ExitName {
  const name = exitNameOfCause(end);
  return triggerInfo && name !== 'timeout' && !isSignalExitName(name) ? 'watch_failed' : name;
}

function exitNameOfCause(end: OutcomeOf<'watch_ended'>['end']): ExitName {
  switch (end.kind) {
    case 'timed_out':
      return 'timeout';
    case 'interrupted':
      return 'interrupted';
    case 'gave_up':
      return exitNameAfterGivingUp(end.fault);
    case 'cannot_poll':
      return exitNameOfFault(end.fault);
  }
}

/**
 * The name of the problem in the JSON document (`runctl.problem.name`). If the outcome has a cause
 * with a name of its own, this is the name of the cause.
 */
export function problemNameOf(outcome: Outcome): ProblemName {
  if (outcome.interruptedBy) return outcome.interruptedBy;
  return causeNameOf(outcome) ?? exitNameOfOutcome(outcome);
}

function causeNameOf(outcome: Outcome): ProblemName | undefined {
  switch (outcome.kind) {
    case 'watch_ended':
      return exitNameOfCause(outcome.end);
    case 'status':
      return outcome.requestFault && exitNameOfFault(outcome.requestFault);
    case 'problem':
      return outcome.problem.facts.shownName;
    case 'in_doubt':
      return causeNameInDoubt(outcome);
    case 'dry_run':
    case 'skipped':
    case 'no_run':
    case 'has_run':
    case 'request_failed':
    case 'not_found':
    case 'info':
      return undefined;
  }
}

function causeNameInDoubt({ inDoubt }: OutcomeOf<'in_doubt'>): ProblemName | undefined {
  const { kind } = inDoubt.reason;
  if (kind === 'key_expired') return 'idempotency_key_expired';
  return kind === 'other_api_key' ? 'other_api_key' : undefined;
}

/**
 * The exit name of a command whose only outcome this is. A command that only shows a status
 * succeeds whatever the status is.
 */
export const commandExitNameOf = (outcome: Outcome): ExitName =>
  outcome.isReportOnly && !outcome.interruptedBy ? 'ok' : exitNameOfOutcome(outcome);

/**
 * The outcome after a signal. It stays the same if the run has finished, or if the command only
 * shows a status.
 */
export function endedBySignal(outcome: Outcome, interruptedBy: ExitName): Outcome {
  const isDone =
    outcome.interruptedBy || outcome.isReportOnly || factsOf(outcome).snapshot?.isFinal;
  if (isDone) return outcome;
  if (outcome.kind === 'watch_ended')
    return { ...outcome, interruptedBy, end: { kind: 'interrupted' } as const };
  return { ...outcome, interruptedBy };
}

export const isOk = (outcome: Outcome): boolean => exitCodeOf(commandExitNameOf(outcome)) === 0;

interface OutcomeFacts {
  /** The last snapshot of the run. */
  snapshot?: RunSnapshot;
  result?: RunResult;
  /** The request that failed. */
  fault?: Fault;
  /** The last status and its age, if it wasn't read just now. */
  lastConfirmed?: LastConfirmed;
  /** The run that was active, so that none could be started. */
  activeExecutionId?: string;
}

/**
 * Reads the facts that several kinds of outcome have, so that the JSON document and the tables need
 * no switch of their own.
 */
export function factsOf(outcome: Outcome): OutcomeFacts {
  switch (outcome.kind) {
    case 'has_run':
      return { snapshot: outcome.snapshot, lastConfirmed: outcome.lastConfirmed };
    case 'status':
      return factsOfStatus(outcome);
    case 'watch_ended':
      return factsOfWatchEnd(outcome);
    case 'request_failed':
      return { fault: outcome.fault, lastConfirmed: outcome.lastConfirmed };
    case 'no_run':
      return factsWithoutRun(outcome);
    case 'in_doubt':
      return factsInDoubt(outcome);
    case 'skipped':
      return { activeExecutionId: outcome.activeExecutionId };
    case 'problem':
      return { fault: outcome.problem.facts.fault };
    case 'dry_run':
    case 'not_found':
    case 'info':
      return {};
  }
}

function factsOfStatus({
  snapshot,
  result,
  requestFault,
  statusAgeMs,
}: OutcomeOf<'status'>): OutcomeFacts {
  const lastConfirmed = statusAgeMs === undefined ? undefined : { snapshot, ageMs: statusAgeMs };
  return { snapshot, result, fault: requestFault, lastConfirmed };
}

function factsOfWatchEnd({ end, lastConfirmed }: OutcomeOf<'watch_ended'>): OutcomeFacts {
  const fault = 'fault' in end ? end.fault : undefined;
  return { snapshot: lastConfirmed?.snapshot, lastConfirmed, fault };
}

function factsWithoutRun({ fault, active }: OutcomeOf<'no_run'>): OutcomeFacts {
  return { fault, activeExecutionId: active?.executionId ?? fault.executionId };
}

function factsInDoubt({ inDoubt }: OutcomeOf<'in_doubt'>): OutcomeFacts {
  const { reason, conflict } = inDoubt;
  const fault = reason.kind === 'last_attempt_failed' ? reason.fault : undefined;
  return { fault, activeExecutionId: fault?.executionId ?? conflict?.activeExecutionId };
}
