import type { ExitName } from './exit-codes.ts';
import type { RunSnapshot, RunStatus } from './service.ts';

/** What follows from a final status. */
interface FinalStatusRow {
  /** Whether people, scripts and hooks are told of a success. */
  isSuccess: boolean;
  /** If status and result differ, the graver one counts. */
  severity: number;
  exit: ExitName;
}

// biome-ignore format: a table
export const finalStatusTable = {
  COMPLETED: { isSuccess: true,  severity: 0, exit: 'ok' },
  FAILED:    { isSuccess: false, severity: 4, exit: 'run_failed' },
  TIMED_OUT: { isSuccess: false, severity: 3, exit: 'run_timed_out' },
  CANCELLED: { isSuccess: false, severity: 2, exit: 'run_cancelled' },
} as const satisfies Record<string, FinalStatusRow>;

/** A run that has finished with a status that this version doesn't know. */
export const unknownFinalStatus: FinalStatusRow = {
  isSuccess: false,
  severity: 1,
  exit: 'run_ended',
};

export type FinalStatus = keyof typeof finalStatusTable;
export const finalStatuses = Object.keys(finalStatusTable) as FinalStatus[];

export const statuses: readonly string[] = ['RUNNING', ...finalStatuses];

// Another spelling of the same word must not make a watch poll forever.
const normalize = (status: string) => status.trim().toUpperCase();

export const isKnownStatus = (status: string): boolean => statuses.includes(normalize(status));

/** Whether this version knows it as a final status. `hasFinished` also handles unknown statuses. */
export const isFinalStatus = (status: string): boolean => finalStatusOf(status) !== undefined;

/**
 * Whether the run has finished. It is decided once, when a status is read from the service or the
 * journal, and kept as `isFinal`. An unknown status is final if the run has an end, unless that is
 * before its start.
 */
export function hasFinished({
  status,
  startedAt = '',
  completedAt = '',
}: Pick<RunSnapshot, 'status' | 'startedAt' | 'completedAt'>): boolean {
  if (isKnownStatus(status)) return isFinalStatus(status);
  const endMs = Date.parse(completedAt);
  return !Number.isNaN(endMs) && !(endMs < Date.parse(startedAt));
}

export function finalStatusOf(status: string): FinalStatus | undefined {
  const normalized = normalize(status);
  return finalStatuses.find((final) => final === normalized);
}

/** What follows from the status of a run that has finished. */
function rowOf(status: string): FinalStatusRow {
  const final = finalStatusOf(status);
  return final ? finalStatusTable[final] : unknownFinalStatus;
}

export const isSuccess = (status: string): boolean => rowOf(status).isSuccess;

/** The exit name for a run with this status: `still_running` while it is unfinished. */
export function exitNameOfRun({ status, isFinal }: RunStatus): ExitName {
  return isFinal ? rowOf(status).exit : 'still_running';
}

/** The graver of two statuses with which a run has finished. */
export const graverStatus = (one: string, other: string): string =>
  rowOf(other).severity > rowOf(one).severity ? other : one;

export const isSameStatus = (one: string, other: string): boolean =>
  normalize(one) === normalize(other);

/**
 * Every status that can be shown: the documented ones, and our words for an unresolved trigger
 * and for a run that the service doesn't know.
 */
export const shownStatuses: readonly string[] = [...statuses, 'UNKNOWN', 'NOT_FOUND'];

/** A status in a sentence or a count: `timed out`. */
export const wordOf = (status: string): string => status.toLowerCase().replaceAll('_', ' ');
