import { htmlReply, refusalReply, refusals } from './reply.ts';
import type { Automations } from './service.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const badGateway = htmlReply(502, 'Bad Gateway');
const tooManyRequests = refusalReply({ ...refusals.rateLimited, headers: { 'retry-after': '1' } });
const endsSoon = { durationMs: 3 * secondMs };

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
  'bad-day': {
    description:
      'a 2h50m run that completes despite lost responses, 429s, 502s, lost connections and proxy pages (try --speed 1200)',
    automations: {
      '*': {
        durationMs: 170 * minuteMs,
        steps: { count: 12 },
        output: 'Read 4096 orders, wrote 12 reports.',
        creditsCharged: 340,
        losesFirst: ['trigger', 'result'],
        outages: [
          { afterMs: hourMs, untilMs: 85 * minuteMs, reply: tooManyRequests },
          { afterMs: 2 * hourMs, untilMs: 145 * minuteMs, reply: badGateway },
          { afterMs: 145 * minuteMs, untilMs: 150 * minuteMs },
          {
            afterMs: 150 * minuteMs,
            untilMs: 155 * minuteMs,
            reply: htmlReply(200, 'Sign in to the proxy'),
          },
        ],
      },
    },
  },
  'lost-answer': {
    description:
      'the first response to each trigger is lost, and repeating the trigger finds its run',
    automations: { '*': { losesFirst: ['trigger'] } },
  },
  'every-ending': {
    description:
      'an automation for each exit code of trigger --watch, within 10 seconds: completes=0, fails=1, times-out=3, is-cancelled=4, already-running=5, deleted=6, forbidden=7, no-credits=8, rate-limited=9, disabled=11, response-lost=12, is-skipped=15',
    automations: {
      completes: endsSoon,
      fails: { ...endsSoon, finalStatus: 'FAILED' },
      'times-out': { ...endsSoon, finalStatus: 'TIMED_OUT' },
      'is-cancelled': { ...endsSoon, finalStatus: 'CANCELLED', steps: { skipped: 2 } },
      'already-running': { activeElsewhereMs: hourMs },
      deleted: { refusal: refusals.unknownAutomation },
      forbidden: { refusal: refusals.forbidden },
      'no-credits': { refusal: refusals.noCredits },
      'rate-limited': { refusal: { ...refusals.rateLimited, headers: { 'retry-after': '3600' } } },
      disabled: { refusal: refusals.disabled },
      'response-lost': { losesFirst: ['trigger'], checksActiveFirst: true },
      'is-skipped': { ...endsSoon, finalStatus: 'SKIPPED', steps: { skipped: 3 } },
    },
  },
  'keys-ignored': {
    description:
      'like lost-answer, but idempotency keys are ignored: repeating a trigger of quick starts a second run; no response of steady is lost (try doctor --try-key steady)',
    automations: {
      '*': { losesFirst: ['trigger'], ignoresKeys: true },
      quick: { durationMs: 10, losesFirst: ['trigger'], ignoresKeys: true },
      steady: { durationMs: 3 * secondMs, ignoresKeys: true },
    },
  },
  active: {
    description:
      'the automation is already running, started elsewhere, for another 15 seconds (try --if-active wait)',
    automations: { '*': { ...endsSoon, activeElsewhereMs: 15 * secondMs } },
  },
} satisfies Record<string, { description: string; automations: Automations }>;

export type ScenarioName = keyof typeof scenarios;
export const scenarioNames = Object.keys(scenarios) as ScenarioName[];
