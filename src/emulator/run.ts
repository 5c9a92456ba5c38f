import type { Automation, JsonObject } from '../core/run.ts';
import type { AutomationPlan } from './scenarios.ts';

export interface EmulatedRun {
  automation: Automation;
  executionId: string;
  plan: AutomationPlan;
  /** Milliseconds since 1970. */
  startedAtMs: number;
  /** How much faster the run ages than its caller's clock runs. */
  speed: number;
}

const durationMs = ({ plan }: EmulatedRun): number => plan.durationMs ?? 20_000;

export const ageMsAt = ({ startedAtMs, speed }: EmulatedRun, nowMs: number): number =>
  (nowMs - startedAtMs) * speed;

export const hasEnded = (run: EmulatedRun, nowMs: number): boolean =>
  ageMsAt(run, nowMs) >= durationMs(run);

/** The fields that the status and the result of a run have in common. */
const sharedFields = (run: EmulatedRun, nowMs: number): JsonObject => ({
  executionId: run.executionId,
  projectId: run.automation.projectId,
  automationName: run.automation.name,
  status: hasEnded(run, nowMs) ? (run.plan.finalStatus ?? 'COMPLETED') : 'RUNNING',
  // It counts from the start as the caller saw it, and so is in the future if the run ages faster.
  completedAt: hasEnded(run, nowMs) ? isoTime(run.startedAtMs + durationMs(run)) : null,
});

/** What the status endpoint answers. */
export const executionDocument = (run: EmulatedRun, nowMs: number): JsonObject => ({
  ...sharedFields(run, nowMs),
  title: null,
  message: null,
  startedAt: isoTime(run.startedAtMs),
  createdAt: isoTime(run.startedAtMs),
  ...(hasEnded(run, nowMs) && { creditsCharged: 12 }),
});

/** What the result endpoint answers. */
export function resultDocument(run: EmulatedRun, nowMs: number): JsonObject {
  const { finalStatus = 'COMPLETED', output = 'The report was sent to 3 people.' } = run.plan;
  const isOver = hasEnded(run, nowMs);
  const isComplete = isOver && finalStatus === 'COMPLETED';
  const failedSteps = isOver && finalStatus === 'FAILED' ? 1 : 0;
  const skippedSteps = isOver && !isComplete && !failedSteps ? 1 : 0;
  const succeededSteps = isOver ? 3 - failedSteps - skippedSteps : 0;
  return {
    ...sharedFields(run, nowMs),
    output: isComplete ? output : null,
    summary: { stepCount: 3, succeededSteps, failedSteps, skippedSteps },
    error: (isOver && errors[finalStatus]) || null,
  };
}

const errors: Record<string, { type: string; message: string }> = {
  FAILED: { type: 'step_failed', message: 'Step "Send the report": the mail server said no' },
  TIMED_OUT: { type: 'timed_out', message: 'The run exceeded the time limit' },
};

const isoTime = (ms: number): string => new Date(ms).toISOString();
