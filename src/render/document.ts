import type { Problem } from '../problems/problem.ts';
import { isJsonObject, type JsonObject } from '../runs/json.ts';
import type { Run, Target } from '../runs/run.ts';
import type { Execution, RunResult } from '../runs/service.ts';

export interface Known {
  run?: Run;
  execution?: Execution;
  result?: RunResult;
  problem?: Problem;
}

/**
 * What is known of a run as one JSON document: the service's own fields under their own names, unknown ones kept. Of the
 * fields that status and result share, the status stands: it is the one that was confirmed last as final.
 */
export function documentOf({ run, execution, result, problem }: Known): JsonObject {
  const document: JsonObject = {
    ...(run && { executionId: run.executionId, ...identityOf(run.target) }),
    ...result?.document,
    ...execution?.document,
    ...(problem && { problem: problem.toJSON() }),
  };
  // A service that does not name the run in its answer must not take its name from whoever reads this.
  if (run && typeof document.executionId !== 'string') document.executionId = run.executionId;
  return document;
}

/** What names a target in a document. */
export function identityOf(target: Target): JsonObject {
  return target.family === 'agent'
    ? { agentId: target.agentId }
    : { projectId: target.projectId, automationName: target.automationName };
}

/** Paths that a document may have, though it has none of them yet. */
export const knownFields: readonly string[] = [
  ...['status', 'executionId', 'projectId', 'automationName', 'agentId', 'startedAt', 'completedAt', 'creditsCharged'],
  ...['summary', 'summary.stepCount', 'summary.succeededSteps', 'summary.failedSteps', 'summary.skippedSteps'],
  ...['output', 'error', 'error.type', 'error.message', 'title', 'message', 'idempotencyKey'],
  ...['replayed', 'attached', 'skipped', 'problem', 'problem.name', 'problem.exitCode', 'problem.message'],
  ...['problem.hint', 'problem.started', 'problem.safeToRepeat', 'problem.httpStatus', 'problem.serviceCode'],
  ...['problem.code', 'problem.requestId', 'problem.idempotencyKey'],
];

/** The raw value at `summary.failedSteps` or `steps.0.name`, as text; null and missing values are empty. */
export function fieldOf(document: unknown, path: string, stringify: (value: unknown) => string): string {
  const value = valueAt(document, path);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : stringify(value);
}

/** Undefined where there is no such field. */
export function valueAt(document: unknown, path: string): unknown {
  let value: unknown = document;
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
