// What ends with which exit code, what the document says of it, and what the service really started: one row for each
// situation.
import { describe, expect, test, vi } from 'vitest';
import type { Fault, Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { networkFaults } from '../helpers/network-faults.ts';
import { runProgram } from '../helpers/run-program.ts';

interface Row {
  argv: string[];
  scenario?: Scenario;
  /** Typed before it; `elsewhere` on a machine of its own. */
  earlier?: string[];
  elsewhere?: boolean;
  /** The earlier run has finished by then. */
  isFinished?: boolean;
  /** A signal as soon as so many requests have come. */
  interruptAt?: number;
  env?: Record<string, string>;
  /** What breaks on the way to the service. */
  network?: keyof typeof networkFaults;
  /** The exit code, and `how`, `started`, the outcome and the name of the problem in each document, as far as there are any. */
  ends: string;
  /** How many runs the service says it started; where nothing is given, as many as the document says. */
  really?: number;
  /** The next command. */
  next?: RegExp;
  says?: RegExp;
}

const id = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const project = '00000000-0000-4000-8000-000000000001';
const trigger = ['trigger', 'nightly', '--give-up-after', '300ms'];
const watched = [...trigger, '--watch', '--interval', '1s'];
const followed = ['watch', `nightly/${id}`, '--give-up-after', '300ms', '--interval', '1s'];
const polled = ['status', `nightly/${id}`, '--give-up-after', '300ms'];
const given = [...trigger, '--idempotency-key', 'k'];
const faulty = (...faults: Fault[]): Scenario => ({ faults });
const short = (plan = {}): Scenario => ({ automations: { '*': { duration: '50ms', ...plan } } });
const answers = (status: number, fault = {}): Fault => ({ do: 'status', status, ...fault });
const later = { headers: { 'retry-after': '99999' } };
const loss: Fault = { on: 'trigger', do: 'loseAnswer' };
const active = { earlier: ['trigger', 'nightly'], elsewhere: true };
const onlyResult = (fault: object) => ({ ...short(), faults: [answers(503, { on: 'result', ...fault })] });
const failed = (outcome: 'FAILED' | 'TIMED_OUT' | 'CANCELLED', more: Scenario = {}): Scenario => ({
  ...short({ outcome }),
  ...more,
});
const slowlyReaped: Scenario = {
  ...short({ duration: '30s', outcome: 'FAILED', error: { type: 'reaped', message: '' } }),
  namesActiveRun: true,
};

const ofTriggers: Record<string, Row> = {
  'wrong arguments': { argv: ['trigger', '..'], ends: '2 not_started no usage usage' },
  'a name that is none, among good ones': {
    argv: ['trigger', 'nightly', '–watch'],
    ends: '2 not_started no usage usage',
  },
  '--interval of a trigger that follows nothing': {
    argv: [...trigger, '--interval', '5s'],
    ends: '2 not_started no usage usage',
  },
  'wrong settings': { argv: trigger, env: { RUNCTL_BASE_URL: 'ftp://x' }, ends: '2 not_started no usage usage' },
  'a signal while it waits for a slot': {
    argv: [...trigger, '--if-active', 'wait', '--interval', '1h'],
    ...active,
    interruptAt: 1,
    ends: '130 not_started no interrupted interrupted',
  },
  'a signal while the request is on its way': {
    argv: trigger,
    scenario: faulty({ do: 'hang', acts: true }),
    interruptAt: 1,
    ends: '130 unknown unknown interrupted interrupted',
    really: 1,
    next: /^runctl recover/,
  },
  'a turn that does not come before --timeout': {
    argv: ['trigger', 'nightly', 'weekly', '--rate', '0.1', '--timeout', '2s'],
    ends: '10 started yes ok | not_started no unavailable unavailable',
    says: /weekly .*`--timeout`/,
    really: 1,
  },
  'connection refused': {
    argv: [...trigger, '--base-url', 'http://127.0.0.1:1'],
    ends: '10 not_started no unavailable unavailable',
  },
  'an unknown host': {
    argv: trigger,
    network: 'unresolvable',
    ends: '10 not_started no unavailable unavailable',
  },
  'a certificate that nobody trusts': {
    argv: trigger,
    network: 'self-signed certificate',
    ends: '10 not_started no unavailable unavailable',
  },
  'a proxy that refuses the credentials': {
    argv: trigger,
    network: 'proxy 407',
    ends: '10 not_started no unavailable unavailable',
  },
  '407 from the service': {
    argv: trigger,
    scenario: faulty(answers(407)),
    ends: '10 not_started no unavailable unavailable',
  },
  '429 with a Retry-After beyond the timeout': {
    argv: [...trigger, '--timeout', '10s'],
    scenario: faulty(answers(429, later)),
    ends: '9 not_started no rate_limited rate_limited',
    says: /retry after|come back|again in|not before/i,
  },
  '503 with a Retry-After beyond the timeout': {
    argv: [...trigger, '--timeout', '10s'],
    scenario: faulty(answers(503, later)),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
  },
  '429 until the timeout': {
    argv: trigger,
    scenario: faulty(answers(429)),
    ends: '9 not_started no rate_limited rate_limited',
    next: /^runctl trigger nightly --give-up-after 300ms --json$/,
  },
  '503 until the retries end': {
    argv: trigger,
    scenario: faulty(answers(503)),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    next: /^runctl recover/,
  },
  "an answer that can't be read": {
    argv: trigger,
    scenario: faulty({ do: 'wrongJson' }),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
    next: /^runctl recover/,
  },
  'a page instead of an answer': {
    argv: trigger,
    scenario: faulty({ do: 'html' }),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
  },
  'no answer': {
    argv: trigger,
    scenario: faulty(loss),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
  },
  '409 until the retries end': {
    argv: trigger,
    scenario: faulty(answers(409)),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
  },
  '501': { argv: trigger, scenario: faulty(answers(501)), ends: '12 unknown unknown outcome_unknown outcome_unknown' },
  'a redirect': { argv: trigger, scenario: faulty(answers(302)), ends: '11 not_started no rejected rejected' },
  'a redirect to a run': {
    argv: trigger,
    scenario: faulty(answers(303, { headers: { location: `/v0/automation/${project}/nightly/executions/${id}` } })),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
  },
  'a redirect to a run of another automation': {
    argv: trigger,
    scenario: faulty(answers(303, { headers: { location: `/v0/automation/${project}/weekly/executions/${id}` } })),
    ends: '11 not_started no rejected rejected',
  },
  '400': { argv: trigger, scenario: faulty(answers(400)), ends: '11 not_started no rejected rejected' },
  '401': { argv: trigger, scenario: faulty({ do: 'revokeKey' }), ends: '7 not_started no unauthorized unauthorized' },
  '402': { argv: trigger, scenario: { credits: 0 }, ends: '8 not_started no no_credits no_credits' },
  '404': { argv: trigger, scenario: { automations: {} }, ends: '6 not_started no not_found not_found' },
  'a refusal of the repeat after a lost answer': {
    argv: trigger,
    scenario: faulty({ ...loss, nth: 1 }, answers(402)),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
  },
  'a lost answer after a wait': {
    argv: [...trigger, '--if-active', 'wait'],
    scenario: { ...short({ duration: '1m' }), namesActiveRun: true, ...faulty({ ...loss, from: 3 }) },
    ...active,
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
  },
  'a lost answer, then a conflict with its own run': {
    argv: trigger.with(-1, '10s'),
    scenario: { order: 'activeFirst', ...faulty({ ...loss, nth: 1 }) },
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
  },
  'a lost answer, then the run': {
    argv: trigger.with(-1, '10s'),
    scenario: faulty({ ...loss, nth: 1 }),
    ends: '0 started yes ok',
    next: /^runctl watch/,
  },
  'a lost answer, then a conflict with a run that is long active': {
    argv: trigger.with(-1, '10s'),
    ...active,
    isFinished: true,
    scenario: { ...short({ duration: '9h' }), namesActiveRun: true, faults: [{ ...loss, nth: 2 }] },
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    next: /^runctl watch/,
  },
  'an active run': { argv: trigger, ...active, ends: '5 not_started no already_active already_active' },
  'an active run, skipped': { argv: [...trigger, '--if-active', 'skip'], ...active, ends: '0 skipped no ok' },
  'a slot that is not free before the timeout': {
    argv: [...trigger, '--if-active', 'wait', '--timeout', '100ms'],
    ...active,
    ends: '5 not_started no already_active already_active',
  },
  'a slot wait in which every poll is refused': {
    argv: [...trigger, '--if-active', 'wait', '--timeout', '10m'],
    ...active,
    scenario: { ...short({ duration: '1m' }), namesActiveRun: true, faults: [answers(401, { on: 'status' })] },
    ends: '0 started yes ok',
  },
  'a slot wait in which no poll is answered, for too long': {
    argv: [...trigger, '--if-active', 'wait', '--timeout', '20m'],
    ...active,
    scenario: { ...short({ duration: '2h' }), namesActiveRun: true, faults: [answers(500, { on: 'status' })] },
    ends: '10 not_started no unavailable unavailable',
  },
  'a project that the service does not know': {
    argv: trigger,
    scenario: faulty(answers(404, { body: { code: 'projectNotFound', message: 'There is no project 42' } })),
    ends: '6 not_started no not_found not_found',
    next: /^runctl config list$/,
    says: /There is no project 42/,
  },
  'an automation that is not there, beside one that was triggered here': {
    argv: ['trigger', 'import-eu'],
    earlier: ['trigger', 'import-us'],
    scenario: { automations: { 'import-us': {} } },
    ends: '6 not_started no not_found not_found',
    next: /^runctl config list$/,
  },
  'a given key that replays a FAILED run': {
    argv: given,
    earlier: given,
    isFinished: true,
    scenario: failed('FAILED'),
    ends: '1 replayed no run_failed',
    next: /^runctl result/,
  },
  'a given key that replays a TIMED_OUT run': {
    argv: given,
    earlier: given,
    isFinished: true,
    scenario: failed('TIMED_OUT'),
    ends: '3 replayed no run_timed_out',
  },
  'a given key that replays a CANCELLED run': {
    argv: given,
    earlier: given,
    isFinished: true,
    scenario: failed('CANCELLED'),
    ends: '4 replayed no run_cancelled',
  },
  'a given key whose run cannot be polled': {
    argv: given,
    earlier: given,
    scenario: faulty(answers(500, { on: 'status' })),
    ends: '0 replayed no ok',
    says: /can't be read/,
  },
  ...Object.fromEntries(
    (
      [
        ['COMPLETED', '0 replayed no ok'],
        ['FAILED', '1 replayed no run_failed'],
      ] as const
    ).flatMap(([outcome, ends]) =>
      [given, [...given, '--watch']].map((argv): [string, Row] => [
        `a given key whose run has finished ${outcome}, and is dropped by the service: ${argv.at(-1)}`,
        {
          argv,
          earlier: [...given, '--watch'],
          scenario: {
            ...short({ outcome }),
            faults: [answers(422, { on: 'status', from: 2, body: { code: 'notFound' } })],
          },
          ends,
          says: new RegExp(`finished ${outcome}; the service no longer knows that run`),
        },
      ]),
    ),
  ),
  'a given key whose unfinished run the service does not know': {
    argv: given,
    earlier: given,
    isFinished: true,
    scenario: faulty(answers(422, { on: 'status', body: { code: 'notFound' } })),
    ends: '6 replayed no not_found not_found',
    says: /new idempotency key/,
  },
  'a given key whose unfinished run the service does not know, with --watch': {
    argv: [...given, '--watch'],
    earlier: given,
    isFinished: true,
    scenario: faulty(answers(422, { on: 'status', body: { code: 'notFound' } })),
    ends: '14 replayed no watch_failed not_found',
    says: /new idempotency key/,
  },
  'a given key that is refused again': {
    argv: given,
    scenario: { credits: 0 },
    ends: '8 not_started no no_credits no_credits',
  },
  'an agent that starts nothing': { argv: ['agent', 'trigger', id], ends: '11 not_started no rejected rejected' },
};

const both = ['trigger', 'nightly', 'weekly', '--give-up-after', '300ms'];
const ofSeveral: Record<string, Row> = {
  'one is active': { argv: both, ...active, ends: '5 not_started no already_active already_active | started yes ok' },
  'one is not known': {
    argv: both,
    scenario: { automations: { weekly: {} } },
    ends: '6 not_started no not_found not_found | started yes ok',
  },
  'the answer of the second is lost': {
    argv: both,
    scenario: { automations: { weekly: {} }, faults: [{ ...loss, automation: 'weekly' }] },
    ends: '12 not_started no not_found not_found | unknown unknown outcome_unknown outcome_unknown',
    really: 1,
    next: /^runctl recover/,
  },
  'one idempotency key for both': {
    argv: [...both, '--idempotency-key', 'k'],
    ends: '2 not_started no usage usage',
  },
  'an idempotency key for each that replays both': {
    argv: [...both, '--idempotency-key', 'k-{automation}'],
    earlier: [...both, '--idempotency-key', 'k-{automation}'],
    isFinished: true,
    scenario: { automations: { nightly: { outcome: 'FAILED' }, weekly: {} } },
    ends: '1 replayed no run_failed | replayed no ok',
  },
  'one fails while both are watched': {
    argv: [...both, '--watch', '--interval', '1s'],
    scenario: { automations: { nightly: { duration: '50ms' }, weekly: { duration: '50ms', outcome: 'CANCELLED' } } },
    ends: '4 started yes ok | started yes run_cancelled',
  },
  'a signal while both requests are on their way': {
    argv: both,
    scenario: faulty({ do: 'hang', acts: true }),
    interruptAt: 2,
    ends: '130 unknown unknown interrupted interrupted | unknown unknown interrupted interrupted',
    really: 2,
  },
};

const ofWatchedTriggers: Record<string, Row> = {
  'a run that completed': { argv: watched, scenario: short(), ends: '0 started yes ok' },
  'a run that FAILED': {
    argv: watched,
    scenario: failed('FAILED'),
    ends: '1 started yes run_failed',
    next: /^runctl result/,
  },
  'a run that was CANCELLED': { argv: watched, scenario: failed('CANCELLED'), ends: '4 started yes run_cancelled' },
  'a refusal that lasts': {
    argv: watched,
    scenario: faulty({ on: 'status', do: 'revokeKey' }),
    ends: '14 started yes watch_failed unauthorized',
  },
  'a Retry-After beyond the timeout': {
    argv: [...watched, '--timeout', '10m'],
    scenario: faulty(answers(429, { on: 'status', ...later })),
    ends: '124 started yes timeout timeout',
  },
  "a result that can't be read": {
    argv: watched,
    scenario: onlyResult({ status: 401 }),
    ends: '13 started yes result_unavailable unauthorized',
  },
  "FAILED, and its result can't be read": {
    argv: watched,
    scenario: failed('FAILED', faulty(answers(401, { on: 'result' }))),
    ends: '1 started yes run_failed',
    says: /result couldn't be read/,
  },
  'the timeout': {
    argv: [...watched, '--timeout', '100ms'],
    ends: '124 started yes timeout timeout',
    next: /^runctl watch/,
  },
  'a signal': { argv: watched, interruptAt: 3, ends: '130 started yes interrupted interrupted', next: /^runctl watch/ },
  'a lost answer, then a conflict: nothing is followed': {
    argv: watched,
    scenario: { ...slowlyReaped, order: 'activeFirst', ...faulty({ ...loss, nth: 1 }) },
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    really: 1,
  },
  'FAILED with the error type timed_out': {
    argv: watched,
    scenario: short({ outcome: 'FAILED', error: { type: 'timed_out', message: '' } }),
    ends: '1 started yes run_failed',
  },
};

const ofOthers: Record<string, Row> = {
  'watch: not found': { argv: followed, ends: '6 not_found not_found' },
  'watch: 429 until it gives up': {
    argv: followed,
    scenario: faulty(answers(429)),
    ends: '9 rate_limited rate_limited',
  },
  'watch: a Retry-After beyond the timeout': {
    argv: [...followed, '--timeout', '10m'],
    scenario: faulty(answers(503, later)),
    ends: '124 timeout timeout',
  },
  'watch: 402 at every poll': { argv: followed, scenario: faulty(answers(402)), ends: '10 unavailable unavailable' },
  'watch: a page at every poll': {
    argv: followed,
    scenario: faulty({ do: 'html' }),
    ends: '10 unavailable unavailable',
  },
  'status: 402': { argv: polled, scenario: faulty(answers(402)), ends: '8 no_credits no_credits' },
  'status: 400': { argv: polled, scenario: faulty(answers(400)), ends: '11 rejected rejected' },
  'status: a page': { argv: polled, scenario: faulty({ do: 'html' }), ends: '10 unavailable unavailable' },
  'status: not found': { argv: polled, ends: '6 not_found not_found' },
  'status: of an unfinished run': {
    argv: ['status'],
    earlier: trigger,
    ends: '0 still_running',
    next: /^runctl watch/,
  },
  'status: of a run that FAILED': {
    argv: ['status'],
    earlier: trigger,
    isFinished: true,
    scenario: failed('FAILED'),
    ends: '0 run_failed',
    next: /^runctl result/,
  },
  'status --exit-status: of a run that FAILED': {
    argv: ['status', '--exit-status'],
    earlier: trigger,
    isFinished: true,
    scenario: failed('FAILED'),
    ends: '1 run_failed',
  },
  'result: of a completed run, refused': {
    argv: ['result'],
    earlier: trigger,
    isFinished: true,
    scenario: onlyResult({ status: 401 }),
    ends: '7 unauthorized unauthorized',
  },
  'result: of an unfinished run': {
    argv: ['result'],
    earlier: trigger,
    ends: '0 still_running',
    next: /^runctl watch/,
  },
  'agent status: a run that nobody knows': { argv: ['agent', 'status', id, id], ends: '6 not_found not_found' },
  'list: of a run that failed': {
    argv: ['list'],
    earlier: watched,
    scenario: failed('FAILED'),
    ends: '0 run_failed',
    next: /^runctl result/,
  },
  'recover: a run that is there': {
    argv: ['recover', '--resend'],
    earlier: ['trigger', 'nightly', '--give-up-after', '1ms'],
    isFinished: true,
    scenario: faulty({ ...loss, nth: 1 }),
    ends: '0 recovered unknown ok',
  },
  'recover: the API key is refused': {
    argv: ['recover'],
    earlier: ['trigger', 'nightly', '--give-up-after', '1ms'],
    scenario: faulty({ ...loss, nth: 1 }, answers(401, { on: 'trigger' })),
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
    next: /^runctl config list/,
    says: /API key was refused/,
  },
  'recover: another API key': {
    argv: ['recover'],
    earlier: ['trigger', 'nightly', '--give-up-after', '1ms'],
    env: { RUNCTL_API_KEY: 'another-key-123456' },
    scenario: faulty({ ...loss, nth: 1 }),
    ends: '12 unknown unknown outcome_unknown other_api_key',
    next: /^runctl config list/,
  },
  'recover: the answer is lost again': {
    argv: ['recover', '--give-up-after', '100ms'],
    scenario: faulty(loss),
    earlier: trigger,
    ends: '12 unknown unknown outcome_unknown outcome_unknown',
  },
  'doctor: a setting is missing, and the state folder is a file': {
    argv: ['doctor'],
    env: { RUNCTL_BASE_URL: '', RUNCTL_STATE_DIR: '/dev/null' },
    ends: '2 usage usage',
  },
  'doctor: nobody listens': {
    argv: ['doctor'],
    env: { RUNCTL_BASE_URL: 'http://127.0.0.1:1' },
    ends: '10 unavailable unavailable',
  },
  'doctor: the API key is refused': {
    argv: ['doctor'],
    env: { RUNCTL_API_KEY: 'another-key' },
    ends: '7 unauthorized unauthorized',
    next: /^runctl config/,
  },
  'doctor: the state folder is a file': {
    argv: ['doctor'],
    env: { RUNCTL_STATE_DIR: '/dev/null' },
    ends: '74 output_error output_error',
  },
  'an empty run argument': { argv: ['status', ''], ends: '2 usage usage' },
  'fields in the place of a run, as gh takes them': {
    argv: ['status', 'status,executionId'],
    ends: '2 usage usage',
    next: /^runctl status --help$/,
  },
  'a project that is no UUID': { argv: [...polled, '-p', 'acme'], ends: '2 usage usage' },
  'a run of another project than -p says': {
    argv: ['status', 'nightly', '-p', id],
    earlier: ['trigger', `${project}/nightly`],
    ends: '2 usage usage',
  },
  'a run in full of another project than -p says': {
    argv: ['status', `${project}/nightly/${id}`, '-p', id],
    ends: '2 usage usage',
    says: new RegExp(`project ${project}`),
  },
};

describe.each([
  ['trigger', ofTriggers],
  ['trigger of several', ofSeveral],
  ['trigger --watch', ofWatchedTriggers],
  ['other commands', ofOthers],
])('%s', (_, rows) => {
  test.each(Object.entries(rows).map(([situation, row]) => [situation, row.ends, row] as const))(
    '%s: %s',
    async (_situation, ends, {
      argv,
      scenario = {},
      earlier,
      elsewhere,
      isFinished,
      interruptAt,
      network,
      really,
      next,
      says,
      ...row
    }) => {
      const { emulator, env, clock, endRuns } = await withEmulator(scenario);
      const there = elsewhere ? { RUNCTL_STATE_DIR: `${env.RUNCTL_STATE_DIR}-elsewhere` } : {};
      if (earlier) await runProgram(earlier, { env: { ...env, ...there }, clock });
      if (isFinished) endRuns();
      const interrupt = new AbortController();
      const asked = emulator.requests.length;
      const { env: way } = network ? ((await networkFaults[network]?.()) ?? {}) : {};
      const before = emulator.runs().length;
      const options = { env: { ...env, ...row.env, ...way }, clock: interruptAt === undefined ? clock : undefined };
      const running = runProgram([...argv, '--json'], { ...options, signal: interrupt.signal });
      if (interruptAt !== undefined) {
        await vi.waitUntil(() => emulator.requests.length - asked >= interruptAt, { timeout: 10_000, interval: 5 });
        await systemTurn();
        interrupt.abort('SIGINT');
      }
      const { code, stdout, stderr } = await running;
      const facts = jsonLines(stdout).map(({ runctl }) => runctl);
      const shown = facts.map(({ trigger: { how, started } = {}, outcome, problem }) =>
        [how, started, outcome, problem?.name].filter((part) => part !== undefined).join(' '),
      );
      expect(`${code} ${shown.join(' | ')}`, stderr).toBe(ends);
      const triggers = facts.flatMap(({ trigger }) => trigger ?? []);
      const started = triggers.filter((each) => each.started === 'yes').length;
      expect(emulator.runs().length - before, 'really started').toBe(really ?? started);
      const isRecovery = argv.includes('recover') && !argv.includes('--resend');
      const isRepeated = isRecovery || argv.includes('--idempotency-key');
      const isSafe = isRepeated || triggers.every((each) => each.started === 'no');
      for (const { safeToRepeat } of triggers) expect(safeToRepeat, 'safe to repeat').toBe(isSafe);
      if (triggers.every((each) => each.started === 'unknown')) expect(stderr).not.toMatch(/no (new )?run was started/);
      const decisive = facts.find(({ exitCode }) => exitCode === code);
      expect(decisive).toBeDefined();
      if (next) expect(decisive.next).toMatch(next);
      if (says) expect(stderr).toMatch(says);
      if (code !== 0) expect(stderr, 'else it would be the code of Node or the shell').toMatch(/^runctl: /m);
    },
  );
});

/** A wait begins in the turn after the answer that it follows. */
const systemTurn = () => new Promise((resolve) => setTimeout(resolve, 20));

test.each([
  ['trigger nightly', /^runctl doctor/],
  ['status', /^runctl status/],
  ['result', /^runctl result/],
])('%s without a connection to a base URL that has answered before says what may be down', async (line, next) => {
  const { emulator, env, clock } = await withEmulator({});
  await runProgram(['trigger', 'nightly'], { env, clock });
  await emulator.close();
  const { code, stdout, stderr } = await runProgram([...line.split(' '), '--json'], { env, clock });
  expect([code, stderr]).toEqual([10, expect.stringContaining('the service or the network may be down')]);
  expect(stderr).not.toContain('check the base URL');
  expect(jsonLines(stdout)[0].runctl.next).toMatch(next);
});
