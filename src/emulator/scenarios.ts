import { htmlPage, refusal } from './reply.ts';
import type { Automations } from './service.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;

const tooManyRequests = (retryAfterSeconds: number) =>
  refusal(429, 'rateLimited', 'Too many requests', { 'retry-after': `${retryAfterSeconds}` });
const forbidden = refusal(403, 'forbidden', 'The API key may not do this');
const always = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY };
const short = { durationMs: 3 * secondMs };

/** What the emulator can play. This file is also loaded to print the help, so it stays light. */
export const scenarios = {
  happy: {
    description: 'a 20-second run that completes',
    automations: { '*': {} },
  },
  failing: {
    description: 'an 8-second run that fails in the third of four steps',
    automations: {
      '*': {
        durationMs: 8 * secondMs,
        finalStatus: 'FAILED',
        steps: { count: 4, failed: 1, skipped: 1 },
        error: {
          type: 'step_failed',
          message: 'Step "Post to the ledger": the ledger answered 403',
        },
        creditsCharged: 5,
      },
    },
  },
  'lost-response': {
    description: 'the first response to each trigger is lost',
    automations: { '*': { losesFirst: ['trigger'] } },
  },
  'bad-day': {
    description: 'a 2h50m run with lost responses, 429s and outages (--speed 600)',
    automations: {
      '*': {
        durationMs: 170 * minuteMs,
        steps: { count: 12 },
        output: 'Read 4096 orders, wrote 12 reports.',
        creditsCharged: 340,
        losesFirst: ['trigger', 'result'],
        outages: [
          { fromMs: 60 * minuteMs, untilMs: 85 * minuteMs, reply: tooManyRequests(1) },
          { fromMs: 110 * minuteMs, untilMs: 130 * minuteMs, reply: htmlPage(502, 'Bad Gateway') },
          { fromMs: 130 * minuteMs, untilMs: 145 * minuteMs },
          { fromMs: 145 * minuteMs, untilMs: 160 * minuteMs, reply: htmlPage(200, 'Sign in') },
        ],
      },
    },
  },
  'every-ending': {
    description:
      'an automation for each exit code: completes=0, fails=1, times-out=3, ' +
      'is-cancelled=4, already-running=5, deleted=6, forbidden=7, no-credits=8, rate-limited=9, ' +
      'disabled=11, response-lost=12, is-skipped=15, and with --give-up-after 5s ' +
      'result-unreadable=13, not-watchable=14',
    automations: {
      completes: short,
      fails: { ...short, finalStatus: 'FAILED' },
      'times-out': { ...short, finalStatus: 'TIMED_OUT' },
      'is-cancelled': { ...short, finalStatus: 'CANCELLED', steps: { skipped: 2 } },
      'already-running': { activeElsewhereMs: 60 * minuteMs },
      deleted: {
        refusal: refusal(404, 'automationNotFound', 'The project has no such automation'),
      },
      forbidden: { refusal: forbidden },
      'no-credits': { refusal: refusal(402, 'insufficientCredits', 'The AI credit balance is 0') },
      'rate-limited': { refusal: tooManyRequests(3600) },
      disabled: { refusal: refusal(400, 'automationDisabled', 'The automation is disabled') },
      'response-lost': { losesFirst: ['trigger'], checksActiveFirst: true },
      'result-unreadable': { ...short, outages: [{ ...always, endpoint: 'result' }] },
      'not-watchable': { ...short, outages: [{ ...always, reply: forbidden }] },
      'is-skipped': { ...short, finalStatus: 'SKIPPED', steps: { skipped: 3 } },
    },
  },
  'keys-ignored': {
    description: 'like lost-response, but keys are ignored: quick is run twice',
    automations: {
      '*': { losesFirst: ['trigger'], ignoresKeys: true },
      quick: { durationMs: 10, losesFirst: ['trigger'], ignoresKeys: true },
    },
  },
  active: {
    description: 'another run is active for 15 seconds (try --if-active wait)',
    automations: { '*': { ...short, activeElsewhereMs: 15 * secondMs } },
  },
} satisfies Record<string, { description: string; automations: Automations }>;

export type ScenarioName = keyof typeof scenarios;
export const scenarioNames = Object.keys(scenarios) as ScenarioName[];
