import type { JsonObject } from '../system/json.ts';
import { localTime } from '../system/time-text.ts';
import type { Fault } from './fault.ts';
import type { Run } from './run.ts';
import type { TriggerRequest } from './trigger.ts';

/**
 * The service as the program sees it. Each call sends one request. The caller retries it, and may
 * shorten its timeout.
 */
export interface Service {
  trigger(
    request: TriggerRequest,
    signal: AbortSignal,
    options?: RequestOptions,
  ): Promise<Answer<RunSnapshot>>;
  status(run: Run, signal: AbortSignal, options?: RequestOptions): Promise<Answer<RunSnapshot>>;
  result(run: Run, signal: AbortSignal, options?: RequestOptions): Promise<Answer<RunResult>>;
}

/** Each call has its own endpoint. */
export type Endpoint = keyof Service;

/** The endpoints that only read a run, and so can be polled. */
export type RunResource = Extract<Endpoint, 'status' | 'result'>;

export interface RequestOptions {
  /** Shortens the configured timeout. */
  timeoutMs?: number;
}

/** What one request got: a value or a fault. */
export type Answer<T> = Dated &
  ({ kind: 'ok'; value: T; retryAfterMs?: number } | { kind: 'fault'; fault: Fault });

interface Dated {
  /** The response's `Date` in whole seconds, as milliseconds since 1970. */
  serviceTimeMs?: number;
}

export interface RunStatus {
  status: string;
  /** Whether the run has finished. `hasFinished` (`run/statuses.ts`) decides it. */
  isFinal: boolean;
}

/**
 * What the service or the journal says of a run at one moment (`AutomationExecution` in
 * docs/service.openapi.json). Missing and malformed fields are left out. Times are ISO 8601 with an
 * offset.
 */
export interface RunSnapshot extends RunStatus {
  executionId: string;
  startedAt?: string;
  completedAt?: string;
  createdAt?: string;
  creditsCharged?: number;
  /** As the service sent it. */
  document: JsonObject;
}

/** `AutomationResult` in docs/service.openapi.json. Missing and malformed fields are left out. */
export interface RunResult extends RunStatus {
  /** As JSON if it wasn't text. */
  output?: string;
  summary?: {
    stepCount?: number;
    succeededSteps?: number;
    failedSteps?: number;
    skippedSteps?: number;
  };
  error?: { type?: string; message?: string };
  completedAt?: string;
  /** As the service sent it. */
  document: JsonObject;
}

/** When a run began, as the end of a clause: `at 2026-11-22 03:00:13 +0100`. */
export function beganAt({ startedAt, createdAt = startedAt }: Partial<RunSnapshot> = {}): string {
  return createdAt === undefined ? 'before' : `at ${localTime(createdAt)}`;
}

export const errorTextOf = (result: RunResult | undefined): string =>
  [result?.error?.type, result?.error?.message].filter(Boolean).join(': ');
