import { allResolutions } from '../messages/recovery-sentences.ts';
import { attributions } from '../run/attribution.ts';
import { exitCodes } from '../run/exit-codes.ts';
import { causesOfUnknown } from '../run/problem.ts';
import { finalStatusTable, unknownFinalStatus } from '../run/statuses.ts';
import type { JsonObject } from '../system/json.ts';

export type Schema = JsonObject;

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const whole = { type: 'integer' };
const count = { type: 'integer', minimum: 0 };
const yesOrNo = { type: 'boolean' };
const time = { type: 'string', format: 'date-time' };
const oneOf = (...words: readonly string[]) => ({ enum: words });
const listOf = (items: Schema) => ({ type: 'array', items });
const orNull = (schema: Schema) => ({ anyOf: [schema, { type: 'null' }] });
const mapOf = (additionalProperties: Schema) => ({ type: 'object', additionalProperties });

/**
 * An object that may have other fields, because fields may be added to every object within
 * `schema: 1`.
 */
function object(required: Schema, optional: Schema = {}, more: Schema = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    ...more,
  };
}

const outcomes = [...new Set(exitCodes.map(({ outcome }) => outcome))];
/** Exit names that report the status of a run, so a document with them has no problem. */
const withoutProblem = [
  ...[...Object.values(finalStatusTable), unknownFinalStatus].map(({ exit }) => exit),
  'still_running',
];

const confirmed = object({ status: text, ageMs: count });
const warning = object({ name: text, message: text });
const setting = object({ value: textOrNull, source: textOrNull }, { problem: text });

const problem = object(
  {
    name: oneOf(...outcomes.filter((name) => !withoutProblem.includes(name)), ...causesOfUnknown),
    message: text,
  },
  { httpStatus: whole, serviceCode: text, requestId: text, retryAfterMs: count },
);

const trigger = object({
  how: oneOf(...new Set(Object.values(attributions).map(({ how }) => how))),
  started: oneOf('yes', 'no', 'unknown'),
  idempotencyKey: textOrNull,
  safeToRepeat: yesOrNo,
});

const reports = {
  list: object({ idempotencyKey: textOrNull, at: time, baseUrl: text }),
  recover: object(
    { at: time, resolution: oneOf(...allResolutions), reason: textOrNull },
    { until: time },
  ),
  config: mapOf({ anyOf: [setting, text] }),
  explain: listOf(
    object({
      code: whole,
      outcome: text,
      meaning: text,
      advice: text,
      repeat: oneOf('yes', 'own key', 'no'),
    }),
  ),
  version: object({ runctl: text, node: text, platform: text, undici: text }),
  doctor: listOf(
    object({
      name: text,
      result: oneOf('ok', 'warning', 'failed', 'skipped'),
      message: text,
      advice: textOrNull,
    }),
  ),
  request: object({ method: text, url: text, body: mapOf({}), idempotencyKey: text }),
};

const runctl = object(
  {
    schema: { const: 1 },
    command: textOrNull,
    exitCode: { enum: exitCodes.map(({ code }) => code) },
    outcome: oneOf(...outcomes),
    next: textOrNull,
    warnings: listOf(warning),
  },
  {
    durationMs: count,
    trigger,
    problem,
    activeExecutionId: text,
    lastConfirmed: confirmed,
    ...reports,
  },
  {
    if: { properties: { outcome: oneOf(...withoutProblem) } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { properties: { problem: false } },
    else: { required: ['problem'] },
    allOf: [
      {
        if: { properties: { outcome: { const: 'outcome_unknown' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: { properties: { trigger: { properties: { started: { const: 'unknown' } } } } },
      },
    ],
  },
);

const summary = object(
  {},
  { stepCount: count, succeededSteps: count, failedSteps: count, skippedSteps: count },
);
const error = object({}, { type: textOrNull, message: textOrNull });
/** Every document names its run or automation. */
const names = { executionId: textOrNull, projectId: text, automationName: text, agentId: text };

/**
 * The fields that the service documents. They are printed as they were sent, and so is any other
 * field.
 */
const ofService = {
  status: text,
  title: textOrNull,
  message: textOrNull,
  startedAt: textOrNull,
  completedAt: textOrNull,
  createdAt: textOrNull,
  creditsCharged: { type: ['number', 'null'] },
  output: textOrNull,
  summary: orNull(summary),
  error: orNull(error),
};

const document = object(
  { runctl },
  { ...names, ...ofService },
  {
    if: { required: ['executionId'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { anyOf: [{ required: ['projectId', 'automationName'] }, { required: ['agentId'] }] },
  },
);

/** The JSON Schema of `--json`. */
export const documentSchema: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:runctl:schema:1:document',
  title: 'One line of runctl --json',
  description: 'The service sent the fields beside runctl. It may send others.',
  ...document,
};
