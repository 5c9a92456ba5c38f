import * as v from 'valibot';
import { usageProblem } from '../problems/problem.ts';
import { isJsonObject } from '../runs/json.ts';
import { finalStatuses } from '../runs/statuses.ts';
import { parseDuration } from '../runs/time-text.ts';

const duration = v.pipe(
  v.string(),
  v.check((text) => parseDuration(text) !== undefined, 'a duration such as 500ms, 30s, 5m or 1h30m'),
);
const count = v.pipe(v.number(), v.integer('a whole number'), v.minValue(0, '0 or more'));
const ordinal = v.pipe(v.number(), v.integer('a whole number'), v.minValue(1, '1 or more'));
const amount = v.pipe(v.number(), v.minValue(0, '0 or more'));
const httpStatus = v.pipe(
  v.number(),
  v.integer('a whole number'),
  v.check((status) => status >= 200 && status <= 599, 'an HTTP status from 200 to 599'),
);
// valibot's own record leaves out the names that every object has (`constructor`, `__proto__`); its map does not.
const recordOf = <V extends v.GenericSchema>(name: v.GenericSchema<string>, value: V) =>
  v.pipe(
    v.custom<Record<string, v.InferInput<V>>>(isJsonObject, 'an object'),
    v.transform((record) => new Map(Object.entries(record))),
    v.map(name, value),
    v.transform((entries): Record<string, v.InferOutput<V>> => Object.fromEntries(entries)),
  );
// RFC 9110 §5.1, §5.5: what node:http lets into a header.
const headers = recordOf(
  v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'a header name')),
  v.pipe(v.string(), v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'a header value')),
);
const finalStatus = v.picklist(finalStatuses);

const automationPlan = v.strictObject({
  duration: v.optional(duration),
  outcome: v.optional(
    v.union([finalStatus, v.pipe(v.array(finalStatus), v.minLength(1, 'a status or a list of them'))]),
  ),
  steps: v.optional(
    v.pipe(
      v.strictObject({ count: v.optional(count), failed: v.optional(count), skipped: v.optional(count) }),
      v.check(
        ({ count = 3, failed = 0, skipped = 0 }) => failed + skipped <= count,
        'a count (default: 3), at least the failed and skipped steps together',
      ),
    ),
  ),
  output: v.optional(v.nullable(v.string())),
  error: v.optional(v.nullable(v.strictObject({ type: v.string(), message: v.string() }))),
  creditsCharged: v.optional(amount),
  statusLate: v.optional(duration),
  resultLate: v.optional(duration),
  extra: v.optional(recordOf(v.string(), v.unknown())),
});

const condition = {
  on: v.optional(v.picklist(['trigger', 'status', 'result', 'any'])),
  automation: v.optional(v.string()),
  during: v.optional(v.strictObject({ after: v.optional(duration), for: v.optional(duration) })),
  /** This and the next three count the requests that meet the conditions above, from 1. */
  nth: v.optional(ordinal),
  from: v.optional(ordinal),
  to: v.optional(ordinal),
  every: v.optional(ordinal),
  chance: v.optional(v.pipe(v.number(), v.minValue(0, 'from 0 to 1'), v.maxValue(1, 'from 0 to 1'))),
};
const acts = v.optional(v.boolean()); // the service acts on the request all the same

const fault = v.variant('do', [
  v.strictObject({
    ...condition,
    do: v.literal('status'),
    status: httpStatus,
    body: v.optional(v.unknown()),
    headers: v.optional(headers),
    acts,
  }),
  v.strictObject({ ...condition, do: v.literal('html'), status: v.optional(httpStatus), acts }),
  v.strictObject({ ...condition, do: v.picklist(['reset', 'close', 'hang']), acts }),
  v.strictObject({ ...condition, do: v.literal('loseAnswer') }),
  v.strictObject({ ...condition, do: v.picklist(['hangBody', 'truncate', 'wrongJson']) }),
  v.strictObject({ ...condition, do: v.literal('revokeKey') }),
  v.strictObject({ ...condition, do: v.literal('drip'), gap: v.optional(duration) }),
  v.strictObject({ ...condition, do: v.literal('delay'), delay: duration }),
]);

const errorShape = v.picklist(['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html', 'empty']);

/** A scenario file, in which everything is optional. `scenario-fields.ts` says what each field means. */
export const scenarioSchema = v.strictObject({
  automations: v.optional(recordOf(v.string(), automationPlan)),
  faults: v.optional(v.array(fault)),
  errorShape: v.optional(errorShape),
  refusals: v.optional(recordOf(v.string(), v.strictObject({ status: httpStatus, body: v.unknown() }))),
  order: v.optional(v.picklist(['keyFirst', 'activeFirst'])),
  idempotencyKeys: v.optional(v.picklist(['honored', 'ignored'])),
  replayErrors: v.optional(v.boolean()),
  namesActiveRun: v.optional(v.boolean()),
  rateLimit: v.optional(
    v.strictObject({
      requests: ordinal,
      window: duration,
      on: v.optional(v.picklist(['trigger', 'any'])),
      retryAfter: v.optional(v.picklist(['seconds', 'date', 'none'])),
    }),
  ),
  credits: v.optional(amount),
  runLimit: v.optional(duration),
  apiKeys: v.optional(v.array(v.pipe(v.string(), v.nonEmpty('a key')))),
});

export type Scenario = v.InferOutput<typeof scenarioSchema>;
export type AutomationPlan = v.InferOutput<typeof automationPlan>;
export type ErrorShape = v.InferOutput<typeof errorShape>;
export type InjectedFault = v.InferOutput<typeof fault>;
export type FaultCondition = Pick<InjectedFault, keyof typeof condition>;

export const toMs = (text: string) => parseDuration(text) ?? 0;

/** Where a mistake in a scenario can be looked up. */
export const scenarioHint = 'see `runctl help scenarios`';

/** Throws a usage problem that names `source` and the path of the wrong field. */
export function checkScenario(value: unknown, source: string): Scenario {
  if (!isJsonObject(value)) throw usageProblem(`${source}: a scenario is a JSON object`, scenarioHint);
  const { issues, output } = v.safeParse(scenarioSchema, value, { abortEarly: true });
  if (issues) throw usageProblem(`${source}: ${mistakeOf(issues[0])}`, scenarioHint);
  return output;
}

/** A mistake with the path of its field, such as `faults[0].nth` or `automations["a b"].duration`. */
function mistakeOf(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) =>
    /^[a-z_]\w*$/i.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  const path = keys.join('').replace(/^\./, '');
  if (issue.expected === 'never') return `${path} is not a field of a scenario`;
  if (issue.received === 'undefined') return `${path} is missing`;
  const expected = issue.kind === 'schema' && issue.type !== 'custom' ? issue.expected : issue.message;
  const received = typeof issue.input === 'string' ? JSON.stringify(issue.input) : issue.received;
  // Valibot writes a choice as a type: `("a" | ("b" | "c"))`.
  const choice = expected
    ?.replaceAll(/[()"]/g, '')
    .replaceAll(' | ', ', ')
    .replace(/, (?!.*, )/, ' or ');
  return `${path} must be ${expected?.startsWith('(') ? choice : expected}, not ${received}`;
}
