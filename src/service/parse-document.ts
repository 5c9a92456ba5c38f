import * as v from 'valibot';
import { isSameId, isUuid, type Run } from '../run/run.ts';
import type { RunResult, RunSnapshot } from '../run/service.ts';
import { hasFinished } from '../run/statuses.ts';
import { type JsonObject, stringifyJson } from '../system/json.ts';

// A field of a wrong type is left out (docs/service.md, Documents may grow).
const maybe = <T extends v.GenericSchema>(schema: T) => v.fallback(v.optional(schema), undefined);
const text = maybe(v.string());
const count = maybe(v.pipe(v.number(), v.integer(), v.minValue(0)));
// See docs/service.md, Times without an offset are UTC, and before 1971 they are none.
const isTime = (time: string) => new Date(time).getUTCFullYear() > 1970;
const withOffset = (time: string) => (/([zZ]|[+-]\d\d(:?\d\d)?)$/.test(time) ? time : `${time}Z`);
const timestamp = maybe(
  v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT/), v.transform(withOffset), v.check(isTime)),
);
const amount = v.union([
  v.pipe(v.number(), v.finite(), v.minValue(0)),
  v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/), v.transform(Number)),
]);
const uuid = v.pipe(v.string(), v.check(isUuid));
const output = v.pipe(
  v.unknown(),
  v.transform((value) =>
    value === null || typeof value === 'string' ? (value ?? undefined) : stringifyJson(value, 2),
  ),
);
const status = v.pipe(v.string(), v.regex(/\S/));

const execution = v.object({
  executionId: maybe(uuid),
  status,
  startedAt: timestamp,
  completedAt: timestamp,
  createdAt: timestamp,
  creditsCharged: maybe(amount),
  title: text,
  message: text,
});

const result = v.object({
  executionId: maybe(uuid),
  status,
  output: v.optional(output),
  summary: maybe(
    v.object({ stepCount: count, succeededSteps: count, failedSteps: count, skippedSteps: count }),
  ),
  error: maybe(
    v.union([
      v.object({ type: text, message: text }),
      v.pipe(
        v.string(),
        v.transform((message) => ({ message })),
      ),
    ]),
  ),
  completedAt: timestamp,
});

/** A snapshot with the fields that only Agents have. */
export interface AgentStatus extends RunSnapshot {
  title?: string;
  message?: string;
}

/**
 * `AutomationExecution` in docs/service.openapi.json. Undefined without a status or an id, as no
 * run is meant.
 */
export function parseStatus(document: JsonObject): AgentStatus | undefined {
  const { success, output } = v.safeParse(execution, document);
  if (!success || output.executionId === undefined) return undefined;
  const { executionId } = output;
  return { ...output, executionId, isFinal: hasFinished(output), document };
}

/** The run in the response to a trigger. Without a status, it is RUNNING. */
export function parseStarted(document: JsonObject): RunSnapshot | undefined {
  const run = parseStatus(document) ?? parseStatus({ ...document, status: 'RUNNING' });
  if (!run) return undefined;
  const { executionId, status } = run;
  return { ...run, document: { executionId, status, ...document } };
}

/** `AutomationResult` in docs/service.openapi.json. Undefined without a status. */
export function parseResult(
  document: JsonObject,
): (RunResult & { executionId?: string }) | undefined {
  const { success, output } = v.safeParse(result, document);
  return success ? { ...output, isFinal: hasFinished(output), document } : undefined;
}

/**
 * Undefined if the response is about another run (from a broken cache) or about none (from a
 * gateway).
 */
export function ofRun<T extends { executionId?: string }>(
  { executionId }: Pick<Run, 'executionId'>,
  value: T | undefined,
  { mayLackId = false } = {},
): T | undefined {
  const named = value?.executionId ?? (mayLackId ? executionId : undefined);
  return isSameId(named, executionId) ? value : undefined;
}
