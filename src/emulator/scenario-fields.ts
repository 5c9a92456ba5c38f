/** The fields of a scenario by path. A test compares them with the schema in `scenario.ts`. */
export const scenarioFields: readonly (readonly [path: string, about: string])[] = [
  [
    'automations',
    'what runs of an automation do, by its name; "*" stands for all other names, which are answered with 404 if it is missing',
  ],
  ['automations.*.duration', 'how long a run takes; 20s if not given'],
  [
    'automations.*.outcome',
    'the final status, or a list of them: the first run gets the first one, and so on, and all later runs the last one; COMPLETED if not given',
  ],
  ['automations.*.steps', 'the numbers of steps in the summary: an object with count, failed and skipped'],
  ['automations.*.output', 'the output of the run: a text, or null'],
  ['automations.*.error', 'the error of a run that does not complete: an object with type and message, or null'],
  ['automations.*.creditsCharged', 'the credits that a run costs'],
  ['automations.*.statusLate', 'for this long after the trigger the run cannot be found'],
  ['automations.*.resultLate', 'for this long after the run has finished its result still says RUNNING'],
  ['automations.*.extra', 'fields to add to the answers, or to replace in them'],
  ['agents', 'the Agent trigger: discontinued (answers 410; the default) or accept (starts a run)'],
  ['agentRun', 'what agent runs do: duration, outcome, statusLate, extra'],
  ['faults', 'a list of what goes wrong; the first fault whose conditions fit a request is injected into it'],
  [
    'faults[].do',
    'status, html, reset, close, hang, loseAnswer, hangBody, truncate, wrongJson, revokeKey, drip or delay',
  ],
  ['faults[].on', 'which requests: trigger, status, result or any (the default)'],
  ['faults[].automation', 'only requests for the automation of this name'],
  ['faults[].during', 'only while the run has a certain age: an object with after and for, two durations'],
  ['faults[].nth', 'only the nth request that fits so far, counted from 1'],
  ['faults[].from', 'from the nth request that fits on'],
  ['faults[].to', 'up to the nth request that fits'],
  ['faults[].every', 'every nth request that fits'],
  ['faults[].chance', 'with this probability, from 0 to 1'],
  ['faults[].status', 'with status: the HTTP status to answer; with html: that of the page (200 if not given)'],
  ['faults[].body', 'with status: the body of the answer'],
  ['faults[].headers', 'with status: headers of the answer'],
  ['faults[].acts', 'with status, html, reset, close, hang: true where the service acts on the request all the same'],
  ['faults[].gap', 'with drip: the time between two bytes; 100ms if not given'],
  ['faults[].delay', 'with delay: how much later the answer comes'],
  [
    'errorShape',
    'the form of error bodies: flat (the default), string, nested, list, problem, data, text, html or empty',
  ],
  ['order', 'what a trigger checks first: keyFirst (the idempotency key; the default) or activeFirst (an active run)'],
  [
    'idempotencyKeys',
    'honoured (a repeated key is answered with the run that it started; the default), ignored (it may start another run) or agentsOnly (ignored for automations)',
  ],
  ['replayErrors', 'true: an idempotency key that was refused is refused again; false if not given'],
  ['namesActiveRun', 'true: the 422 runAlreadyActive names the active run; false if not given'],
  [
    'rateLimit',
    'how many requests are accepted; others are answered with 429: an object with requests, window, on and retryAfter',
  ],
  ['credits', 'the credit balance; at 0 a trigger is answered with 402; unlimited if not given'],
  ['runLimit', 'after how long a run is ended as TIMED_OUT; 3h if not given'],
  ['apiKeys', "API keys that are accepted beside the emulator's own"],
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
