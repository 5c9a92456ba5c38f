import type { StartedRun, Trigger } from '../core/ports.ts';
import {
  isFinalStatus,
  isJsonObject,
  isUuid,
  type JsonObject,
  type Run,
  type RunResult,
  type RunStatus,
} from '../core/run.ts';

// Each function returns what the document says, or why it isn't the document that was asked for.
// A field of the wrong type counts as missing.

/** The response to a trigger with a given key must not name another automation. */
export function parseStarted(document: JsonObject, trigger?: Trigger): StartedRun | string {
  const executionId = uuidIn(document.executionId);
  if (executionId === undefined) return 'the response has no executionId';
  if (trigger?.isKeyGiven) {
    const { name, projectId } = trigger.automation;
    const isOther =
      (textIn(document.automationName) ?? name) !== name ||
      (textIn(document.projectId)?.toLowerCase() ?? projectId) !== projectId;
    if (isOther) return 'the response is about another automation';
  }
  return { executionId, document };
}

export function parseStatus(
  document: JsonObject,
  executionId: string,
  retryAfterMs?: number,
): RunStatus | string {
  const status = textIn(document.status);
  if (!status) return 'the response has no status';
  if (uuidIn(document.executionId) !== executionId) return 'the response is about another run';
  const completedAtMs = timeIn(document.completedAt);
  return {
    status,
    isFinal: isFinalStatus(status, completedAtMs),
    startedAtMs: timeIn(document.startedAt),
    completedAtMs,
    creditsCharged: numberIn(document.creditsCharged),
    retryAfterMs,
    document,
  };
}

/** While a run is in progress, only the status of its result means anything. */
export function parseResult(
  document: JsonObject,
  { executionId }: Run,
  scrub: (text: string) => string,
): RunResult | string {
  const status = textIn(document.status);
  if (!status) return 'the response has no status';
  const isFinal = isFinalStatus(status, timeIn(document.completedAt));
  const isAnother = uuidIn(document.executionId) !== executionId;
  if (isAnother && (isFinal || document.executionId)) return 'the response is about another run';
  const { output = null } = document;
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
  const count = numberIn(summary.stepCount);
  if (count === undefined) return undefined;
  return {
    count,
    succeeded: numberIn(summary.succeededSteps) ?? 0,
    skipped: numberIn(summary.skippedSteps) ?? 0,
  };
}

/** `run_failed` is what the service calls a failure "for another reason". */
function errorIn(error: unknown, scrub: (text: string) => string): RunResult['error'] {
  if (!isJsonObject(error)) return undefined;
  const { type, message } = error;
  return { type: scrub(textIn(type) ?? 'run_failed'), message: scrub(textIn(message) ?? '') };
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** In lower case. */
const uuidIn = (value: unknown): string | undefined =>
  typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined;

/**
 * The milliseconds of an ISO 8601 time. Without an offset it is UTC, which `Date.parse` takes for
 * local. Times before 1971 stand for none.
 */
function timeIn(value: unknown): number | undefined {
  const text = textIn(value) ?? '';
  if (!/^\d{4}-/.test(text)) return undefined;
  const [, offset = 'none'] = /[T ].*(Z|[+-]\d\d(?::?\d\d)?)$/i.exec(text) ?? [];
  // Date.parse knows no offset of hours alone, which PostgreSQL prints.
  const missing = offset === 'none' ? 'Z' : /^.\d\d$/.test(offset) ? ':00' : '';
  const ms = Date.parse(text + missing);
  return ms >= Date.UTC(1971, 0) ? ms : undefined;
}
