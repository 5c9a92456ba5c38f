import type { Scenario } from './scenario.ts';

interface BuiltInScenario {
  name: string;
  about: string;
  scenario: Scenario;
}

const badGateway = {
  do: 'status',
  status: 502,
  body: '<html><h1>502 Bad Gateway</h1></html>',
  headers: { 'content-type': 'text/html' },
} as const;
const tooMany = {
  do: 'status',
  status: 429,
  body: { code: 'rateLimited', message: 'Too many requests' },
  headers: { 'retry-after': '1' },
} as const;
const failed = (type: string, message: string) =>
  ({ duration: '5s', outcome: 'FAILED', error: { type, message } }) as const;
/** A run that ends just before the limit of 3 hours. */
const longPlan = { duration: '2h50m', steps: { count: 12 }, creditsCharged: 340 };

const scenarios: Readonly<Record<string, Scenario & Pick<BuiltInScenario, 'about'>>> = {
  happy: {
    about: 'a 20-second run that completes',
  },
  failing: {
    about: 'an 8-second run that fails in the third of four steps',
    automations: {
      '*': {
        duration: '8s',
        outcome: 'FAILED',
        steps: { count: 4, failed: 1, skipped: 1 },
        error: { type: 'step_failed', message: 'Step "Post to the ledger": the ledger answered 403' },
        creditsCharged: 5,
      },
    },
  },
  'every-ending': {
    about:
      'one automation for each way a run can end: completes, fails, times-out, is-cancelled, not-runnable, lease-lost, reaped, run-failed',
    automations: {
      completes: { duration: '5s' },
      fails: { duration: '5s', outcome: 'FAILED' },
      'times-out': { duration: '5s', outcome: 'TIMED_OUT' },
      'is-cancelled': { duration: '5s', outcome: 'CANCELLED', steps: { skipped: 2 } },
      'not-runnable': {
        ...failed('not_runnable', 'The Automation has no steps'),
        duration: '1s',
        steps: { count: 0 },
        creditsCharged: 0,
      },
      'lease-lost': failed('lease_lost', 'The connection to the run environment was lost'),
      reaped: failed('reaped', 'The run environment was gone, so the run was stopped'),
      'run-failed': failed('run_failed', 'The run failed for another reason'),
    },
  },
  'bad-day': {
    about:
      'everything goes wrong in a run of 2h50m: a lost response, 429s, 502s, lost connections, HTML pages from a proxy, and a late, truncated result; the run uses up the last credits (try --speed 1200)',
    automations: { '*': { ...longPlan, resultLate: '30m' } },
    credits: longPlan.creditsCharged,
    faults: [
      { on: 'trigger', nth: 1, do: 'loseAnswer' },
      { on: 'status', during: { after: '1h', for: '25m' }, ...tooMany },
      { on: 'status', during: { after: '2h', for: '25m' }, ...badGateway },
      { on: 'status', during: { after: '2h25m', for: '5m' }, do: 'reset' },
      { on: 'status', during: { after: '2h30m', for: '5m' }, every: 2, do: 'html' },
      { on: 'result', nth: 1, do: 'truncate' },
    ],
  },
  'third-hour-502s': {
    about: 'a run of 2h50m; in its third hour every poll gets a 502 for 25 minutes (try --speed 1200)',
    automations: { '*': longPlan },
    faults: [{ on: 'status', during: { after: '2h', for: '25m' }, ...badGateway }],
  },
  'lost-answer': {
    about: 'the first trigger starts a run, but its response is lost; repeating the trigger returns that run',
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  },
  'lost-answer-active-first': {
    about: 'the same, but repeating the trigger gets a 422 runAlreadyActive until that run has finished',
    order: 'activeFirst',
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  },
  'keys-ignored': {
    about:
      'the service ignores idempotency keys, and the response to the first trigger is lost; a retry for `quick`, whose runs take no time, starts a second run',
    automations: { '*': {}, quick: { duration: '10ms' } },
    idempotencyKeys: 'ignored',
    faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }],
  },
  'storm-of-429s': {
    about: 'the first three triggers and the first three polls get a 429 with Retry-After: 1',
    faults: [
      { on: 'trigger', to: 3, ...tooMany },
      { on: 'status', to: 3, ...tooMany },
    ],
  },
  'rate-limited': {
    about: 'one trigger every 10 seconds is accepted; others get a 429 with Retry-After',
    rateLimit: { requests: 1, window: '10s' },
  },
  'no-credits': {
    about: 'the credit balance is 0: every trigger gets a 402',
    credits: 0,
  },
  'key-revoked': {
    about: 'a 10-minute run; the API key is revoked after 5 minutes (try --speed 60)',
    automations: { '*': { duration: '10m' } },
    faults: [{ on: 'status', during: { after: '5m' }, nth: 1, do: 'revokeKey' }],
  },
  'result-late': {
    about: 'for 5 seconds after the run has finished, its result still says RUNNING',
    automations: { '*': { duration: '6s', resultLate: '5s' } },
  },
  'slow-start': {
    about: "for 4 seconds after the trigger, the run can't be found",
    automations: { '*': { duration: '10s', statusLate: '4s' } },
  },
  'nothing-runs': {
    about: 'every automation has been deleted: every trigger gets a 404',
    automations: {},
  },
  night: {
    about:
      '2-hour runs; `early` takes 5 minutes and `broken` fails; for a watcher that is killed and restarted (try --speed 600)',
    automations: {
      '*': { duration: '2h' },
      early: { duration: '5m' },
      broken: { duration: '2h', outcome: 'FAILED' },
    },
  },
  flaky: {
    about: 'many requests fail at random, triggers included',
    faults: [
      { chance: 0.1, ...badGateway },
      { chance: 0.1, do: 'reset' },
      { chance: 0.05, do: 'status', status: 503, headers: { 'retry-after': '1' } },
      { chance: 0.05, do: 'truncate' },
      { chance: 0.1, do: 'delay', delay: '1s' },
      { on: 'trigger', chance: 0.2, do: 'loseAnswer' },
    ],
  },
};

/** Every scenario works with any automation name, unless `about` lists names. */
export const builtInScenarios: readonly BuiltInScenario[] = Object.entries(scenarios).map(
  ([name, { about, ...scenario }]) => ({ name, about, scenario }),
);

/** Finds a scenario by its name, which may end in `.json`; undefined if there is none. */
export function findBuiltInScenario(name: string): Scenario | undefined {
  return builtInScenarios.find((builtIn) => builtIn.name === name || `${builtIn.name}.json` === name)?.scenario;
}
