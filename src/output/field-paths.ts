import { isJsonObject } from '../system/json.ts';

const identity = ['executionId', 'projectId', 'automationName'];
const ofAnyStatus = ['status', 'title', 'message', 'startedAt', 'completedAt', 'createdAt'];
const ofStatus = [...ofAnyStatus, 'creditsCharged'];
const ofResult = ['status', 'summary', 'output', 'error', 'completedAt'];
const ofBoth = [...new Set([...ofStatus, ...ofResult])];

const fieldsOfCommands: Readonly<Record<string, readonly string[]>> = {
  trigger: ofBoth,
  watch: ofBoth,
  status: ofStatus,
  result: ofResult,
  list: ['status', 'startedAt', 'completedAt', 'creditsCharged'],
  recover: ofStatus,
};
const ofAgent = ['executionId', 'agentId', ...ofAnyStatus];

/**
 * The names with which a path of `--field` may begin: fields of the service for this command, and
 * `runctl`.
 */
export function fieldsOf(command: string): readonly string[] {
  const names = command.startsWith('agent ')
    ? ofAgent
    : [...identity, ...(fieldsOfCommands[command] ?? [])];
  return [...names, 'runctl'];
}

const outcomes = [
  'outcome',
  'exitCode',
  'next',
  'durationMs',
  'trigger.how',
  'trigger.started',
  'trigger.idempotencyKey',
];

const ofSummary = ['stepCount', 'succeededSteps', 'failedSteps', 'skippedSteps'];
const ofError = ['type', 'message'];
export const knownPaths: readonly string[] = [
  ...fieldsOf('trigger'),
  ...ofSummary.map((name) => `summary.${name}`),
  ...ofError.map((name) => `error.${name}`),
  ...[...outcomes, 'problem.name', 'problem.message'].map((name) => `runctl.${name}`),
];

/**
 * The value at a path such as `summary.failedSteps` or `steps.0.name`. It is null if a parent is
 * null, and undefined if there is no such field.
 */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const key of path.split('.')) {
    if (value === null) return null;
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
