// What ends with which exit code, what the document says of it, and what the service really started: a line a situation.
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/process.ts';
import { exitCodes } from '../../src/run/exit-codes.ts';
import { type Fault, loseResponse, type Plan, type Scenario } from '../fault-kit/scenario.ts';
import { projectId } from '../fault-kit/start.ts';
import { withMachine } from '../helpers/machine.ts';
import { networkFaults } from '../helpers/network-faults.ts';

/**
 * `rest` follows the command line of the table. `ends` says the exit code, then of each document the `how` of its trigger,
 * its outcome, the name of its problem if that is another, and the names of its warnings.
 */
type Row = [situation: string, rest: string, scenario: Scenario, ends: string, more?: More];

interface More {
  /** Typed before it; `elsewhere` on another machine. */
  earlier?: string;
  elsewhere?: boolean;
  /** The earlier run has finished by then. */
  isFinished?: boolean;
  /** A signal as soon as so many requests have come. */
  interruptAt?: number;
  env?: Record<string, string>;
  /** What breaks on the way to the service. */
  network?: keyof typeof networkFaults;
  /** How many runs the service says it started; where nothing is given, as many as the document says. */
  really?: number;
  /** The next command. */
  next?: RegExp;
  /** What stderr names. */
  says?: RegExp;
}

const id = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';
const run = `nightly/${id}`;

const faulty = (...faults: Fault[]): Scenario => ({ faults });
const answer = (status: number, fault: object = {}): Fault => ({ do: 'status', status, ...fault });
const any = (status: number, fault?: object) => faulty(answer(status, fault));
const polls = (status: number, fault = {}) => any(status, { on: 'status', ...fault });
const result = (status: number) => any(status, { on: 'result' });
const runs = (plan: Plan): Scenario => ({ automations: { '*': plan } });
const short = (finalStatus: Plan['finalStatus'] = 'COMPLETED') => runs({ duration: '50ms', finalStatus });
const lostFirst = faulty(loseResponse({ nth: 1 }));
const hanging = faulty({ do: 'hang', acts: true });
const hangs = (on: Fault['on']) => faulty({ on, do: 'hang' });
const named = { namesActiveRun: true };
const later = { headers: { 'retry-after': '99999' } };
const soon = { headers: { 'retry-after': '0' } };
const firewall = (on: Fault['on']) => faulty({ on, do: 'html', status: 403 });
const to = (path: string) => ({ headers: { location: `/v0/automation/${projectId}/${path}` } });
const notFound = { body: { code: 'notFound' } };
const dropped = polls(422, { from: 2, ...notFound });
const noProject = { body: { code: 'projectNotFound', message: 'There is no project 42' } };
const forbidden = { body: { code: 'FORBIDDEN', message: 'This API key may not trigger nightly' } };

const active = { earlier: 'trigger nightly', elsewhere: true };
const started = { earlier: 'trigger nightly' };
const finished = { ...started, isFinished: true };
const unresolved = { earlier: 'trigger nightly --give-up-after 1ms' };
const watch = /^runctl watch/;
const recover = /^runctl recover/;
const config = /^runctl config list$/;
const again = /^runctl trigger nightly --give-up-after 300ms --json$/;

