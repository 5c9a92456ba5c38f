import type { ExitName } from './exit-codes.ts';

export type JsonObject = Record<string, unknown>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A named sequence of steps in a project. The project is a UUID in lower case. */
export interface Automation {
  projectId: string;
  name: string;
}

export interface Run {
  automation: Automation;
  /** A UUID in lower case. */
  executionId: string;
  /** The automation's name, as an argument, means this run. */
  isLastRun?: boolean;
}

/** What the service said of a run at one moment. */
export interface RunStatus {
  /** As the service spells it; another word than those of `finalStatuses` is passed on. */
  status: string;
  isFinal: boolean;
  /** Milliseconds since 1970. */
  startedAtMs?: number;
  completedAtMs?: number;
  creditsCharged?: number;
  /** The service doesn't want to be asked again before. */
  retryAfterMs?: number;
  /** As the service sent it. */
  document: JsonObject;
}

/** The result of a run that has finished. */
export interface RunResult {
  status: string;
  isFinal: boolean;
  output: string | null;
  steps?: { count: number; succeeded: number; skipped: number };
  error?: { type: string; message: string };
  /** As the service sent it. */
  document: JsonObject;
}

/** The final statuses that the service documents, with the exit of a command that followed the run. */
export const finalStatuses = {
  COMPLETED: 'ok',
  FAILED: 'run_failed',
  TIMED_OUT: 'run_timed_out',
  CANCELLED: 'run_cancelled',
} as const satisfies Record<string, ExitName>;

export const isKnownFinal = (status: string): status is keyof typeof finalStatuses =>
  Object.hasOwn(finalStatuses, status);

/** A status that this version doesn't know is final if it comes with a time of completion. */
export const isFinalStatus = (status: string, completedAtMs: number | undefined): boolean =>
  isKnownFinal(status) || (status !== 'RUNNING' && completedAtMs !== undefined);

/** How a command exits that was to follow a run with this status. */
export function exitNameOfStatus({
  status,
  isFinal,
}: Pick<RunStatus, 'status' | 'isFinal'>): ExitName {
  if (!isFinal) return 'still_running';
  return isKnownFinal(status) ? finalStatuses[status] : 'unrecognized_status';
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
export const isUuid = (text: string): boolean => uuid.test(text);

export const isSameAutomation = (one: Automation, other: Automation): boolean =>
  one.projectId === other.projectId && one.name === other.name;

/** Once final, always final, and of two final ones the one that isn't COMPLETED decides. */
export const isOvertaken = (
  last: Pick<RunStatus, 'status' | 'isFinal'> | undefined,
  next: Pick<RunStatus, 'status' | 'isFinal'>,
): boolean => (last?.isFinal ?? false) && (!next.isFinal || next.status === 'COMPLETED');
