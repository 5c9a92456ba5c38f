import type { JsonObject } from '../system/json.ts';
import { localTime } from '../system/time-text.ts';
import type { Fault } from './fault.ts';
import type { Run, Target } from './run.ts';

/** The service as the domain sees it. Each call is one attempt. The caller retries, and may shorten the timeout. */
export interface Service {
  trigger(request: TriggerRequest, signal: AbortSignal, sending?: Sending): Promise<Answer<StartedExecution>>;
  status(run: Run, signal: AbortSignal, sending?: Sending): Promise<DatedAnswer<Execution>>;
  result(run: Run, signal: AbortSignal, sending?: Sending): Promise<Answer<RunResult>>;
}

export interface Sending {
  timeoutMs?: number; // shortens the configured timeout
}

export interface TriggerRequest {
  target: Target;
  idempotencyKey: string;
  body: string; // the exact bytes, the same for every attempt
}

export type Answer<T> = { kind: 'ok'; value: T; retryAfterMs?: number } | { kind: 'fault'; fault: Fault };

export type DatedAnswer<T> = Answer<T> & {
  serviceTimeMs?: number; // the response's `Date` in whole seconds, as milliseconds since 1970
};

/** `AutomationExecution` in docs/service.openapi.json. Missing and malformed fields are left out. Times have an offset. */
export interface Execution {
  executionId?: string;
  status: string;
  isFinal: boolean; // the status is final
  startedAt?: string;
  completedAt?: string;
  createdAt?: string;
  creditsCharged?: number;
  title?: string;
  message?: string;
  document: JsonObject;
}

/** The run in the response to a trigger. */
export type StartedExecution = Execution & { executionId: string };

/** `AutomationResult` in docs/service.openapi.json. Missing and malformed fields are left out. */
export interface RunResult {
  status: string;
  isFinal: boolean; // the status is final
  output?: string; // as JSON if it wasn't text
  summary?: { stepCount?: number; succeededSteps?: number; failedSteps?: number; skippedSteps?: number };
  error?: { type?: string; message?: string };
  completedAt?: string;
  document: JsonObject;
}

/** When a run began, as the end of a clause: `at 2026-11-22 03:00:13 +0100`. */
export function startOf({ startedAt, createdAt = startedAt }: Partial<Execution> = {}): string {
  return createdAt === undefined ? 'before' : `at ${localTime(createdAt)}`;
}

export const errorTextOf = (result: RunResult | undefined): string =>
  [result?.error?.type, result?.error?.message].filter(Boolean).join(': ');
