import type { Target } from '../runs/run.ts';

/** A target in one string: `automation/<projectId>/<automationName>` or `agent/<agentId>`. */
export function pathOf(target: Target): string {
  return target.family === 'agent'
    ? `agent/${target.agentId}`
    : `automation/${target.projectId}/${target.automationName}`;
}

const form = /^(?:agent\/(?<agentId>.+)|automation\/(?<projectId>[^/]+)\/(?<automationName>.+))$/s;

export const isTargetPath = (path: string): boolean => form.test(path);

/** The target that `pathOf` wrote; `path` must be a target's path. */
export function targetOf(path: string): Target {
  const { agentId, projectId = '', automationName = '' } = form.exec(path)?.groups ?? {};
  return agentId === undefined ? { family: 'automation', projectId, automationName } : { family: 'agent', agentId };
}