// biome-ignore format: a table
const ofTriggers: Row[] = [
  ['no API key', '', {}, 'exits 2: not_started, usage', { env: { RUNCTL_API_KEY: '' } }],
  ['a base URL that is none', '--base-url ftp://x', {}, 'exits 2: not_started, usage'],
  ['a setting that is none', '', {}, 'exits 2: not_started, usage', { env: { RUNCTL_IDEMPOTENCY_KEYS: 'yes' } }],
  ['a name that is none, among good ones', '–watch', {}, 'exits 2: not_started, usage'],
  ['nothing to poll', '--interval 5s', {}, 'exits 2: not_started, usage'],
  ['an active run', '', {}, 'exits 5: not_started, already_active', active],
  ['an active run, skipped', '--if-active skip', {}, 'exits 0: skipped, ok', active],
  ['an active run, skipped and not followed', '--if-active skip --watch', named, 'exits 0: skipped, ok', active],
  ['404', '', { automations: {} }, 'exits 6: not_started, not_found'],
  ['no such project', '', any(404, noProject),
    'exits 6: not_started, not_found', { next: config, says: /no project 42/ }],
  ['401', '', any(401), 'exits 7: not_started, unauthorized', { next: config }],
  ['403', '', any(403, forbidden),
    'exits 7: not_started, unauthorized', { next: config, says: /may not trigger nightly/ }],
  ['403 with Retry-After until it gives up', '', any(403, soon), 'exits 9: not_started, rate_limited', { next: again }],
  ['401 with Retry-After', '', any(401, soon), 'exits 7: not_started, unauthorized', { next: config }],
  ["a portal's page with 402", '', faulty({ on: 'trigger', do: 'html', status: 402 }),
    'exits 8: not_started, no_credits', { next: /^runctl doctor/ }],
  ['402', '', { credits: 0 }, 'exits 8: not_started, no_credits'],
  ['429 until it gives up', '', any(429), 'exits 9: not_started, rate_limited', { next: again }],
  ['429 for too long', '--timeout 10s', any(429, later), 'exits 9: not_started, rate_limited', { says: /wait 1d 3h/ }],
  ['407', '', any(407), 'exits 10: not_started, unavailable'],
  ['connection refused', '', {}, 'exits 10: not_started, unavailable', { network: 'refused' }],
  ['an unknown host', '', {}, 'exits 10: not_started, unavailable', { network: 'unresolvable' }],
  ['an unknown certificate', '', {}, 'exits 10: not_started, unavailable', { network: 'self-signed certificate' }],
  ['a proxy that refuses us', '', {}, 'exits 10: not_started, unavailable', { network: 'proxy 407' }],
  ['400', '', any(400), 'exits 11: not_started, rejected'],
  ['a redirect', '', any(302), 'exits 11: not_started, rejected'],
  ['a redirect to a run of another', '', any(303, to(`weekly/executions/${id}`)), 'exits 11: not_started, rejected'],
  ['a redirect to a run', '', any(303, to(`nightly/executions/${id}`)), 'exits 12: unknown, outcome_unknown'],
  ['409 until it gives up', '', any(409), 'exits 12: unknown, outcome_unknown'],
  ['501', '', any(501), 'exits 12: unknown, outcome_unknown'],
  ['503 until it gives up', '', any(503), 'exits 12: unknown, outcome_unknown', { next: recover }],
  ['503 for too long', '--timeout 10s', any(503, later), 'exits 12: unknown, outcome_unknown'],
  ['a page', '', faulty({ do: 'html' }), 'exits 12: unknown, outcome_unknown'],
  ["a firewall's page", '', firewall('trigger'), 'exits 12: unknown, outcome_unknown', { next: recover }],
  ['unreadable', '', faulty({ do: 'wrongJson' }), 'exits 12: unknown, outcome_unknown', { really: 1, next: recover }],
  ['no answer', '', faulty(loseResponse()), 'exits 12: unknown, outcome_unknown', { really: 1 }],
  ['lost, then 402', '', faulty(loseResponse({ nth: 1 }), answer(402)), 'exits 12: unknown, outcome_unknown', { really: 1 }],
  ['lost, then 401', '', faulty(loseResponse({ nth: 1 }), answer(401)),
    'exits 12: unknown, outcome_unknown', { really: 1, next: config }],
  ['lost, then its run', '--give-up-after 10s', lostFirst, 'exits 0: started, ok', { next: watch }],
  ['lost, then a conflict with its own run', '--give-up-after 10s', { ...lostFirst, order: 'activeFirst' },
    'exits 12: unknown, outcome_unknown', { really: 1 }],
  ['lost, then a conflict with a run that is long active', '--give-up-after 10s',
    { ...runs({ duration: '9h' }), ...named, ...faulty(loseResponse({ nth: 2 })) },
    'exits 12: unknown, outcome_unknown', { ...active, isFinished: true, next: watch }],
  ['a signal on the way', '', hanging, 'exits 130: unknown, interrupted', { interruptAt: 1, really: 1, next: recover }],
];

