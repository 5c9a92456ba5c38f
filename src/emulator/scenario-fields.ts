/** The fields of a scenario by path. A test compares them with the schema in `scenario.ts`. */
export const scenarioFields: readonly (readonly [path: string, about: string])[] = [
  [
    'automations',
    'what the runs of each automation do, by name; "*" means all other names, which get a 404 without it',
  ],
  ['automations.*.duration', 'how long a run takes (20s by default)'],
  [
    'automations.*.outcome',
    'the final status (COMPLETED by default), or a list: the first run gets the first one, the second run the second, and later runs the last',
  ],
  ['automations.*.steps', 'the step counts in the summary: an object with count, failed and skipped'],
  ['automations.*.output', 'the output of the run: text or null'],
  ['automations.*.error', "the error of a run that doesn't complete: an object with type and message, or null"],
  ['automations.*.creditsCharged', 'the credits that each run costs'],
  ['automations.*.statusLate', "for this long after the trigger, the run can't be found"],
  ['automations.*.resultLate', 'for this long after the run has finished, its result still says RUNNING'],
  ['automations.*.extra', 'fields to add to the responses, or to replace in them'],
  ['faults', 'what goes wrong: a list; the first fault that matches a request is applied to it'],
  [
    'faults[].do',
    'status, html, reset, close, hang, loseAnswer, hangBody, truncate, wrongJson, revokeKey, drip or delay',
  ],
  ['faults[].on', 'which requests: trigger, status, result or any (the default)'],
  ['faults[].automation', 'only requests for the automation with this name'],
  ['faults[].during', 'only while the run has a certain age: an object with two durations, after and for'],
  ['faults[].nth', 'only the nth matching request, counted from 1'],
  ['faults[].from', 'from the nth matching request on'],
  ['faults[].to', 'up to the nth matching request'],
  ['faults[].every', 'every nth matching request'],
  ['faults[].chance', 'with this probability, from 0 to 1'],
  [
    'faults[].status',
    'with status: the HTTP status to return; with html: the HTTP status of the page (200 by default)',
  ],
  ['faults[].body', 'with status: the response body'],
  ['faults[].headers', 'with status: response headers'],
  ['faults[].acts', 'with status, html, reset, close, hang: true if the service acts on the request anyway'],
  ['faults[].gap', 'with drip: the time between two bytes (100ms by default)'],
  ['faults[].delay', 'with delay: how much later to respond'],
  [
    'errorShape',
    'the shape of error bodies: flat (the default), string, nested, list, problem, data, text, html or empty',
  ],
  [
    'refusals',
    'what refusals look like, by code (notFound, runAlreadyActive, invalidApiKey, rateLimited, …) instead of in errorShape',
  ],
  ['refusals.*.status', 'the HTTP status'],
  ['refusals.*.body', 'the body: JSON, or text; {executionId} in it stands for the active run'],
  [
    'order',
    'what the service checks first for a trigger: keyFirst (the idempotency key, the default) or activeFirst (an active run)',
  ],
  [
    'idempotencyKeys',
    'honored (a repeated key returns the run it started; the default) or ignored (it may start another run)',
  ],
  ['replayErrors', 'true: repeating a refused trigger with the same key returns the same refusal (false by default)'],
  ['namesActiveRun', 'true: a 422 runAlreadyActive names the active run (false by default)'],
  [
    'rateLimit',
    'how many requests are accepted before the others get a 429: an object with requests, window, on and retryAfter',
  ],
  ['credits', 'the credit balance; at 0, a trigger gets a 402 (unlimited by default)'],
  ['runLimit', 'how long a run can take before it finishes as TIMED_OUT (3h by default)'],
  ['apiKeys', "API keys that are accepted besides the emulator's own"],
];

export const sampleScenario = `{
  "automations": {
    "nightly": { "duration": "40m", "outcome": ["FAILED", "COMPLETED"] },
    "*": { "steps": { "count": 5 }, "output": "..." }
  },
  "faults": [{ "on": "status", "chance": 0.3, "do": "reset" }],
  "rateLimit": { "requests": 5, "window": "10s" },
  "credits": 100
}`;
