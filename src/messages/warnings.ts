import { type Attribution, attributions } from '../run/attribution.ts';
import { isOpen, type UnresolvedTrigger } from '../run/entry.ts';
import { type Fault, reasonOf } from '../run/fault.ts';
import type { OutcomeOf } from '../run/outcome.ts';
import type { Diagnostic } from '../run/problem.ts';
import { fullArgumentOf, quotedName } from '../run/quote.ts';
import type { Run, Target } from '../run/run.ts';
import { beganAt, errorTextOf, type RunResult, type RunSnapshot } from '../run/service.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { HintContext } from './hint-context.ts';
import { recoverCommandFor } from './recover-commands.ts';
import { diagnosticOfFailedRequest } from './watch-diagnostics.ts';

// The texts of the warnings about runs and triggers, and about the journal.

/** The journal has an earlier trigger of the same target that may have started a run. */
export function unresolvedTriggerText(trigger: UnresolvedTrigger): string {
  const earlier = `an earlier trigger of ${quotedName(trigger.target)}`;
  const recover = recoverCommandFor(trigger);
  return `${earlier} may or may not have started a run: resolve it with ${recover}`;
}

const roundMs = 10_000;

/** The service asked for a long wait. Printed even with `--quiet`, because nothing else happens. */
export function longWaitText(nextMs: number, untilMs: number): string {
  // Runs that get the same wait together are reported together.
  const rounded = (ms: number) => Math.ceil(ms / roundMs) * roundMs;
  const wait = formatDuration(rounded(nextMs));
  const at = localTime(rounded(untilMs));
  return `the service asked for a wait; polling resumes in ${wait}, at ${at}`;
}

export function unknownStatusText(status: string, isFinal: boolean): string {
  const consequence = isFinal ? 'the run has finished' : 'still watching';
  return `${status} is a status this version doesn't know; ${consequence}`;
}

/** The status and the result of a run disagree, and the graver one of the two counts. */
export function conflictingStatusText(status: string, inResult: string, graver: string): string {
  const ofStatus = `the service reports status ${status} for the run`;
  return `${ofStatus}, but ${inResult} in its result, so the run counts as ${graver}`;
}

export const completedWithErrorText = (status: string, result: RunResult): string =>
  `the run finished ${status}, though its result has an error: ${errorTextOf(result)}`;

/** The run has failed, so its exit code doesn't say that its result is missing. */
export const unreadResultText = (status: string, fault: Fault): string =>
  `the run finished ${status}, but its result couldn't be read: ${reasonOf(fault)}`;

/** An earlier run has the idempotency key. Anyone with the key may have started it. */
const earlierRunClause = ({ target }: Run, attribution: Attribution): string =>
  attributions[attribution].how === 'found'
    ? `${quotedName(target)} has a run under this idempotency key`
    : `this idempotency key started ${quotedName(target)}`;

/** The run that the trigger got is an earlier one that didn't complete. */
export function replayedFailureText(
  run: Run,
  attribution: Attribution,
  snapshot: RunSnapshot,
): string {
  const { how, started } = attributions[attribution];
  const when = how === 'found' ? '' : ` ${beganAt(snapshot)}`;
  const noNewRun = started === 'no' ? '; no new run was started' : '';
  const clause = earlierRunClause(run, attribution);
  return `${clause}${when}, which finished ${snapshot.status}${noNewRun}`;
}

/** The run that the trigger got is an earlier one whose status couldn't be read. */
export function unreadEarlierRunText(
  { run, triggerInfo, snapshot, lastConfirmed }: OutcomeOf<'has_run'>,
  fault: Fault,
  hintContext: HintContext,
): string {
  const clause = earlierRunClause(run, triggerInfo.attribution);
  if (fault.kind === 'not_found' && snapshot)
    return `${clause}, which finished ${snapshot.status}; the service no longer knows that run`;
  const poll = { run, resource: 'status', fault, lastConfirmed } as const;
  const { message } = diagnosticOfFailedRequest(poll, hintContext);
  return `${clause}, but its status can't be read: ${message}`;
}

/** The last trigger of an automation has no known run, though the command asks for its last run. */
export const lostTriggerText = ({ target }: UnresolvedTrigger): string =>
  `the last trigger of ${quotedName(target)} has no recorded response and may have started a run`;

export const lostTriggerHint = (trigger: UnresolvedTrigger, nowMs: number): string =>
  isOpen(trigger, nowMs)
    ? `resolve it with ${recoverCommandFor(trigger)}`
    : `it is too old to be sent again, so look in the service for a run that began at ${localTime(trigger.at)}`;

/** The command uses the run before the last trigger, which has no known run. */
export const laterTriggerText = (trigger: UnresolvedTrigger, nowMs: number): string =>
  `${lostTriggerText(trigger)} (${lostTriggerHint(trigger, nowMs)}). This is the run before it`;

/** A later trigger was refused because another run was active. */
export function otherRunText(
  target: Target,
  { at, activeExecutionId }: { at: string; activeExecutionId?: string },
): string {
  const active = `another run of ${quotedName(target)} was active at ${localTime(at)}`;
  const last = 'This is the last one that this machine knows';
  if (activeExecutionId === undefined) return `${active}. ${last}`;
  const other = fullArgumentOf({ target, executionId: activeExecutionId });
  return `${active}. ${last}. To watch the other: \`runctl watch ${other}\``;
}

/** A command prints what the journal has, though nothing can be added to it. */
export const incompleteJournalText = ({ message, hint }: Diagnostic): string =>
  `${message}, so runs and triggers may be missing: ${hint}`;

/** The journal doesn't have what a command has just done. */
export function unrecordedText({ message, hint }: Diagnostic): string {
  const loss = `${message}; \`runctl recover\` and short run ids may not work for this run`;
  return hint ? `${loss}: ${hint}` : loss;
}

/** A list shows the last recorded status of a run that it couldn't poll. */
export const oldStatusText = (reason: string): string =>
  `its status may be out of date because it couldn't be polled: ${reason}`;
