import type { Automation, JsonObject } from '../run/run.ts';

/** What happens in a run. */
export interface RunPlan {
  /** 20 s by default; above 0. */
  durationMs?: number;
  /** COMPLETED by default. */
  finalStatus?: string;
  steps?: { count?: number; failed?: number; skipped?: number };
  output?: string;
  error?: { type: string; message: string };
  creditsCharged?: number;
}

export interface EmulatedRun {
  automation: Automation;
  executionId: string;
  idempotencyKey: string;
  plan: RunPlan;
  /** Milliseconds since 1970. */
  startedAtMs: number;
  /** How much faster the run ages than its caller's clock runs. */
  speed: number;
  /** A response that names it was sent. */
  isKnown: boolean;
  isResultRead: boolean;
}

const durationMs = ({ plan }: EmulatedRun): number => plan.durationMs ?? 20_000;

export const ageMsAt = ({ startedAtMs, speed }: EmulatedRun, nowMs: number): number =>
  (nowMs - startedAtMs) * speed;

export const hasEnded = (run: EmulatedRun, nowMs: number): boolean =>
  ageMsAt(run, nowMs) >= durationMs(run);

export const statusAt = (run: EmulatedRun, nowMs: number): string =>
  hasEnded(run, nowMs) ? (run.plan.finalStatus ?? 'COMPLETED') : 'RUNNING';

const identityAt = (run: EmulatedRun, nowMs: number): JsonObject => ({
  executionId: run.executionId,
  projectId: run.automation.projectId,
  automationName: run.automation.name,
  status: statusAt(run, nowMs),
});

/** It counts from the start as the caller saw it, and so is in the future if the run ages faster. */
const completedAt = (run: EmulatedRun): string =>
  new Date(run.startedAtMs + durationMs(run)).toISOString();

/** What the status endpoint answers. */
export function executionDocument(run: EmulatedRun, nowMs: number): JsonObject {
  const startedAt = new Date(run.startedAtMs).toISOString();
  return {
    ...identityAt(run, nowMs),
    title: null,
    message: null,
    startedAt,
    completedAt: null,
    createdAt: startedAt,
    ...(hasEnded(run, nowMs) && {
      completedAt: completedAt(run),
      creditsCharged: run.plan.creditsCharged ?? 12,
    }),
  };
}

/** What the result endpoint answers. */
export function resultDocument(run: EmulatedRun, nowMs: number): JsonObject {
  const identity = identityAt(run, nowMs);
  const { finalStatus = 'COMPLETED', steps = {}, output, error } = run.plan;
  const { count = 3, failed = finalStatus === 'FAILED' ? 1 : 0, skipped = 0 } = steps;
  if (!hasEnded(run, nowMs)) {
    const summary = { stepCount: count, succeededSteps: 0, failedSteps: 0, skippedSteps: 0 };
    return { ...identity, output: null, summary, error: null, completedAt: null };
  }
  const succeededSteps = count - failed - skipped;
  const isCompleted = finalStatus === 'COMPLETED';
  return {
    ...identity,
    output: output ?? (isCompleted ? 'The report was sent to 3 people.' : null),
    summary: { stepCount: count, succeededSteps, failedSteps: failed, skippedSteps: skipped },
    error: error ?? usualErrors[finalStatus] ?? null,
    completedAt: completedAt(run),
  };
}

const usualErrors: Record<string, RunPlan['error']> = {
  FAILED: { type: 'step_failed', message: 'Step "Send the report": the mail server said no' },
  TIMED_OUT: { type: 'timed_out', message: 'The run exceeded the time limit' },
};
