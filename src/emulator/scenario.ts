import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import * as v from 'valibot';
import { parseJson } from '../json-text.ts';
import { usageProblem } from '../problems/problem.ts';
import { parseDuration } from '../runs/duration.ts';
import { isJsonObject } from '../runs/json.ts';
import { finalStatuses } from '../runs/run.ts';

/** A text such as `500ms`, `20s`, `1h30m`. */
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
const oneOrMore = <S extends v.GenericSchema>(status: S) =>
  v.union([status, v.pipe(v.array(status), v.minLength(1, 'a status or a list of them'))]);

const plan = {
  /** Time from start to end on the emulator's clock. Default `20s`. */
  duration: v.optional(duration),
  /** For so long after the 201 the run cannot be found. */
  statusLate: v.optional(duration),
  /** Unknown fields to add to bodies, or values to put in place of known ones. */
  extra: v.optional(recordOf(v.string(), v.unknown())),
};

const automationPlan = v.strictObject({
  ...plan,
  /** Final status; of a list the first run takes the first, and so on: the last one stays. Default `COMPLETED`. */
  outcome: v.optional(oneOrMore(v.picklist(finalStatuses))),
  /** Default 3 steps, of which 1 failed if the run FAILED. The rest succeeded. */
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
  /** Shown unless the run COMPLETED. */
  error: v.optional(v.nullable(v.strictObject({ type: v.string(), message: v.string() }))),
  creditsCharged: v.optional(amount),
  /** For so long after the end the result still says RUNNING. */
  resultLate: v.optional(duration),
});

const agentPlan = v.strictObject({
  ...plan,
  /** The final statuses of Agents are not documented, so any text may be one. */
  outcome: v.optional(oneOrMore(v.pipe(v.string(), v.nonEmpty('the name of a status')))),
});

const condition = {
  /** Default `any`. */
  on: v.optional(v.picklist(['trigger', 'status', 'result', 'any'])),
  automation: v.optional(v.string()),
  /** The age of the run in question, on the emulator's clock. */
  during: v.optional(v.strictObject({ after: v.optional(duration), for: v.optional(duration) })),
  /** Numbers count the requests that meet the conditions above, from 1. */
  nth: v.optional(ordinal),
  from: v.optional(ordinal),
  to: v.optional(ordinal),
  every: v.optional(ordinal),
  /** Probability, 0 to 1. */
  chance: v.optional(v.pipe(v.number(), v.minValue(0, 'from 0 to 1'), v.maxValue(1, 'from 0 to 1'))),
};
/** Unless noted, a fault keeps the request from the service; with `acts` it arrives, and only its answer is lost. */
const acts = v.optional(v.boolean());

/** Injected into a request that meets every condition given; of several, the first in the list. */
const fault = v.variant('do', [
  /** Answers this instead. */
  v.strictObject({
    ...condition,
    do: v.literal('status'),
    status: httpStatus,
    body: v.optional(v.unknown()),
    headers: v.optional(headers),
    acts,
  }),
  /** A proxy's page, 200 by default. */
  v.strictObject({ ...condition, do: v.literal('html'), status: v.optional(httpStatus), acts }),
  /** RST, FIN, or silence instead of an answer. */
  v.strictObject({ ...condition, do: v.picklist(['reset', 'close', 'hang']), acts }),
  /** The service acts, then RST. */
  v.strictObject({ ...condition, do: v.literal('loseAnswer') }),
  /** The true answer: after half its body silence, or FIN; or with another JSON document for a body. */
  v.strictObject({ ...condition, do: v.picklist(['hangBody', 'truncate', 'wrongJson']) }),
  /** From this request on the key is refused. */
  v.strictObject({ ...condition, do: v.literal('revokeKey') }),
  /** The true answer a byte at a time, with this gap (default `100ms`) of real time between them. */
  v.strictObject({ ...condition, do: v.literal('drip'), gap: v.optional(duration) }),
  /** The true answer, so much real time later. */
  v.strictObject({ ...condition, do: v.literal('delay'), delay: duration }),
]);

const errorShape = v.picklist(['flat', 'string', 'nested', 'list', 'problem', 'data', 'text', 'html', 'empty']);

