import type { Run, Target } from '../runs/run.ts';

/** The paths of the interface (§4), relative to the base address. */
export function triggerPath(target: Target): string {
  return `${targetPath(target)}/trigger`;
}

export function statusPath(run: Run): string {
  return `${targetPath(run.target)}/executions/${encodeURIComponent(run.executionId)}`;
}

export function resultPath(run: Run): string {
  return `${statusPath(run)}/result`;
}

function targetPath(target: Target): string {
  return target.family === 'agent'
    ? `/v0/agent/${encodeURIComponent(target.agentId)}`
    : `/v0/automation/${encodeURIComponent(target.projectId)}/${encodeURIComponent(target.automationName)}`;
}
