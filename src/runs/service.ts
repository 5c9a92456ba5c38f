import type { Fault } from './fault.ts';
import type { JsonObject } from './json.ts';
import type { Run, Target } from './run.ts';

/** The service as the domain sees it. `src/api` speaks HTTP behind it; tests put a model in its place. */
export interface Service {
  /** One attempt: whoever calls it retries. */
  trigger(request: TriggerRequest, signal: AbortSignal, limits?: CallLimits): Promise<Answer<Execution>>;
  status(run: Run, signal: AbortSignal, limits?: CallLimits): Promise<Answer<Execution>>;
  /** Automation runs only: Agents have no result endpoint. */
  result(run: Run, signal: AbortSignal, limits?: CallLimits): Promise<Answer<RunResult>>;
}

export interface CallLimits {
  /** The attempt ends after this time, or after the request timeout if that is shorter. */
  timeoutMs?: number;
}

export interface TriggerRequest {
  target: Target;
  idempotencyKey: string;
  /** The exact bytes, the same for every attempt. */
  body: string;
}

export type Answer<T> = (
  | {
      kind: 'ok';
      value: T;
      /** From `Retry-After`, which a good answer may have too. */
      retryAfterMs?: number;
    }
  | { kind: 'fault'; fault: Fault }
) & {
  /** The service's clock when it answered (its `Date` header), in milliseconds since 1970; it counts whole seconds. */
  serviceTimeMs?: number;
};

/** A run as the service shows it (docs/service.md, Execution object). Missing and malformed fields are left out; times have an offset. */
export interface Execution {
  executionId?: string;
  status: string;
  startedAt?: string;
  completedAt?: string;
  createdAt?: string;
  creditsCharged?: number;
  title?: string;
  message?: string;
  /** The whole body, unknown fields kept. */
  document: JsonObject;
}

/** The result of a run (docs/service.md, Result object). Missing and malformed fields are left out. */
export interface RunResult {
  status: string;
  /** What is no text in the document stands here as JSON. */
  output?: string;
  summary?: { stepCount?: number; succeededSteps?: number; failedSteps?: number; skippedSteps?: number };
  error?: { type?: string; message?: string };
  completedAt?: string;
  document: JsonObject;
}

/** The error of a result in one text: `<type>: <message>`, as far as they are there. */
export const errorTextOf = (result: RunResult | undefined): string =>
  [result?.error?.type, result?.error?.message].filter(Boolean).join(': ');
