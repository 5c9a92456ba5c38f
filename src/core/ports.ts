import type { Answer, Failure } from './failure.ts';
import type { Automation, Run, RunResult, RunStatus } from './run.ts';

/** The clocks of the machine. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. It can be set. */
  nowMs(): number;
  /** Milliseconds since some moment. It can't be set, and may stand still while the machine sleeps. */
  elapsedMs(): number;
  /** Never rejects: resolves early if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Each method makes one request and never rejects. */
export interface Service {
  trigger(trigger: Trigger, timeoutMs: number): Promise<Answer<StartedRun>>;
  /** The answer is of the run that was asked for. */
  status(run: Run, timeoutMs: number): Promise<Answer<RunStatus>>;
  result(run: Run, timeoutMs: number): Promise<Answer<RunResult>>;
}

export type StartedRun = Pick<RunStatus, 'document'> & { executionId: string };

/** One trigger, however often it is sent. */
export interface Trigger {
  automation: Automation;
  idempotencyKey: string;
  /** The user gave the key, so somebody else may have sent it before. */
  isKeyGiven: boolean;
}

/** What the journal says of a trigger at this moment. */
export interface TriggerLook {
  /** Its run. */
  executionId?: string;
  /** The `sent` records, by id, that count and that nothing has closed. */
  openSents: readonly string[];
}

/**
 * How the core records. What can't be written is said in a warning. What decides about a trigger is
 * a promise, so that tests can let other commands act between two records.
 */
export interface Recorder {
  /** Returns the id of the record, and whether it is on disk. */
  appendSent(
    trigger: Trigger,
    options: { repeats: boolean },
  ): Promise<{ sentId: string; isWritten: boolean }>;
  /** `isListed`: `list` shows it as NOT_STARTED. */
  appendRefused(
    trigger: Trigger,
    sentId: string,
    options: { why: Failure; isListed: boolean },
  ): Promise<void>;
  appendAccepted(trigger: Trigger, executionId: string): Promise<void>;
  /** Somebody has been told what to look for. */
  appendReported(trigger: Trigger, sentIds: readonly string[]): void;
  appendStatus(run: Run, status: RunStatus, reason?: string): void;
  /** Reads what has been written since, too. Undefined if the journal can't be read. */
  look(trigger: Trigger): Promise<TriggerLook | undefined>;
}

/** A run, or the automation of one that has no id yet. */
export type RunOrAutomation = Partial<Run> & Pick<Run, 'automation'>;

/** What the core tells while it works. */
export type RunEvent =
  | { type: 'started'; run: Run }
  /** The run is about to be followed. `usualMs`: how long its automation usually takes. */
  | { type: 'watching'; run: Run; usualMs?: number }
  | { type: 'status'; run: Run; status: RunStatus }
  /** An attempt failed and is made again. `silentMs`: how long there was no valid answer. */
  | { type: 'retry'; run: RunOrAutomation; failure: Failure; silentMs: number }
  /** `--if-active wait` */
  | { type: 'waiting'; run: RunOrAutomation }
  /** Dropped by `--quiet`. */
  | { type: 'note'; text: string }
  /** Also in the `warnings` of documents, for the automation that it concerns. */
  | { type: 'warning'; automation?: Automation; text: string };

/** What the core needs of the world. */
export interface Ports {
  service: Service;
  recorder: Recorder;
  clock: Clock;
  /** From 0 to below 1. */
  random(): number;
  /** A new idempotency key. */
  newKey(): string;
  /** Aborts with the name of the signal that is to end the command. */
  signal: AbortSignal;
  requestTimeoutMs: number;
  /** Resolves when the next request may be made (a command makes 10 a second at most). */
  turn(): Promise<void>;
  emit(event: RunEvent): void;
}
