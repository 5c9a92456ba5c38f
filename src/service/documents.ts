import type { StartedRun, Trigger } from '../run/ports.ts';
import {
  isFinalStatus,
  isUuid,
  type JsonObject,
  type Run,
  type RunResult,
  type RunStatus,
} from '../run/run.ts';

// Each function returns what the document says, or why it isn't the document that was asked for.
// A field of the wrong type counts as missing.

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The response to a trigger with a given key must not name another automation. */
export function readStarted(document: JsonObject, trigger?: Trigger): StartedRun | string {
  const executionId = uuidIn(document.executionId);
  if (executionId === undefined) return 'the response has no executionId';
  if (trigger?.isKeyGiven) {
    const { automationName, projectId } = document;
    const { automation } = trigger;
    const isAnother =
      (isText(automationName) && automationName !== automation.name) ||
      (isText(projectId) && projectId.toLowerCase() !== automation.projectId);
    if (isAnother) return 'the response is about another automation';
  }
  return { executionId, document };
}

export function readStatus(document: JsonObject, executionId: string): RunStatus | string {
  const status = statusIn(document);
  if (status === undefined) return 'the response has no status';
  if (uuidIn(document.executionId) !== executionId) return 'the response is about another run';
  const completedAtMs = timeIn(document.completedAt);
  return {
    status,
    isFinal: isFinalStatus(status, completedAtMs),
    startedAtMs: timeIn(document.startedAt),
    completedAtMs,
    creditsCharged: amountIn(document.creditsCharged),
    document,
  };
}

/** While a run is in progress, only the status of its result means anything. */
export function readResult(
  document: JsonObject,
  run: Run,
  scrub: (text: string) => string,
): RunResult | string {
  const status = statusIn(document);
  if (status === undefined) return 'the response has no status';
  const isFinal = isFinalStatus(status, timeIn(document.completedAt));
  const { executionId, output = null } = document;
  const isUnnamed = !isFinal && !executionId;
  if (!isUnnamed && uuidIn(executionId) !== run.executionId)
    return 'the response is about another run';
  return {
    status,
    isFinal,
    output: typeof output === 'string' || output === null ? output : JSON.stringify(output),
    steps: stepsIn(document.summary),
    error: errorIn(document.error, scrub),
    document,
  };
}

function stepsIn(summary: unknown): RunResult['steps'] {
  if (!isJsonObject(summary)) return undefined;
  const count = amountIn(summary.stepCount);
  if (count === undefined) return undefined;
  const { succeededSteps, failedSteps, skippedSteps } = summary;
  return {
    count,
    succeeded: amountIn(succeededSteps) ?? 0,
    failed: amountIn(failedSteps) ?? 0,
    skipped: amountIn(skippedSteps) ?? 0,
  };
}

/** `run_failed` is what the service calls a failure "for another reason". */
function errorIn(error: unknown, scrub: (text: string) => string): RunResult['error'] {
  const { type, message } = isJsonObject(error) ? error : { type: undefined, message: error };
  if (!isText(type) && !isText(message)) return undefined;
  return {
    type: isText(type) ? scrub(type) : 'run_failed',
    message: isText(message) ? scrub(message) : '',
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** In lower case. */
const uuidIn = (value: unknown): string | undefined =>
  isText(value) && isUuid(value) ? value.toLowerCase() : undefined;

const statusIn = ({ status }: JsonObject): string | undefined =>
  isText(status) && status.trim() !== '' ? status : undefined;

const amountIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 ? value : undefined;

/**
 * The milliseconds of an ISO 8601 time. Without an offset it is UTC, which `Date.parse` takes for
 * local. Times before 1971 stand for none.
 */
function timeIn(value: unknown): number | undefined {
  const [, day, time, offset] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d[\d:.]*)(Z|[+-]\d\d:?\d\d)?$/i.exec(
      isText(value) ? value : '',
    ) ?? [];
  const ms = Date.parse(`${day}T${time}${offset ?? 'Z'}`);
  return ms >= Date.UTC(1971, 0) ? ms : undefined;
}
