import type { Target } from '../run/run.ts';
import type { JsonObject } from '../system/json.ts';

/** What happens in a run. */
export interface RunPlan {
  /** 20 s by default. */
  durationMs?: number;
  /** The final status: COMPLETED by default. */
  finalStatus?: string;
  steps?: { count?: number; failed?: number; skipped?: number };
  output?: string | null;
  error?: { type: string; message: string } | null;
  creditsCharged?: number;
}

/** A run. What the service says of it depends only on the time. */
export interface EmulatedRun {
  target: Target;
  executionId: string;
  idempotencyKey?: string;
  /** When it started, by the clock of its caller, in ms since 1970. */
  shownAtMs: number;
  /** When it started by the emulator's clock, like every other time, in ms since 1970. */
  startedAtMs: number;
  endsAtMs: number;
  plan: RunPlan;
}

export const hasEnded = ({ endsAtMs }: EmulatedRun, nowMs: number): boolean => nowMs >= endsAtMs;

const plannedStatusOf = ({ plan }: EmulatedRun): string => plan.finalStatus ?? 'COMPLETED';

/** The status of a run at this time of the emulator's clock. */
export const statusAt = (run: EmulatedRun, nowMs: number): string =>
  hasEnded(run, nowMs) ? plannedStatusOf(run) : 'RUNNING';

/** The credits that the run costs. */
export const emulatedCreditsOf = ({ plan }: EmulatedRun): number => plan.creditsCharged ?? 12;

/** A time as callers see it: by their own clock, from the moment when the run began. */
const shownTime = ({ shownAtMs, startedAtMs }: EmulatedRun, atMs: number) =>
  new Date(shownAtMs + atMs - startedAtMs).toISOString();

/** `AutomationExecution` in docs/service.openapi.json. */
export function executionAt(run: EmulatedRun, nowMs: number): JsonObject {
  const { startedAtMs, endsAtMs } = run;
  return {
    executionId: run.executionId,
    ...run.target,
    status: statusAt(run, nowMs),
    title: null,
    message: null,
    startedAt: shownTime(run, startedAtMs),
    completedAt: hasEnded(run, nowMs) ? shownTime(run, endsAtMs) : null,
    createdAt: shownTime(run, startedAtMs),
    creditsCharged: hasEnded(run, nowMs) ? emulatedCreditsOf(run) : undefined,
  };
}

/** `AutomationResult` in docs/service.openapi.json. */
export function resultAt(run: EmulatedRun, nowMs: number): JsonObject {
  const { executionId, target, plan, endsAtMs } = run;
  const finalStatus = plannedStatusOf(run);
  const { count = 3, failed = finalStatus === 'FAILED' ? 1 : 0, skipped = 0 } = plan.steps ?? {};
  if (!hasEnded(run, nowMs)) {
    const summary = { stepCount: count, succeededSteps: 0, failedSteps: 0, skippedSteps: 0 };
    return {
      executionId,
      ...target,
      status: 'RUNNING',
      output: null,
      summary,
      error: null,
      completedAt: null,
    };
  }
  const succeeded = count - failed - skipped;
  return {
    executionId,
    ...target,
    status: finalStatus,
    output: plan.output === undefined ? defaultOutput(finalStatus) : plan.output,
    summary: {
      stepCount: count,
      succeededSteps: succeeded,
      failedSteps: failed,
      skippedSteps: skipped,
    },
    error: finalStatus === 'COMPLETED' ? null : (plan.error ?? defaultError(finalStatus)),
    completedAt: shownTime(run, endsAtMs),
  };
}

const defaultOutput = (status: string) =>
  status === 'COMPLETED' ? 'The report was sent to 3 people.' : null;

function defaultError(status: string): RunPlan['error'] {
  if (status === 'TIMED_OUT')
    return { type: 'timed_out', message: 'The run exceeded the time limit' };
  if (status === 'FAILED')
    return { type: 'step_failed', message: 'Step "Send the report": the mail server said no' };
  return null;
}