/** How the emulated service behaves: a JSON document in which everything is optional. `{}` is a service without faults. */
export const scenarioSchema = v.strictObject({
  /** Plans by automation name; `"*"` is any other name. Without `"*"` other names get 404. Default `{"*": {}}`. */
  automations: v.optional(recordOf(v.string(), automationPlan)),
  /** `discontinued` (default): the Agent trigger answers 410. `accept`: it starts a run as it once did. */
  agents: v.optional(v.picklist(['discontinued', 'accept'])),
  agentRun: v.optional(agentPlan),
  faults: v.optional(v.array(fault)),
  /** Form of error bodies, which the interface leaves open. Default `flat`. */
  errorShape: v.optional(errorShape),
  /** What a trigger checks first: the idempotency key (default) or an active run. */
  order: v.optional(v.picklist(['keyFirst', 'activeFirst'])),
  /** A key that was answered with a refusal gets the same refusal again. Default false. */
  replayErrors: v.optional(v.boolean()),
  /** The 422 `runAlreadyActive` names the active `executionId`. Default false. */
  namesActiveRun: v.optional(v.boolean()),
  /** At most so many requests in any window of real time, of triggers (default) or of everything. */
  rateLimit: v.optional(
    v.strictObject({
      requests: ordinal,
      window: duration,
      on: v.optional(v.picklist(['trigger', 'any'])),
      retryAfter: v.optional(v.picklist(['seconds', 'date', 'none'])),
    }),
  ),
  /** The credit balance. Every run that ends takes its `creditsCharged`; at 0 a trigger gets 402. Default: endless. */
  credits: v.optional(amount),
  /** Default `3h`. */
  runLimit: v.optional(duration),
  /** Accepted beside the emulator's own key; idempotency keys are scoped by them. */
  apiKeys: v.optional(v.array(v.pipe(v.string(), v.nonEmpty('a key')))),
});

export type Scenario = v.InferOutput<typeof scenarioSchema>;
export type AutomationPlan = v.InferOutput<typeof automationPlan>;
export type AgentPlan = v.InferOutput<typeof agentPlan>;
export type ErrorShape = v.InferOutput<typeof errorShape>;
export type InjectedFault = v.InferOutput<typeof fault>;
export type FaultCondition = Pick<InjectedFault, keyof typeof condition>;

/** Milliseconds of a duration that the schema has let pass. */
export const toMs = (text: string) => parseDuration(text) ?? 0;

const mostBytes = 2 ** 20;
const hint = 'see `runctl help scenarios`';

/** Reads a scenario from a file. Throws a usage problem, also for what is no file, which might never end. */
export async function readScenario(path: string): Promise<Scenario> {
  const refuse = (why: string) => usageProblem(`the scenario ${path} ${why}`, hint);
  // Without O_NONBLOCK, the opening of a FIFO waits for somebody to write into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: Error) => {
    throw refuse(`cannot be read: ${error.message}`);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse('is not a file');
    if (stats.size > mostBytes) throw refuse(`is larger than ${mostBytes / 1024} KiB`);
    return parseScenario(await file.readFile('utf8'), path);
  } finally {
    await file.close();
  }
}

/**
 * Reads a scenario from JSON.
 * @param source what the text came from, for the message: a file name.
 * @throws Problem (usage) naming the source and the path of the wrong field.
 */
export function parseScenario(text: string, source: string): Scenario {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    // The rest of the parser's message may quote the text, which may be a file of secrets.
    const [place = ''] = / at position \d+/.exec(String(error)) ?? [];
    throw usageProblem(`${source} cannot be read as JSON${place}`, hint);
  }
  return checkScenario(value, source);
}

/** The same for a value that has been read already. */
export function checkScenario(value: unknown, source: string): Scenario {
  if (!isJsonObject(value)) throw usageProblem(`${source}: a scenario is a JSON object`, hint);
  const { issues, output } = v.safeParse(scenarioSchema, value, { abortEarly: true });
  if (issues) throw usageProblem(`${source}: ${mistakeOf(issues[0])}`, hint);
  return output;
}

/** What is wrong, naming the path of the field, such as `faults[0].nth` or `automations["a b"].duration`. */
function mistakeOf(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) =>
    /^[a-z_]\w*$/i.test(String(key)) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  const path = keys.join('').replace(/^\./, '');
  if (issue.expected === 'never') return `${path} is not a field of a scenario`;
  if (issue.received === 'undefined') return `${path} is missing`;
  const expected = issue.kind === 'schema' && issue.type !== 'custom' ? issue.expected : issue.message;
  const received = typeof issue.input === 'string' ? JSON.stringify(issue.input) : issue.received;
  return `${path} must be ${expected}, not ${received}`;
}
