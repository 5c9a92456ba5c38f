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
  FAILED:    { endedWell: false, gravity: 3, exit: 'run_failed' },
  TIMED_OUT: { endedWell: false, gravity: 2, exit: 'run_timed_out' },
  CANCELLED: { endedWell: false, gravity: 1, exit: 'run_cancelled' },
} as const satisfies Record<string, Ending>;

export type FinalStatus = keyof typeof endings;
export const finalStatuses = Object.keys(endings) as FinalStatus[];

export const statuses: readonly string[] = ['RUNNING', ...finalStatuses];

// Another spelling of the same word must not make a watch poll forever.
const normalize = (status: string) => status.trim().toUpperCase();

export const isKnownStatus = (status: string): boolean => statuses.includes(normalize(status));

/** Is the status final? Asked where the text of a status is read, from the service or the journal; from there on, a run knows. */
export const isFinalStatus = (status: string): boolean => finalStatusOf(status) !== undefined;

export function finalStatusOf(status: string): FinalStatus | undefined {
  return finalStatuses.find((known) => known === normalize(status));
}

/** What follows from a status. One that isn't documented or isn't final is no success. */
function endingOf(status: string): Ending | undefined {
  const known = finalStatusOf(status);
  return known && endings[known];
}

export const endedWell = (status: string): boolean => endingOf(status)?.endedWell ?? false;

/** The exit name for a run with this status: `still_running` while it is unfinished. An undocumented status isn't a success. */
export function exitNameOfRun({ status, isFinal }: { status: string; isFinal: boolean }): ExitName {
  if (!isFinal) return 'still_running';
  return endingOf(status)?.exit ?? 'run_failed';
}

export function graverStatus(one: string, other: string): string {
  const gravity = (status: string) => endingOf(status)?.gravity ?? 0;
  return gravity(other) > gravity(one) ? other : one;
}

/** What can stand in the place of a status: what the service documents, and our words for what isn't known. */
export const shownStatuses: readonly string[] = [...statuses, 'UNKNOWN', 'NOT_FOUND'];

/** A status in a sentence or a count: `timed out`. */
export const wordOf = (status: string): string => status.toLowerCase().replaceAll('_', ' ');
