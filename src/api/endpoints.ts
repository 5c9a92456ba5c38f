import type { Run, Target } from '../runs/run.ts';

/** Paths relative to the base URL (docs/service.md, Endpoints). */
export function triggerPath(target: Target): string {
  return `${targetPath(target)}/trigger`;
}

export function statusPath(run: Run): string {
  return `${targetPath(run.target)}/executions/${segment(run.executionId)}`;
}

export function resultPath(run: Run): string {
  return `${statusPath(run)}/result`;
}

export function targetPath(target: Target): string {
  return target.family === 'agent'
    ? `/v0/agent/${segment(target.agentId)}`
    : `/v0/automation/${segment(target.projectId)}/${segment(target.automationName)}`;
}

// Half a character of UTF-16, which no URL can carry, becomes U+FFFD.
const segment = (text: string) => encodeURIComponent(text.toWellFormed());
