import type { UnresolvedTrigger } from '../run/entry.ts';
import { type Fault, reasonOf } from '../run/fault.ts';
import { quotedName } from '../run/run.ts';
import { errorTextOf, type RunResult } from '../run/service.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { recoverCommandFor } from './recover-commands.ts';

// The texts of the warnings that are emitted while a run is started or watched.

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
