import * as v from 'valibot';
import { parseDuration } from '../runs/duration.ts';
import { isJsonObject } from '../runs/json.ts';
import type { AgentPlan, AutomationPlan, Fault, Scenario } from './scenario.ts';

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
// RFC 9110 §5.1, §5.5: what node:http lets into a header.
const headers = v.record(
  v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'a header name')),
  v.pipe(v.string(), v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'a header value')),
);
const oneOrMore = <S extends v.GenericSchema>(state: S) =>
  v.union([state, v.pipe(v.array(state), v.minLength(1, 'a state or a list of states'))]);

const plan = {
  duration: v.optional(duration),
  statusLate: v.optional(duration),
  extra: v.optional(v.record(v.string(), v.unknown())),
};

const automationPlan: v.GenericSchema<unknown, AutomationPlan> = v.strictObject({
  ...plan,
  outcome: v.optional(oneOrMore(v.picklist(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED']))),
  steps: v.optional(
    v.pipe(
      v.strictObject({ count: v.optional(count), failed: v.optional(count), skipped: v.optional(count) }),
      v.check(
        ({ count = 3, failed = 0, skipped = 0 }) => failed + skipped <= count,
        'a count (3 if not given) of at least the failed and skipped steps together',
      ),
    ),
  ),
  output: v.optional(v.nullable(v.string())),
  error: v.optional(v.nullable(v.strictObject({ type: v.string(), message: v.string() }))),
  creditsCharged: v.optional(amount),
  resultLate: v.optional(duration),
});

const agentPlan: v.GenericSchema<unknown, AgentPlan> = v.strictObject({
  ...plan,
  outcome: v.optional(oneOrMore(v.pipe(v.string(), v.nonEmpty('the name of a state')))),
});

const condition = {
  on: v.optional(v.picklist(['trigger', 'status', 'result', 'any'])),
  automation: v.optional(v.string()),
  during: v.optional(v.strictObject({ after: v.optional(duration), for: v.optional(duration) })),
  nth: v.optional(ordinal),
  from: v.optional(ordinal),
  to: v.optional(ordinal),
  every: v.optional(ordinal),
  chance: v.optional(v.pipe(v.number(), v.minValue(0, 'from 0 to 1'), v.maxValue(1, 'from 0 to 1'))),
};
const acts = v.optional(v.boolean());

const fault: v.GenericSchema<unknown, Fault> = v.variant('do', [
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
  v.strictObject({ ...condition, do: v.picklist(['loseAnswer', 'hangBody', 'truncate', 'wrongJson', 'revokeKey']) }),
  v.strictObject({ ...condition, do: v.literal('drip'), gap: v.optional(duration) }),
  v.strictObject({ ...condition, do: v.literal('delay'), delay: duration }),
]);

const scenario: v.GenericSchema<unknown, Scenario> = v.strictObject({
  automations: v.optional(v.record(v.string(), automationPlan)),
  agents: v.optional(v.picklist(['discontinued', 'accept'])),
  agentRun: v.optional(agentPlan),
  faults: v.optional(v.array(fault)),
  errorShape: v.optional(v.picklist(['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html', 'empty'])),
  order: v.optional(v.picklist(['keyFirst', 'activeFirst'])),
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

/** What is wrong with a scenario, naming the path of the first wrong field; undefined if it is right. */
export function findMistake(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'a scenario is a JSON object';
  const { issues } = v.safeParse(scenario, value, { abortEarly: true });
  const issue = issues?.[0];
  if (!issue) return undefined;
  const path = pathOf(issue.path ?? []);
  if (issue.expected === 'never') return `${path} is not a field of a scenario`;
  if (issue.received === 'undefined') return `${path} is missing`;
  const expected = issue.kind === 'schema' ? issue.expected : issue.message;
  const received = typeof issue.input === 'string' ? JSON.stringify(issue.input) : issue.received;
  return `${path} must be ${expected}, not ${received}`;
}

function pathOf(items: readonly v.IssuePathItem[]): string {
  const path = items
    .map(({ key }) => {
      if (typeof key === 'number') return `[${key}]`;
      return /^\w+$/.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join('');
  return path.replace(/^\./, '');
}
