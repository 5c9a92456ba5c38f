import { attributions } from './attribution.ts';
import { type ExitName, exitCodeOf, isSignalExitName } from './exit-codes.ts';
import { exitNameAfterGivingUp, exitNameOfFault, type Fault } from './fault.ts';
import type { LastConfirmed, Outcome, OutcomeOf } from './outcome.ts';
import type { ProblemName } from './problem.ts';
import type { RunResult, RunStatus } from './service.ts';
import { endedWell, exitNameOfRun } from './statuses.ts';

/** How it stands, by its name in the table of exit codes. */
export function outcomeNameOf(outcome: Outcome): ExitName {
  if (outcome.interruptedBy) return outcome.interruptedBy;
  switch (outcome.kind) {
    case 'dry_run':
    case 'skipped':
    case 'info':
      return 'ok';
    case 'no_run':
      return nameWithoutRun(outcome);
    case 'in_doubt':
      return nameInDoubt(outcome);
    case 'has_run':
      return nameWithRun(outcome);
    case 'status':
      return nameOfStatus(outcome);
    case 'watch_ended':
      return nameOfWatchEnd(outcome);
    case 'request_failed':
      return exitNameOfFault(outcome.fault);
    case 'not_found':
      return 'not_found';
    case 'problem':
      return outcome.problem.facts.name;
  }
}

function nameWithoutRun({ fault, waitEnd }: OutcomeOf<'no_run'>): ExitName {
  return waitEnd?.kind === 'gave_up' ? exitNameAfterGivingUp(fault) : exitNameOfFault(fault);
}

function nameInDoubt({ inDoubt }: OutcomeOf<'in_doubt'>): ExitName {
  return inDoubt.reason.kind === 'superseded' ? 'ok' : 'outcome_unknown';
}

function nameOfStatus({ status, requestFault }: OutcomeOf<'status'>): ExitName {
  return requestFault && endedWell(status.status) ? 'result_unavailable' : exitNameOfRun(status);
}

/** A trigger that is repeated must not turn a failed run into a success. */
function nameWithRun({ triggerInfo, status }: OutcomeOf<'has_run'>): ExitName {
  const isEarlier = attributions[triggerInfo.attribution].how !== 'started';
  return isEarlier && status?.isFinal ? exitNameOfRun(status) : 'ok';
}

/** `trigger --watch` has a run, whatever kept it from following it. */
function nameOfWatchEnd({ triggerInfo, end }: OutcomeOf<'watch_ended'>): ExitName {
  const name = problemNameOfWatchEnd(end);
  return triggerInfo && name !== 'timeout' && !isSignalExitName(name) ? 'watch_failed' : name;
}

function problemNameOfWatchEnd(end: OutcomeOf<'watch_ended'>['end']): ExitName {
  switch (end.kind) {
    case 'timed_out':
      return 'timeout';
    case 'signal':
      return 'interrupted';
    case 'gave_up':
      return exitNameAfterGivingUp(end.fault);
    case 'polls_refused':
      return exitNameOfFault(end.fault);
  }
}

/** The name of the problem in a document: the cause, if the outcome has one. */
export function problemNameOf(outcome: Outcome): ProblemName {
  const name = outcomeNameOf(outcome);
  if (outcome.interruptedBy) return name;
  if (outcome.kind === 'watch_ended') return problemNameOfWatchEnd(outcome.end);
  if (outcome.kind === 'status' && outcome.requestFault) return exitNameOfFault(outcome.requestFault);
  if (outcome.kind === 'problem') return outcome.problem.facts.shownName ?? name;
  if (outcome.kind !== 'in_doubt') return name;
  const { kind } = outcome.inDoubt.reason;
  if (kind === 'expired') return 'idempotency_key_expired';
  return kind === 'other_api_key' ? kind : name;
}

/** With which name a command ends that has this outcome alone. */
export const commandExitNameOf = (outcome: Outcome): ExitName =>
  outcome.exitsZero && !outcome.interruptedBy ? 'ok' : outcomeNameOf(outcome);

/** How it stands after a signal: a run that has finished stays as it is, and so does what was only asked for. */
export function endedBySignal(outcome: Outcome, interruptedBy: ExitName): Outcome {
  const isDone = outcome.interruptedBy || outcome.exitsZero || factsOf(outcome).status?.isFinal;
  if (isDone) return outcome;
  if (outcome.kind === 'watch_ended') return { ...outcome, interruptedBy, end: { kind: 'signal' } as const };
  return { ...outcome, interruptedBy };
}

export const isOk = (outcome: Outcome): boolean => exitCodeOf(commandExitNameOf(outcome)) === 0;

interface OutcomeFacts {
  status?: RunStatus; // the last one that is known
  result?: RunResult;
  fault?: Fault; // why it failed
  lastConfirmed?: LastConfirmed; // if the status is older than this command
  activeExecutionId?: string; // the run that stood in the way
}

/** The facts that several kinds of outcome have, for whoever shows them all in the same way: documents and table rows. */
export function factsOf(outcome: Outcome): OutcomeFacts {
  switch (outcome.kind) {
    case 'has_run':
      return { status: outcome.status, lastConfirmed: outcome.lastConfirmed };
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

function factsOfStatus({ status, result, requestFault, statusAgeMs }: OutcomeOf<'status'>): OutcomeFacts {
  const lastConfirmed = statusAgeMs === undefined ? undefined : { status, ageMs: statusAgeMs };
  return { status, result, fault: requestFault, lastConfirmed };
}

function factsOfWatchEnd({ end, lastConfirmed }: OutcomeOf<'watch_ended'>): OutcomeFacts {
  const fault = 'fault' in end ? end.fault : undefined;
  return { status: lastConfirmed?.status, lastConfirmed, fault };
}

function factsWithoutRun({ fault, active }: OutcomeOf<'no_run'>): OutcomeFacts {
  return { fault, activeExecutionId: active?.executionId ?? fault.executionId };
}

function factsInDoubt({ inDoubt }: OutcomeOf<'in_doubt'>): OutcomeFacts {
  const { reason, conflict } = inDoubt;
  const fault = reason.kind === 'no_response' ? reason.fault : undefined;
  return { fault, activeExecutionId: fault?.executionId ?? conflict?.activeExecutionId };
}
