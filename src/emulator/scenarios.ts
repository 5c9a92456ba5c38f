import type { Scenario } from './scenario.ts';

export interface BuiltInScenario {
  name: string;
  /** What happens in it, in one line. */
  about: string;
  scenario: Scenario;
}

const badGateway = { do: 'status', status: 502, body: '<html><h1>502 Bad Gateway</h1></html>' } as const;
const html = { 'content-type': 'text/html' };
const tooMany = {
  do: 'status',
  status: 429,
  body: { code: 'rateLimited', message: 'Too many requests' },
  headers: { 'retry-after': '1' },
} as const;
/** Within the limit of 3 hours. */
const longPlan = { duration: '2h50m', steps: { count: 12 }, creditsCharged: 340 };

/** The scenarios that come with the emulator; each works with any automation name unless `about` names some. */
export const builtInScenarios: readonly BuiltInScenario[] = [
  {
    name: 'happy',
    about: 'a run of 20 seconds that completes',
    scenario: {},
  },
  {
    name: 'demo',
    about: 'a run of 6 seconds that completes, with a 502 on the way',
    scenario: {
      automations: {
        '*': {
          duration: '6s',
          steps: { count: 4, skipped: 1 },
          output: 'Read 128 orders, wrote 1 report, sent it to 3 people.',
          creditsCharged: 7,
        },
      },
      faults: [{ on: 'status', nth: 3, ...badGateway, headers: html }],
    },
  },
  {
    name: 'failing',
    about: 'a run of 8 seconds of which the third of four steps fails',
    scenario: {
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
  },
  {
    name: 'every-ending',
    about:
      'one automation for each ending: completes, fails, times-out, is-cancelled, not-runnable, lease-lost, reaped, run-failed',
    scenario: {
      automations: {
        completes: { duration: '5s' },
        fails: { duration: '5s', outcome: 'FAILED' },
        'times-out': { duration: '5s', outcome: 'TIMED_OUT' },
        'is-cancelled': { duration: '5s', outcome: 'CANCELLED', steps: { skipped: 2 } },
        'not-runnable': {
          duration: '1s',
          outcome: 'FAILED',
          steps: { count: 0 },
          error: { type: 'not_runnable', message: 'The Automation has no steps' },
          creditsCharged: 0,
        },
        'lease-lost': {
          duration: '5s',
          outcome: 'FAILED',
          error: { type: 'lease_lost', message: 'The connection to the run environment was lost' },
        },
        reaped: {
          duration: '5s',
          outcome: 'FAILED',
          error: { type: 'reaped', message: 'The run environment was gone, so the run was stopped' },
        },
        'run-failed': {
          duration: '5s',
          outcome: 'FAILED',
          error: { type: 'run_failed', message: 'The run failed for another reason' },
        },
      },
    },
  },
  {
    name: 'bad-day',
    about:
      'a lost answer, 429s, 502s, resets, pages of a proxy, a late and torn result, all in one run of 2h 50m, which takes the last credits; try it at --speed 1200',
    scenario: {
      automations: { '*': { ...longPlan, resultLate: '30m' } },
      credits: longPlan.creditsCharged,
      faults: [
        { on: 'trigger', nth: 1, do: 'loseAnswer' },
        { on: 'status', during: { after: '1h', for: '25m' }, ...tooMany },
        { on: 'status', during: { after: '2h', for: '25m' }, ...badGateway, headers: html },
        { on: 'status', during: { after: '2h25m', for: '5m' }, do: 'reset' },
        { on: 'status', during: { after: '2h30m', for: '5m' }, every: 2, do: 'html' },
        { on: 'result', nth: 1, do: 'truncate' },
      ],
    },
  },
  {
    name: 'third-hour-502s',
    about: 'a run of 2h 50m; in its third hour every answer is 502 for 25 minutes; try it at --speed 1200',
    scenario: {
      automations: { '*': longPlan },
      faults: [{ on: 'status', during: { after: '2h', for: '25m' }, ...badGateway, headers: html }],
    },
  },
  {
    name: 'lost-answer',
    about: 'the first trigger starts a run, but its answer is lost; the key is looked up before an active run',
    scenario: { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] },
  },
  {
    name: 'lost-answer-active-first',
    about: 'the same, but a repeated trigger meets its own run: 422 runAlreadyActive until that has ended',
    scenario: { order: 'activeFirst', faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] },
  },
  {
    name: 'storm-of-429s',
    about: 'the first three triggers and the first three looks get 429 with Retry-After: 1',
    scenario: {
      faults: [
        { on: 'trigger', to: 3, ...tooMany },
        { on: 'status', to: 3, ...tooMany },
      ],
    },
  },
  {
    name: 'rate-limited',
    about: 'one trigger in 10 seconds; any other gets 429 with Retry-After',
    scenario: { rateLimit: { requests: 1, window: '10s' } },
  },
  {
    name: 'no-credits',
    about: 'the credit balance is 0: every trigger gets 402',
    scenario: { credits: 0 },
  },
  {
    name: 'key-revoked',
    about: 'a run of 10 minutes, in the middle of which the API key is revoked; try it at --speed 60',
    scenario: {
      automations: { '*': { duration: '10m' } },
      faults: [{ on: 'status', during: { after: '5m' }, nth: 1, do: 'revokeKey' }],
    },
  },
  {
    name: 'result-late',
    about: 'for 5 seconds after the end of the run its result still says RUNNING',
    scenario: { automations: { '*': { duration: '6s', resultLate: '5s' } } },
  },
  {
    name: 'slow-start',
    about: 'for 4 seconds after the trigger the run cannot be found',
    scenario: { automations: { '*': { duration: '10s', statusLate: '4s' } } },
  },
  {
    name: 'flaky',
    about: 'every few requests something breaks, at random, also for triggers',
    scenario: {
      faults: [
        { chance: 0.1, ...badGateway, headers: html },
        { chance: 0.1, do: 'reset' },
        { chance: 0.05, do: 'status', status: 503, headers: { 'retry-after': '1' } },
        { chance: 0.05, do: 'truncate' },
        { chance: 0.1, do: 'delay', delay: '1s' },
        { on: 'trigger', chance: 0.2, do: 'loseAnswer' },
      ],
    },
  },
];

/** The built-in scenario of that name, with or without `.json` behind it. */
export function findBuiltInScenario(name: string): Scenario | undefined {
  return builtInScenarios.find((builtIn) => builtIn.name === name || `${builtIn.name}.json` === name)?.scenario;
}