// biome-ignore format: a table
const ofWaits: Row[] = [
  ['the slot is free in time', '', { ...runs({ duration: '1m' }), ...named }, 'exits 0: started, ok', active],
  ['every poll is refused', '', { ...runs({ duration: '1m' }), ...named, ...polls(401) },
    'exits 0: started, ok', active],
  ['no poll is answered', '', { ...runs({ duration: '2h' }), ...named, ...polls(500) },
    'exits 10: not_started, unavailable', active],
  ['every poll is answered with 400', '', { ...runs({ duration: '2h' }), ...named, ...polls(400) },
    'exits 10: not_started, unavailable', active],
  ['every poll is answered with 402', '', { ...runs({ duration: '2h' }), ...named, ...polls(402) },
    'exits 10: not_started, unavailable', active],
  ['every poll is answered with 429', '', { ...runs({ duration: '2h' }), ...named, ...polls(429) },
    'exits 9: not_started, rate_limited', active],
  ['the slot is not free before --timeout', '--timeout 100ms', {}, 'exits 5: not_started, already_active', active],
  ['a signal', '--interval 1h', {}, 'exits 130: not_started, interrupted', { ...active, interruptAt: 1 }],
  ['a signal after a lost answer', '--interval 1h --give-up-after 10s',
    { ...runs({ duration: '2h' }), ...named, ...lostFirst, order: 'activeFirst' },
    'exits 130: unknown, interrupted', { interruptAt: 2, really: 1, next: /^runctl recover .*nightly --resend$/ }],
  ['a lost answer after the wait', '', { ...runs({ duration: '1m' }), ...named, ...faulty(loseResponse({ from: 3 })) },
    'exits 12: unknown, outcome_unknown', { ...active, really: 1 }],
];

