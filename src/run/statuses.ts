import type { ExitName } from './exit-codes.ts';

/** What follows from a final status. */
interface Ending {
  endedWell: boolean; // a success for people, scripts and hooks
  gravity: number; // if status and result differ, the graver one counts
  exit: ExitName;
}

// biome-ignore format: a table
export const endings = {
  COMPLETED: { endedWell: true,  gravity: 0, exit: 'ok' },
  FAILED:    { endedWell: false, gravity: 4, exit: 'run_failed' },
  TIMED_OUT: { endedWell: false, gravity: 3, exit: 'run_timed_out' },
  CANCELLED: { endedWell: false, gravity: 2, exit: 'run_cancelled' },
} as const satisfies Record<string, Ending>;

/** A run that has finished with a status that this version doesn't know. */
export const unknownEnding: Ending = { endedWell: false, gravity: 1, exit: 'run_ended' };

export type FinalStatus = keyof typeof endings;
export const finalStatuses = Object.keys(endings) as FinalStatus[];

export const statuses: readonly string[] = ['RUNNING', ...finalStatuses];

// Another spelling of the same word must not make a watch poll forever.
const normalize = (status: string) => status.trim().toUpperCase();

export const isKnownStatus = (status: string): boolean => statuses.includes(normalize(status));

/**
 * Is it one of the final statuses that this version knows? Whether a run has finished, says
 * `hasFinished`.
 */
export const isFinalStatus = (status: string): boolean => finalStatusOf(status) !== undefined;

interface ReportedRun {
  status: string;
  startedAt?: string;
  completedAt?: string;
}

/**
 * Has the run finished? Asked where a status is read, from the service or the journal; from there
 * on, a run knows. A status that this version doesn't know is final if the run has an end, which
 * isn't before its start.
 */
export function hasFinished({ status, startedAt = '', completedAt = '' }: ReportedRun): boolean {
  if (isKnownStatus(status)) return isFinalStatus(status);
  const endMs = Date.parse(completedAt);
  return !Number.isNaN(endMs) && !(endMs < Date.parse(startedAt));
}

export function finalStatusOf(status: string): FinalStatus | undefined {
  return finalStatuses.find((final) => final === normalize(status));
}

/** What follows from the status of a run that has finished. */
function endingOf(status: string): Ending {
  const final = finalStatusOf(status);
  return final ? endings[final] : unknownEnding;
}

export const endedWell = (status: string): boolean => endingOf(status).endedWell;

/** The exit name for a run with this status: `still_running` while it is unfinished. */
export function exitNameOfRun({ status, isFinal }: { status: string; isFinal: boolean }): ExitName {
  return isFinal ? endingOf(status).exit : 'still_running';
}

/** The graver of two statuses with which a run has finished. */
export const graverStatus = (one: string, other: string): string =>
  endingOf(other).gravity > endingOf(one).gravity ? other : one;

export const isSameStatus = (one: string, other: string): boolean => normalize(one) === normalize(other);

/**
 * What can stand in the place of a status: what the service documents, and our words for what isn't
 * known.
 */
export const shownStatuses: readonly string[] = [...statuses, 'UNKNOWN', 'NOT_FOUND'];

/** A status in a sentence or a count: `timed out`. */
export const wordOf = (status: string): string => status.toLowerCase().replaceAll('_', ' ');
