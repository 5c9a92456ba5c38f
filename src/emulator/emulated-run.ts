import type { JsonObject } from '../runs/json.ts';
import type { Target } from '../runs/run.ts';
import { type AutomationPlan, toMs } from './scenario.ts';

/** A run, whose course is fixed when it starts: what the service says of it then depends only on the time. */
export interface EmulatedRun {
  target: Target;
  executionId: string;
  index: number; // counts the runs of the same target, from 0
  idempotencyKey?: string;
  shownAtMs: number; // by the caller's clock, in ms since 1970
  startedAtMs: number; // by the emulator's clock, as every other time, in ms since 1970
  endsAtMs: number;
  outcome: string;
  plan: AutomationPlan;
}

/** Plans a run. It finishes TIMED_OUT at the run limit, in milliseconds. */
export function createEmulatedRun(
  start: Omit<EmulatedRun, 'endsAtMs' | 'outcome' | 'plan'>,
  plan: AutomationPlan,
  runLimitMs: number,
): EmulatedRun {
  const durationMs = toMs(plan.duration ?? '20s');
  const run = { ...start, plan };
  if (durationMs > runLimitMs) {
    const endsAtMs = start.startedAtMs + runLimitMs;
    return { ...run, endsAtMs, outcome: 'TIMED_OUT', plan: { ...run.plan, error: undefined } };
  }
  const outcomes = [plan.outcome ?? 'COMPLETED'].flat();
  const outcome = outcomes[Math.min(start.index, outcomes.length - 1)] ?? 'COMPLETED';
  return { ...run, endsAtMs: start.startedAtMs + durationMs, outcome };
}

export const statusAt = (run: EmulatedRun, nowMs: number): string => (nowMs < run.endsAtMs ? 'RUNNING' : run.outcome);

/** Can the run be found yet? A service may take a moment to know of its own run. */
export function isVisible(run: EmulatedRun, nowMs: number): boolean {
  return nowMs >= run.startedAtMs + toMs(run.plan.statusLate ?? '0s');
}

/** A time as callers see it: by their own clock, from the moment when the run began. */
const shown = ({ shownAtMs, startedAtMs }: EmulatedRun, atMs: number) =>
  new Date(shownAtMs + atMs - startedAtMs).toISOString();

export const creditsCharged = ({ plan }: EmulatedRun): number => plan.creditsCharged ?? 12;

/** `AutomationExecution` in docs/service.openapi.json. */
export function executionAt(run: EmulatedRun, nowMs: number): JsonObject {
  const { executionId, target, startedAtMs, endsAtMs } = run;
  const isFinished = nowMs >= endsAtMs;
  return {
    executionId,
    ...target,
    status: statusAt(run, nowMs),
    title: null,
    message: null,
    startedAt: shown(run, startedAtMs),
    completedAt: isFinished ? shown(run, endsAtMs) : null,
    createdAt: shown(run, startedAtMs),
    ...(isFinished && { creditsCharged: creditsCharged(run) }),
    ...run.plan.extra,
  };
}

/** `AutomationResult` in docs/service.openapi.json. */
export function resultAt(run: EmulatedRun, nowMs: number): JsonObject {
  const { executionId, target, outcome, plan, endsAtMs } = run;
  const { count = 3, failed = outcome === 'FAILED' ? Math.min(1, count) : 0, skipped = 0 } = plan.steps ?? {};
  const common = { executionId, ...target };
  if (nowMs < endsAtMs + toMs(plan.resultLate ?? '0s')) {
    const summary = { stepCount: count, succeededSteps: 0, failedSteps: 0, skippedSteps: 0 };
    return { ...common, status: 'RUNNING', output: null, summary, error: null, completedAt: null, ...plan.extra };
  }
  const succeeded = Math.max(0, count - failed - skipped);
  return {
    ...common,
    status: outcome,
    output: plan.output === undefined ? defaultOutput(outcome) : plan.output,
    summary: { stepCount: count, succeededSteps: succeeded, failedSteps: failed, skippedSteps: skipped },
    error: outcome === 'COMPLETED' ? null : (plan.error ?? defaultError(outcome)),
    completedAt: shown(run, endsAtMs),
    ...plan.extra,
  };
}

const defaultOutput = (outcome: string) => (outcome === 'COMPLETED' ? 'The report was sent to 3 people.' : null);

function defaultError(outcome: string): AutomationPlan['error'] {
  if (outcome === 'TIMED_OUT') return { type: 'timed_out', message: 'The run exceeded the time limit' };
  if (outcome === 'FAILED') return { type: 'step_failed', message: 'Step "Send the report": the mail server said no' };
  return null;
}
