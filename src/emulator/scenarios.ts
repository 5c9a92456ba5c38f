import type { JsonObject } from '../core/run.ts';
import { minuteMs } from '../core/time.ts';

/** A response: a JSON document, or an HTML page such as a gateway sends. */
export interface Reply {
  status: number;
  body: JsonObject | string;
  headers?: Record<string, string>;
}

export type Endpoint = 'trigger' | 'status' | 'result';

/** What requests about a run get while the run is of this age. */
export interface Outage {
  fromMs: number;
  untilMs: number;
  /** Status and result by default. */
  endpoint?: Endpoint;
  /** By default the connection is reset. */
  reply?: Reply;
}

/** What happens to an automation's runs, and to the requests about them. */
export interface AutomationPlan {
  /** 20 s by default; above 0. */
  durationMs?: number;
  /** COMPLETED by default. */
  finalStatus?: string;
  /** Of a run that completes. */
  output?: string;
  /** What every trigger gets instead of a run. */
  refusal?: Reply;
  /** The first response to each such request is lost. */
  losesFirst?: readonly Endpoint[];
  outages?: readonly Outage[];
  /** Looks for an active run before it looks at the idempotency key. */
  checksActiveFirst?: boolean;
  /** Each trigger starts a run, unless one is active. */
  ignoresKeys?: boolean;
}

/** Plans by the automation's name; `*` is any other name, which isn't found without it. */
export type Automations = Readonly<Record<string, AutomationPlan>>;

/**
 * The response to a request that the service refuses. It documents the codes `notFound` and
 * `runAlreadyActive`; the other codes and the shape are the emulator's own.
 */
export const refusal = (
  status: number,
  code: string,
  message: string,
  headers?: Reply['headers'],
): Reply => ({ status, body: { code, message }, headers });

export const alreadyActive = refusal(422, 'runAlreadyActive', 'The automation is already running');
export const noAutomation = refusal(404, 'automationNotFound', 'There is no such automation');
const forbidden = refusal(403, 'forbidden', 'The API key may not do this');
const tooManyRequests = (retryAfterSeconds: number) =>
  refusal(429, 'rateLimited', 'Too many requests', { 'retry-after': `${retryAfterSeconds}` });

const htmlPage = (status: number, title: string): Reply => ({
  status,
  body: `<!doctype html><html><head><title>${title}</title></head><body>${title}</body></html>`,
});

const secondMs = 1000;
const always = { fromMs: 0, untilMs: Number.POSITIVE_INFINITY };
const short = { durationMs: 3 * secondMs };

/** What the emulator can play. */
export const scenarios = {
  happy: {
    description: 'a 20-second run that completes',
    automations: { '*': {} },
  },
  failing: {
    description: 'a 20-second run that fails',
    automations: { '*': { finalStatus: 'FAILED' } },
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
      'result-unreadable=13, not-watchable=14; any other name is 6',
    automations: {
      completes: short,
      fails: { ...short, finalStatus: 'FAILED' },
      'times-out': { ...short, finalStatus: 'TIMED_OUT' },
      'is-cancelled': { ...short, finalStatus: 'CANCELLED' },
      'already-running': { refusal: alreadyActive },
      deleted: { refusal: noAutomation },
      forbidden: { refusal: forbidden },
      'no-credits': { refusal: refusal(402, 'insufficientCredits', 'The AI credit balance is 0') },
      'rate-limited': { refusal: tooManyRequests(3600) },
      disabled: { refusal: refusal(400, 'automationDisabled', 'The automation is disabled') },
      'response-lost': { losesFirst: ['trigger'], checksActiveFirst: true },
      'result-unreadable': { ...short, outages: [{ ...always, endpoint: 'result' }] },
      'not-watchable': { ...short, outages: [{ ...always, reply: forbidden }] },
      'is-skipped': { ...short, finalStatus: 'SKIPPED' },
    },
  },
  'keys-ignored': {
    description: 'like lost-response with runs of a moment, but idempotency keys are ignored',
    automations: { '*': { durationMs: 1, losesFirst: ['trigger'], ignoresKeys: true } },
  },
} satisfies Record<string, { description: string; automations: Automations }>;

export type ScenarioName = keyof typeof scenarios;