const key = 'trigger nightly --idempotency-key k';
const used = { earlier: key, isFinished: true };
const seen = { earlier: `${key} --watch` };
const newKey = { ...used, says: /^runctl: .*doesn't know.*new idempotency key/s, next: /--idempotency-key k-2$/ };
const routed = { earlier: key, says: /^(?!.*new idempotency key)/s };
// biome-ignore format: a table
const ofGivenKeys: Row[] = [
  ['refused', '', { credits: 0 }, 'exits 8: not_started, no_credits'],
  ['its run COMPLETED', '', short(), 'exits 0: replayed, ok', used],
  ['its run FAILED', '', short('FAILED'),
    'exits 1: replayed, run_failed, warns of replayed_failure', { ...used, next: /^runctl result/ }],
  ['its run TIMED_OUT', '', short('TIMED_OUT'), 'exits 3: replayed, run_timed_out, warns of replayed_failure', used],
  ['its run CANCELLED', '', short('CANCELLED'), 'exits 4: replayed, run_cancelled, warns of replayed_failure', used],
  ['another machine used it, and the run FAILED', '', short('FAILED'),
    'exits 1: found, run_failed, warns of replayed_failure', { ...used, elsewhere: true, next: /^runctl result/ }],
  ['another machine used it, and the run COMPLETED', '', short(), 'exits 0: found, ok', { ...used, elsewhere: true }],
  ['another machine used it, and the run goes on', '', {},
    'exits 0: found, ok', { earlier: key, elsewhere: true, next: watch }],
  ["another machine used it, and the run can't be polled", '', polls(500),
    'exits 0: found, ok', { earlier: key, elsewhere: true, next: watch }],
  ["another machine used it, and the service doesn't know the run", '', polls(422, notFound),
    'exits 0: found, ok', { earlier: key, elsewhere: true, next: watch }],
  ['another machine used it, and polls hang', '', hangs('status'),
    'exits 0: found, ok', { earlier: key, elsewhere: true, next: watch }],
  ['its run was SKIPPED', '', short('SKIPPED'), 'exits 15: replayed, run_ended, warns of replayed_failure', used],
  ["its run can't be polled", '', polls(500), 'exits 0: replayed, ok, warns of status_unavailable', { earlier: key }],
  ['a signal', '--give-up-after 10s', hangs('status'),
    'exits 130: replayed, interrupted', { earlier: key, interruptAt: 1 }],
  ['its run is behind a router that lost it', '', polls(404),
    'exits 0: replayed, ok, warns of status_unavailable', { earlier: key }],
  ['its run is behind a router that lost it', '--watch', polls(404),
    'exits 14: replayed, watch_failed because of unavailable', routed],
  ["its run FAILED, and can't be polled any more", '', { ...short('FAILED'), ...polls(500, { from: 2 }) },
    'exits 1: replayed, run_failed, warns of status_unavailable, warns of replayed_failure', seen],
  ['its run FAILED, and the API key is refused by now', '', { ...short('FAILED'), ...polls(401, { from: 2 }) },
    'exits 1: replayed, run_failed, warns of status_unavailable, warns of replayed_failure', seen],
  ["its run FAILED, and can't be polled any more", '--watch', { ...short('FAILED'), ...polls(500, { from: 2 }) },
    'exits 14: replayed, watch_failed because of unavailable, warns of replayed_failure',
    { ...seen, says: /^(?!.*may still be running).*last confirmed FAILED/s }],
  ['its run is not known', '', polls(422, notFound), 'exits 6: replayed, not_found', newKey],
  ['its run is not known', '--watch', polls(422, notFound),
    'exits 14: replayed, watch_failed because of not_found', newKey],
  ...['', '--watch'].flatMap((flag): Row[] => [
    [
      'its run COMPLETED and is dropped',
      flag,
      { ...short(), ...dropped },
      'exits 0: replayed, ok, warns of status_unavailable',
      seen,
    ],
    [
      'its run FAILED and is dropped',
      flag,
      { ...short('FAILED'), ...dropped },
      'exits 1: replayed, run_failed, warns of status_unavailable, warns of replayed_failure',
      seen,
    ],
  ]),
];

// biome-ignore format: a table
const ofSeveral: Row[] = [
  ['one is active', '', {}, 'exits 5: not_started, already_active; then started, ok', active],
  ['one is not known', '', { automations: { weekly: {} } }, 'exits 6: not_started, not_found; then started, ok'],
  ['the answer of the second is lost', '', { automations: { weekly: {} }, ...faulty(loseResponse({ automation: 'weekly' })) },
    'exits 12: not_started, not_found; then unknown, outcome_unknown', { really: 1, next: recover }],
  ['one idempotency key for both', '--idempotency-key k', {}, 'exits 2: not_started, usage'],
  ['an idempotency key for each that replays both', '--idempotency-key k-{automation}',
    { automations: { nightly: { finalStatus: 'FAILED' }, weekly: {} } },
    'exits 1: replayed, run_failed, warns of replayed_failure; then replayed, ok',
    { earlier: 'trigger nightly weekly --idempotency-key k-{automation}', isFinished: true }],
  ['one is CANCELLED while both are watched', '--watch --interval 1s',
    { automations: { nightly: { duration: '50ms' }, weekly: { duration: '50ms', finalStatus: 'CANCELLED' } } },
    'exits 4: started, ok; then started, run_cancelled'],
  ['a turn that does not come before --timeout', '--rate 0.1 --timeout 2s', {},
    'exits 10: started, ok; then not_started, unavailable', { says: /weekly .*'--timeout'/ }],
  ['a signal on the way', '', hanging,
    'exits 130: unknown, interrupted; then unknown, interrupted', { interruptAt: 2, really: 2 }],
  ['one is refused, then a signal', '--watch --interval 20ms', { automations: { weekly: { duration: '1h' } } },
    'exits 130: not_started, interrupted; then started, interrupted', { interruptAt: 4, says: /doesn't know nightly/ }],
  ['one is FAILED, then a signal', '--watch --interval 20ms',
    { automations: { nightly: { duration: '1ms', finalStatus: 'FAILED' }, weekly: { duration: '1h' } } },
    'exits 130: started, run_failed; then started, interrupted', { interruptAt: 12 }],
];

// biome-ignore format: a table
const ofWatchedTriggers: Row[] = [
  ['COMPLETED', '', short(), 'exits 0: started, ok'],
  ['FAILED', '', short('FAILED'), 'exits 1: started, run_failed', { next: /^runctl result/ }],
  ['TIMED_OUT', '', short('TIMED_OUT'), 'exits 3: started, run_timed_out'],
  ['CANCELLED', '', short('CANCELLED'), 'exits 4: started, run_cancelled'],
  ['SKIPPED', '', short('SKIPPED'), 'exits 15: started, run_ended, warns of unknown_status', { next: /^runctl result/ }],
  ['SKIPPED without an end', '--timeout 1m', runs({ duration: '50ms', finalStatus: 'SKIPPED', extra: { completedAt: null } }),
    'exits 124: started, timeout, warns of unknown_status'],
  ['SKIPPED with an end before its start', '--timeout 1m',
    runs({ duration: '50ms', finalStatus: 'SKIPPED', extra: { completedAt: '2001-01-01T00:00:00Z' } }),
    'exits 124: started, timeout, warns of unknown_status'],
  ['SKIPPED, no result', '', { ...short('SKIPPED'), ...result(401) },
    'exits 15: started, run_ended, warns of unknown_status, warns of result_unavailable'],
  ['FAILED with the error type timed_out', '',
    runs({ duration: '50ms', finalStatus: 'FAILED', error: { type: 'timed_out', message: '' } }),
    'exits 1: started, run_failed'],
  ['no result', '', { ...short(), ...result(401) }, 'exits 13: started, result_unavailable because of unauthorized'],
  ['FAILED, no result', '', { ...short('FAILED'), ...result(401) },
    'exits 1: started, run_failed, warns of result_unavailable'],
  ['a refusal that lasts', '', polls(401), 'exits 14: started, watch_failed because of unauthorized'],
  ["a firewall's page at every poll", '', firewall('status'), 'exits 14: started, watch_failed because of unavailable'],
  ['--timeout', '--timeout 100ms', {}, 'exits 124: started, timeout', { next: watch }],
  ['a wait beyond --timeout', '--timeout 10m', polls(429, later), 'exits 124: started, timeout, warns of retry_after'],
  ['a signal', '--interval 20ms', {}, 'exits 130: started, interrupted', { interruptAt: 3, next: watch }],
  ['a signal', '--interval 20ms --give-up-after 10s', hangs('status'),
    'exits 130: started, interrupted', { interruptAt: 2 }],
  ['COMPLETED, a signal', '--interval 20ms --give-up-after 10s', { ...short(), ...hangs('result') },
    'exits 130: started, interrupted', { interruptAt: 3, next: /^runctl result/ }],
  ['a lost answer, then a conflict: nothing is followed', '',
    { ...runs({ duration: '30s' }), ...named, ...lostFirst, order: 'activeFirst' },
    'exits 12: unknown, outcome_unknown', { really: 1 }],
];

// biome-ignore format: a table
const ofOthers: Row[] = [
  ['no name', 'trigger ..', {}, 'exits 2: not_started, usage'],
  ['another automation', 'trigger b', { automations: { a: {} } },
    'exits 6: not_started, not_found', { earlier: 'trigger a', next: config }],
  ['not found', `watch ${run}`, {}, 'exits 6: not_found'],
  ['429 until it gives up', `watch ${run}`, any(429), 'exits 9: rate_limited'],
  ['a wait beyond --timeout', `watch ${run} --timeout 10m`, any(503, later),
    'exits 124: timeout, warns of retry_after'],
  ['402 at every poll', `watch ${run}`, any(402), 'exits 10: unavailable'],
  ['a page at every poll', `watch ${run}`, faulty({ do: 'html' }), 'exits 10: unavailable'],
  ['not found', `status ${run}`, {}, 'exits 6: not_found'],
  ['401', `status ${run}`, any(401), 'exits 7: unauthorized'],
  ['402', `status ${run}`, any(402), 'exits 8: no_credits'],
  ['400', `status ${run}`, any(400), 'exits 11: rejected'],
  ["a firewall's page at every poll", `watch ${run}`, firewall('status'), 'exits 10: unavailable'],
  ["a firewall's page", `status ${run}`, firewall('status'), 'exits 10: unavailable'],
  ["a firewall's page", `result ${run}`, firewall('result'), 'exits 10: unavailable'],
  ["a firewall's page", 'doctor', firewall('status'), 'exits 10: unavailable'],
  ['a page', `status ${run}`, faulty({ do: 'html' }), 'exits 10: unavailable'],
  ['an unfinished run', 'status @last', {}, 'exits 0: still_running', { ...started, next: watch }],
  ['an unfinished run', 'status @last --exit-status', {}, 'exits 16: still_running', started],
  ['FAILED', 'status @last', short('FAILED'), 'exits 0: run_failed', { ...finished, next: /^runctl result/ }],
  ['FAILED', 'status @last --exit-status', short('FAILED'), 'exits 1: run_failed', finished],
  ['SKIPPED', 'status @last --exit-status', short('SKIPPED'), 'exits 15: run_ended', finished],
  ['SKIPPED without an end', 'status @last --exit-status',
    runs({ duration: '1ms', finalStatus: 'SKIPPED', extra: { completedAt: null } }), 'exits 16: still_running', finished],
  ['SKIPPED', 'result @last', short('SKIPPED'), 'exits 0: run_ended', finished],
  ['SKIPPED', 'watch nightly', short('SKIPPED'), 'exits 15: run_ended, warns of unknown_status', finished],
  ['SKIPPED, seen by a watch before', 'list', short('SKIPPED'), 'exits 0: run_ended', { earlier: 'trigger nightly --watch' }],
  ['SKIPPED, first seen by the list', 'list', short('SKIPPED'), 'exits 0: run_ended', finished],
  ['an empty argument', 'status ', {}, 'exits 2: usage'],
  ['fields in its place, as gh takes them', 'status status,title', {},
    'exits 2: usage', { says: /--field status,title/ }],
  ['a project that is no UUID', `status ${run} -p acme`, {}, 'exits 2: usage'],
  ['a run of another project', `status nightly -p ${id}`, {}, 'exits 2: usage', started],
  ['a run of another project, in full', `status ${projectId}/${run} -p ${id}`, {}, 'exits 2: usage'],
  ['COMPLETED, refused', 'result @last', { ...short(), ...result(401) }, 'exits 7: unauthorized', finished],
  ['an unfinished run', 'result @last', {}, 'exits 0: still_running', { ...started, next: watch }],
  ['FAILED', 'list', short('FAILED'),
    'exits 0: run_failed', { earlier: 'trigger nightly --watch', next: /^runctl result/ }],
  ['a signal', 'status @last', hangs('status'), 'exits 130: interrupted', { ...started, interruptAt: 1 }],
  ['a signal', 'result @last', hangs('result'), 'exits 130: interrupted', { ...started, interruptAt: 1 }],
  ['a signal', 'list', hangs('status'), 'exits 130: interrupted', { ...started, interruptAt: 1 }],
  ['a signal', 'recover', faulty(loseResponse({ nth: 1 }), { on: 'trigger', do: 'hang', acts: true }),
    'exits 130: unknown, interrupted', { ...unresolved, interruptAt: 1, next: recover }],
  ['its run is found', 'recover --resend', lostFirst,
    'exits 0: recovered (started: unknown), ok', { ...unresolved, isFinished: true }],
  ['the answer is lost again', 'recover --give-up-after 1ms', faulty(loseResponse()),
    'exits 12: unknown, outcome_unknown', unresolved],
  ['the API key is refused', 'recover', faulty(loseResponse({ nth: 1 }), answer(401)),
    'exits 12: unknown, outcome_unknown', { ...unresolved, next: config, says: /API key was refused/ }],
  ['another API key', 'recover --resend', lostFirst,
    'exits 12: unknown, outcome_unknown because of other_api_key',
    { ...unresolved, env: { RUNCTL_API_KEY: 'another-key-123456' }, next: config }],
  ['no base URL', 'doctor', {}, 'exits 2: usage', { env: { RUNCTL_BASE_URL: '', RUNCTL_STATE_DIR: '/dev/null' } }],
  ['nobody listens', 'doctor', {}, 'exits 10: unavailable', { network: 'refused' }],
  ['401', 'doctor', {}, 'exits 7: unauthorized', { env: { RUNCTL_API_KEY: 'another-key' }, next: /^runctl config/ }],
  ['the state folder is a file', 'doctor', {}, 'exits 74: output_error', { env: { RUNCTL_STATE_DIR: '/dev/null' } }],
  ['a discontinued agent', `agent trigger ${id}`, {}, 'exits 11: not_started, rejected, warns of agents_discontinued'],
  ['a run that nobody knows', `agent status ${id} ${id}`, {}, 'exits 6: not_found, warns of agents_discontinued'],
];

const anything = /(?:)/;

/** A command gives up soon, unless its row says when. */
const hasPatience = (line: string) => /^(trigger|watch|status|result) /.test(line) && !line.includes('--give-up-after');

const tables: [command: string, rows: Row[]][] = [
  ['trigger nightly', ofTriggers],
  ['trigger nightly --if-active wait', ofWaits],
  [key, ofGivenKeys],
  ['trigger nightly weekly', ofSeveral],
  ['trigger nightly --watch', ofWatchedTriggers],
  ['', ofOthers],
];

/** A bug, the other signals and a closed pipe: test/process.test.ts and test/e2e/ have these. */
const ofProcesses = [70, 129, 141, 143];

test('every other exit code has a row', () => {
  const codes = tables.flatMap(([, rows]) => rows.map(([, , , ends]) => Number(/\d+/.exec(ends)?.[0])));
  expect(new Set([...codes, ...ofProcesses])).toEqual(new Set(exitCodes.map(({ code }) => code)));
});

describe.each(tables)('%s', (command, rows) => {
  const titled = rows.map(([situation, rest, scenario, ends, more = {}]) => {
    return [rest ? `${situation} (${rest})` : situation, ends, { rest, scenario, ...more }] as const;
  });
  test.each(titled)(
    '%s: %s',
    async (_, ends, {
      rest,
      scenario,
      earlier,
      elsewhere,
      isFinished,
      interruptAt,
      network,
      really,
      next = anything,
      says = anything,
      env,
    }) => {
      const machine = await withMachine(scenario);
      const { emulator } = machine;
      if (earlier) await (elsewhere ? machine.elsewhere : machine.run)(earlier);
      if (isFinished) machine.endRuns();
      const { env: way } = network ? ((await networkFaults[network]?.()) ?? {}) : {};
      const [asked, before] = [emulator.requests.length, emulator.runs().length];
      const line = [command, rest].filter(Boolean).join(' ');
      const patience = hasPatience(line) ? ['--give-up-after', '300ms'] : [];
      const interrupt = new AbortController();
      const running = machine.run([...line.split(' '), ...patience, '--json'], {
        env: { ...env, ...way },
        clock: interruptAt === undefined ? machine.clock : systemClock,
        signal: interrupt.signal,
      });
      if (interruptAt !== undefined) {
        await vi.waitUntil(() => emulator.requests.length - asked >= interruptAt, { timeout: 10_000, interval: 5 });
        await nextTurn();
        interrupt.abort('SIGINT');
      }
      const { code, documents, stderr } = await running;
      const facts: Facts[] = documents.map(({ runctl }) => runctl);
      expect(`exits ${code}: ${facts.map(endOf).join('; then ')}`, stderr).toBe(ends);
      const triggers = facts.flatMap(({ trigger }) => trigger ?? []);
      const said = triggers.filter((each) => each.started === 'yes').length;
      expect(emulator.runs().length - before, 'really started').toBe(really ?? said);
      const isRepeatable = line.includes('--idempotency-key') || /^recover(?! --resend)/.test(line);
      const isSafe = isRepeatable || triggers.every((each) => each.started === 'no');
      for (const { safeToRepeat } of triggers) expect(safeToRepeat, 'safe to repeat').toBe(isSafe);
      const isUnknown = triggers.length > 0 && triggers.every((each) => each.started === 'unknown');
      expect(isUnknown && /no (new )?run was started/.test(stderr), 'says no run was started').toBe(false);
      const decisive = facts.find(({ exitCode }) => exitCode === code);
      expect(decisive).toBeDefined();
      expect(String(decisive?.next)).toMatch(next);
      expect(stderr).toMatch(says);
      // A code without a line would be that of Node or the shell.
      expect(stderr).toMatch(code === 0 ? anything : /^runctl: /m);
    },
  );
});

interface Facts {
  exitCode: number;
  outcome: string;
  next: string | null;
  trigger?: { how: string; started: string; safeToRepeat: boolean };
  problem?: { name: string };
  warnings: { name: string }[];
}

/** What `started` is for each `how`, but for a run that was recovered. */
const startedOf = {
  started: 'yes',
  found: 'unknown',
  unknown: 'unknown',
  replayed: 'no',
  skipped: 'no',
  not_started: 'no',
};

function endOf({ trigger, outcome, problem, warnings }: Facts): string {
  const { how = '', started = '' } = trigger ?? {};
  const isImplied = !trigger || startedOf[how as keyof typeof startedOf] === started;
  const isFailure = !/^(ok|still_running|run_.*)$/.test(outcome);
  expect(problem !== undefined, 'a problem exactly if something failed').toBe(isFailure);
  const cause = problem && problem.name !== outcome ? ` because of ${problem.name}` : '';
  const warned = warnings.map(({ name }) => `warns of ${name}`);
  const triggered = isImplied ? how : `${how} (started: ${started})`;
  return [triggered, outcome + cause, ...warned].filter(Boolean).join(', ');
}

/** A wait begins in the turn after the answer that it follows. */
const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 20));

test.each([
  ['trigger nightly', 'runctl doctor'],
  ['status @last', 'runctl status'],
  ['result @last', 'runctl result'],
])(
  '`%s` with a base URL that has responded before says that the service may be down, not that the URL is wrong',
  async (line, next) => {
    const { run, emulator } = await withMachine();
    await run('trigger nightly');
    await emulator.close();
    const { code, stderr, documents } = await run(`${line} --json`);
    expect([code, documents[0].runctl.next]).toEqual([10, expect.stringContaining(next)]);
    expect(stderr).toContain('may be down');
    expect(stderr).not.toContain('check the base URL');
  },
);
