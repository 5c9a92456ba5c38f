import type { Scenario } from './scenario.ts';

export interface BuiltInScenario {
  name: string;
  /** What happens in it, in one line. */
  about: string;
  scenario: Scenario;
}

const badGateway = { do: 'status', status: 502, body: '<html><h1>502 Bad Gateway</h1></html>' } as const;
const html = { 'content-type': 'text/html' };

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
    about: 'a run of 2h 50m: a storm of 429 after 1h, 502s and resets in the third hour; try it at --speed 60',
    scenario: {
      automations: { '*': { duration: '2h50m', steps: { count: 12 }, creditsCharged: 340 } },
      faults: [
        {
          during: { after: '1h', for: '5m' },
          do: 'status',
          status: 429,
          body: { code: 'rateLimited', message: 'Too many requests' },
          headers: { 'retry-after': '2' },
        },
        { during: { after: '2h', for: '5m' }, ...badGateway, headers: html },
        { during: { after: '2h20m', for: '2m' }, do: 'reset' },
        { during: { after: '2h30m', for: '5m' }, every: 2, do: 'html' },
        { on: 'result', nth: 1, do: 'truncate' },
      ],
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
    about: 'the API key is revoked while the run is watched',
    scenario: { faults: [{ on: 'status', nth: 3, do: 'revokeKey' }] },
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
