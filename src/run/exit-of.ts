import { meanings } from './evidence.ts';
import { type ExitName, exitCodeOf, isInterruptName } from './exit-codes.ts';
import { exitNameOf, exitNameOfSilence, type Fault } from './fault.ts';
import type { Outcome, OutcomeOf, Seen } from './outcome.ts';
import type { ProblemName } from './problem.ts';
import type { RunResult, RunStatus } from './service.ts';
import { endedWell, exitNameOfRun } from './statuses.ts';

/** How it stands, by its name in the table of exit codes. */
export function nameOfOutcome(outcome: Outcome): ExitName {
  if (outcome.interruptedBy) return outcome.interruptedBy;
  switch (outcome.kind) {
    case 'shown':
    case 'skipped':
    case 'report':
      return 'ok';
    case 'refused':
      return nameOfRefusal(outcome);
    case 'in_doubt':
      return outcome.doubt.why.kind === 'superseded' ? 'ok' : 'outcome_unknown';
    case 'started':
      return nameOfStart(outcome);
    case 'known':
      return outcome.unread && endedWell(outcome.status.status) ? 'result_unavailable' : exitNameOfRun(outcome.status);
    case 'stopped':
      return nameOfEnd(outcome);
    case 'unread':
      return exitNameOf(outcome.fault);
    case 'forgotten':
      return 'not_found';
    case 'failed':
      return outcome.problem.facts.name;
  }
}

function nameOfRefusal({ fault, wait }: OutcomeOf<'refused'>): ExitName {
  return wait?.kind === 'gave_up' ? exitNameOfSilence(fault) : exitNameOf(fault);
}

/** A trigger that is repeated must not turn a failed run into a success. */
function nameOfStart({ start, status }: OutcomeOf<'started'>): ExitName {
  const isEarlier = meanings[start.evidence].how !== 'started';
  return isEarlier && status?.isFinal ? exitNameOfRun(status) : 'ok';
}

/** `trigger --watch` has a run, whatever kept it from following it. */
function nameOfEnd({ start, end }: OutcomeOf<'stopped'>): ExitName {
  const name = causeOfEnd(end);
  return start && name !== 'timeout' && !isInterruptName(name) ? 'watch_failed' : name;
}

function causeOfEnd(end: OutcomeOf<'stopped'>['end']): ExitName {
  switch (end.kind) {
    case 'timed_out':
      return 'timeout';
    case 'interrupted':
      return 'interrupted';
    case 'gave_up':
      return exitNameOfSilence(end.fault);
    case 'refused':
      return exitNameOf(end.fault);
  }
}

/** The name of the problem in a document: the cause, if the outcome has one. */
export function causeOf(outcome: Outcome): ProblemName {
  const name = nameOfOutcome(outcome);
  if (outcome.interruptedBy) return name;
  if (outcome.kind === 'stopped') return causeOfEnd(outcome.end);
  if (outcome.kind === 'known' && outcome.unread) return exitNameOf(outcome.unread);
  if (outcome.kind === 'failed') return outcome.problem.facts.shownName ?? name;
  if (outcome.kind !== 'in_doubt') return name;
  const { kind } = outcome.doubt.why;
  if (kind === 'expired') return 'idempotency_key_expired';
  return kind === 'other_api_key' ? kind : name;
}

/** With which name a command ends that has this outcome alone. */
export const exitOf = (outcome: Outcome): ExitName =>
  outcome.isAnswer && !outcome.interruptedBy ? 'ok' : nameOfOutcome(outcome);

/** How it stands after a signal: a run that has finished stays as it is, and so does what was only asked for. */
export function endedBySignal(outcome: Outcome, interruptedBy: ExitName): Outcome {
  const isDone = outcome.interruptedBy || outcome.isAnswer || factsOf(outcome).status?.isFinal;
  if (isDone) return outcome;
  if (outcome.kind === 'stopped') return { ...outcome, interruptedBy, end: { kind: 'interrupted' } as const };
  return { ...outcome, interruptedBy };
}

export const isOk = (outcome: Outcome): boolean => exitCodeOf(exitOf(outcome)) === 0;

interface Facts {
  status?: RunStatus; // the last one that is known
  result?: RunResult;
  fault?: Fault; // why it failed
  seen?: Seen; // if the status is older than this command
  activeId?: string; // the run that stood in the way
}

/** The facts that several kinds of outcome have, for whoever shows them all in the same way: documents and table rows. */
export function factsOf(outcome: Outcome): Facts {
  switch (outcome.kind) {
    case 'started':
      return { status: outcome.status };
    case 'known': {
      const { status, result, unread: fault, seenAgeMs } = outcome;
      return { status, result, fault, seen: seenAgeMs === undefined ? undefined : { status, ageMs: seenAgeMs } };
    }
    case 'stopped': {
      const { end, seen } = outcome;
      return { status: seen?.status, seen, fault: 'fault' in end ? end.fault : undefined };
    }
    case 'unread':
      return { fault: outcome.fault, seen: outcome.seen };
    case 'refused': {
      const { fault, active } = outcome;
      return { fault, activeId: active?.executionId ?? fault.executionId };
    }
    case 'in_doubt': {
      const { why, conflict } = outcome.doubt;
      const fault = why.kind === 'lost' ? why.fault : undefined;
      return { fault, activeId: fault?.executionId ?? conflict?.activeExecutionId };
    }
    case 'skipped':
      return { activeId: outcome.activeId };
    case 'failed':
      return { fault: outcome.problem.facts.fault };
    case 'shown':
    case 'forgotten':
    case 'report':
      return {};
  }
}
