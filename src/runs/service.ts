import type { JsonObject } from './json.ts';
import type { Run, Target } from './run.ts';

/** The service as the domain sees it. `src/api` speaks HTTP behind it; tests put a model in its place. */
export interface Service {
  /** One attempt, never more: repeating it is the protocol's business. */
  trigger(request: TriggerRequest, signal: AbortSignal): Promise<Answer<Execution>>;
  status(run: Run, signal: AbortSignal): Promise<Answer<Execution>>;
  /** Automation runs only: Agents have no result endpoint. */
  result(run: Run, signal: AbortSignal): Promise<Answer<RunResult>>;
}

export interface TriggerRequest {
  target: Target;
  idempotencyKey: string;
  /** The exact bytes, the same for every attempt. */
  body: string;
}

export type Answer<T> = { kind: 'good'; value: T } | { kind: 'fault'; fault: Fault };

/** A run as the service shows it (docs/service.md, Execution object). Missing and malformed fields are left out. */
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
  output?: string;
  summary?: { stepCount?: number; succeededSteps?: number; failedSteps?: number; skippedSteps?: number };
  error?: { type?: string; message?: string };
  completedAt?: string;
  document: JsonObject;
}

export type FaultKind =
  /** No connection: DNS, refused, connect time-out, proxy. */
  | 'unreachable'
  /** TLS said no: no repeat mends a certificate. */
  | 'untrusted'
  /** The proxy wants credentials (407). */
  | 'proxy_refused'
  /** The connection broke or fell silent after the request may have been read. */
  | 'lost'
  /** 408, 500, 502, 503, 504: a complete answer that says: not now. */
  | 'unavailable'
  | 'throttled'
  /** A 2xx whose body is not a document of the expected shape. */
  | 'unreadable'
  /** A body larger than the limit. */
  | 'too_large'
  | 'unauthorized'
  | 'no_credits'
  | 'already_active'
  | 'not_found'
  | 'redirected'
  /** 409: a request with this key is still being worked on (IETF idempotency-key draft). */
  | 'in_progress'
  /** Any other complete refusal. */
  | 'rejected'
  /** Answered with the run of another target, which the same key had started. */
  | 'reused_key'
  /** Not sent: the service may have forgotten the key, and would start a second run. */
  | 'stale_key'
  /** Our own signal ended the attempt. */
  | 'interrupted';

export interface Fault {
  kind: FaultKind;
  /** May pass by itself: worth asking again. */
  transient: boolean;
  /**
   * Did the service act on the request? `no`: it never left or was refused. `unknown`: nobody can say.
   * Only of interest for a trigger.
   */
  acted: 'no' | 'unknown';
  /** What happened, in one clause that fits after "because" or a colon. */
  message: string;
  hint?: string;
  httpStatus?: number;
  serviceCode?: string;
  requestId?: string;
  /** From `Retry-After`; never shortened. */
  retryAfterMs?: number;
  /** An execution that the refusal names (422 `runAlreadyActive`). */
  executionId?: string;
}
