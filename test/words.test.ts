// How the program reads. Only this test pins its sentences: everywhere else, tests check what a message means.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openJournal } from '../src/journal/journal.ts';
import { createProcesses } from '../src/journal/processes.ts';
import { shellWord } from '../src/run/quote.ts';
import { type Fault, loseResponse, type Scenario } from './fault-kit/scenario.ts';
import { projectId } from './fault-kit/start.ts';
import { executionId as id } from './helpers/scripted-service.ts';
import { answer, serverFaults } from './helpers/server-faults.ts';
import { type Machine, type Situation, type Step, saidIn } from './helpers/situation.ts';

const file = join(import.meta.dirname, 'words.txt');
const update = 'UPDATE_WORDS=1 npx vitest run test/words.test.ts';

type Outcome = 'FAILED' | 'TIMED_OUT' | 'CANCELLED';
const lasts = (duration: string): Scenario => ({ automations: { '*': { duration } } });
const ends = (finalStatus: Outcome, type?: string): Scenario => ({
  automations: { '*': { duration: '1m', finalStatus, ...(type && { error: { type, message: 'no' } }) } },
});
const long = lasts('3h');
const short = lasts('1m');
const failsOrNot: Scenario = {
  automations: { '*': { duration: '1m' }, bad: { duration: '2m', finalStatus: 'FAILED' } },
};
/** Runs of three hours. */
const faulty = (...faults: Fault[]): Scenario => ({ ...long, faults });
const responds = (on: Fault['on'], status: number, body?: object, headers = {}): Fault => ({
  ...{ on, do: 'status', status, body, headers },
});
const refuses = (status: number, code: string, message = 'no') =>
  faulty(responds('trigger', status, { code, message }));
const asksToWait = (on: Fault['on'], seconds: number, status = 503, body = { code: 'busy' }): Fault =>
  responds(on, status, body, { 'retry-after': String(seconds) });
const isAway = (on: Fault['on']): Fault => responds(on, 503);
const unknownRun = responds('status', 422, { code: 'notFound' });
/** A run, as the service shows it. */
const run = (status: string, more = {}) => ({ executionId: id, status, ...more });
const failedStep = run('COMPLETED', { error: { type: 'late', message: 'a step went on' } });
const first: Fault = { ...responds('trigger', 201, run('RUNNING')), nth: 1 };
const second = responds('trigger', 201, run('RUNNING', { executionId: `${id.slice(0, -1)}2` }));
const placeOfRun = `/v0/automation/${projectId}/nightly/executions/${id}`;
const losing = (scenario: Scenario, ...faults: Fault[]): Scenario => ({
  ...scenario,
  faults: [{ ...lost, automation: 'lost' }, ...faults],
});
const isActive = { code: 'runAlreadyActive', executionId: id };
const meetsActive: Fault = { ...responds('trigger', 422, isActive), nth: 2 };
/** The first response is lost, and that of the repeat, too. */
const lost: Fault = loseResponse({ to: 2 });
const lostOnce: Fault = { ...lost, to: 1 };

const nothingSet = { RUNCTL_BASE_URL: '', RUNCTL_API_KEY: '', RUNCTL_PROJECT: '' };
const noFolders = { HOME: '', RUNCTL_CONFIG_DIR: '', RUNCTL_STATE_DIR: '' };
const otherService = { RUNCTL_BASE_URL: 'https://other.example.com' };
const noProject = { RUNCTL_PROJECT: '' };
const noKey = { RUNCTL_API_KEY: '' };
const otherKey = { RUNCTL_API_KEY: 'another-key-123456' };
const ignoresKeys = { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
const atServer = { RUNCTL_BASE_URL: '<server>' };
const throughServer = { RUNCTL_BASE_URL: 'https://api.example.com', HTTPS_PROXY: '<server>' };
const profile = (stored: object) => ({ profiles: { default: stored } });

const isGone = ({ emulator }: Machine) => emulator.close();
const configFile = ({ env }: Machine) => join(env.RUNCTL_CONFIG_DIR ?? '', 'config.json');
const allows = (mode: number) => (machine: Machine) => chmodSync(configFile(machine), mode);
/** A process of this machine is still sending a trigger. */
function isSent({ env, clock }: Machine): void {
  const { RUNCTL_STATE_DIR: folder, RUNCTL_BASE_URL: baseUrl = '', RUNCTL_PROJECT: projectId = '' } = env;
  const journal = openJournal({ folder, nowMs: clock.nowMs, onFailure() {} });
  const target = { projectId, automationName: 'nightly' };
  const sent = { type: 'triggered', baseUrl, target, account: 'a', body: '{}', userProvided: false } as const;
  journal.append({ ...sent, idempotencyKey: 'k', attempt: '1', process: createProcesses().own, first: true });
}
function breaks({ clock }: Machine): void {
  clock.nowMs = () => {
    throw new Error('oops');
  };
}
function isAhead({ clock }: Machine): void {
  const { nowMs } = clock;
  clock.nowMs = () => nowMs() + 300_000;
}

const completesTooLarge: Situation['server'] = (socket, head) => {
  const isResult = head.includes('/result ');
  (isResult ? serverFaults['gzip bomb'] : answer(200, `{"executionId":"${id}","status":"COMPLETED"}`))?.(socket);
};

const trigger = 'trigger nightly';
const withKey = 'trigger nightly --idempotency-key k';
/** A command that gives up after one repeat. */
const brief = '--give-up-after 1ms';
const status = `status nightly/${id} -q ${brief}`;
const loses = `trigger lost ${brief}`;
const triggerLost = [`trigger nightly ${brief}`];
const keyLost = [`trigger nightly --idempotency-key k ${brief}`];
const run1 = '00000001-0000-4000-8000-000000000000';
const questions = ['<url>', 'wrong-key-0123456789', '', ''];

const after = (scenario: Scenario, ...before: Step[]): Situation => ({ scenario, before });
const running = after(long, trigger);
const over = after(short, trigger, '2h');
const inDoubt = after(faulty(lost), ...triggerLost);
const keyInDoubt = after(faulty(lost), ...keyLost);

type Row = readonly [situation: string, line: string, machine?: Situation];

// biome-ignore format: tables
const sections: Record<string, readonly Row[]> = {
  'A bare runctl at a terminal': [
    ['nothing is set', '', { env: nothingSet, typed: ['n'] }],
    ['nothing is set, and then it is asked for', '', { env: nothingSet, typed: ['y', '\u0003'] }],
    ['no run was started', '', { typed: [] }],
    ['all is well', '', { ...after(short, 'trigger nightly --watch'), typed: [] }],
    ['all is well, and a trigger is being sent', '', { before: [isSent], typed: [] }],
    ['something needs attention', '', {
      ...after(losing(failsOrNot), 'trigger bad --watch', '1h', loses, 'trigger weekly', '20s'), typed: [],
    }],
    ['much needs attention', '', { ...after(long, 'trigger a b c d e f g h i j k l'), typed: [] }],
  ],

  'A run': [
    ['it is started', trigger, { scenario: long }],
    ['it is started and followed', 'trigger nightly --watch', { scenario: lasts('7m') }],
    ['it is followed through an outage', 'watch @last',
      after({ ...lasts('4m'), faults: [{ ...isAway('status'), during: { after: '1m', for: '1m' } }] }, trigger)
    ],
    ['it fails at a step', 'watch @last', after(ends('FAILED', 'step_failed'), trigger)],
    ['it cannot run', 'watch @last -q', after(ends('FAILED', 'not_runnable'), trigger)],
    ['it loses its environment', 'watch @last -q', after(ends('FAILED', 'lease_lost'), trigger)],
    ['it takes too long', 'watch @last -q', after(ends('TIMED_OUT'), trigger)],
    ['it is cancelled', 'watch @last -q', after(ends('CANCELLED'), trigger)],
    ['it ends in a way of its own', 'watch @last', after({ automations: { '*': { duration: '1m', finalStatus: 'SKIPPED' } } }, trigger)],
    ['it completes oddly', `watch nightly/${id}`, {
      scenario: faulty({ ...responds('status', 200, run('PAUSED')), nth: 1 }, responds('any', 200, failedStep)),
    }],
    ['status and result differ', `watch nightly/${id} -q`, {
      scenario: faulty(responds('status', 200, run('COMPLETED')), responds('result', 200, run('FAILED'))),
    }],
    ['one of several is refused', 'trigger good bad elsewhere --watch', {
      scenario: { automations: { good: { duration: '1m' }, bad: { duration: '2m', finalStatus: 'FAILED' } } },
    }],
    ['one of several has its API key refused', 'trigger a b --watch -q', {
      scenario: { ...short, faults: [{ ...responds('status', 401), automation: 'a' }] },
    }],
    ['several time out', 'trigger a b --watch --timeout 30s', { scenario: long }],
    ['one of several is skipped, another in doubt', `trigger good lost active --watch --if-active skip ${brief}`,
      after({ ...short, faults: [{ ...lost, automation: 'lost' }] }, 'trigger active')
    ],
    ['one of several is not there', `watch nightly nightly/${id} -q`, after(short, trigger)],
    ['its hook fails', "trigger nightly --watch --interval 20ms -q --on-final 'echo from the hook; exit 3'", {
      scenario: lasts('1ms'), isReal: true,
    }],
    ['it is only tried', 'trigger nightly --dry-run'],
  ],

  'A trigger that starts no run': [
    ['the API key is refused', trigger, { env: otherKey }],
    ['a page says that it is not there', trigger, { scenario: faulty({ on: 'trigger', do: 'html', status: 404 }) }],
    ['the credits are used up', trigger, { scenario: { credits: 0 } }],
    ['the automation is not there', trigger, { scenario: { automations: {} } }],
    ['the project is not there', trigger, { scenario: refuses(404, 'projectNotFound', 'There is no such project') }],
    ['the API key may not do it', trigger, { scenario: refuses(403, 'forbidden', 'Not allowed to trigger nightly') }],
    ['the service refuses it', trigger, { scenario: refuses(400, 'automationDisabled', 'The Automation is disabled') }],
    ['the service refuses its idempotency key', trigger, {
      scenario: refuses(400, 'idempotencyKeyReused', 'Another body'),
    }],
    ['the response names the run of another automation', withKey, {
      scenario: faulty(responds('trigger', 201, run('RUNNING', { automationName: 'weekly' }))),
    }],
    ['the rate limit lasts', 'trigger nightly --give-up-after 5s', { scenario: refuses(429, 'rateLimited') }],
    ['the rate limit lasts for longer than the retries', trigger, {
      scenario: faulty(asksToWait('trigger', 3600, 429)),
    }],
    ['nothing listens', `trigger nightly ${brief}`, { env: { RUNCTL_BASE_URL: 'http://127.0.0.1:1' } }],
    ['nothing listens any more', `trigger nightly ${brief} -q`, { before: [trigger, isGone] }],
    ['its turn does not come in time', 'trigger a b --rate 0.001 --timeout 1m -q', { scenario: long }],
    ['a signal comes first', 'trigger nightly -q', { scenario: refuses(429, 'rateLimited'), signal: { at: 'pause' } }],
  ],

  'A trigger while a run is active': [
    ['the run is named', trigger, after({ ...long, namesActiveRun: true }, trigger)],
    ['the run is in the journal', trigger, running],
    ['the run is unknown', trigger, { scenario: refuses(422, 'runAlreadyActive') }],
    ['an earlier trigger may have started the run', trigger, inDoubt],
    ['it is skipped', 'trigger nightly --if-active skip', running],
    ['it waits', 'trigger nightly --if-active wait', after(lasts('6m'), trigger)],
    ['it waits in vain', 'trigger nightly --if-active wait --timeout 5m -q', running],
    ['it waits in vain, in doubt', 'trigger nightly --if-active wait --timeout 5m -q', {
      scenario: { ...faulty(lostOnce), order: 'activeFirst', namesActiveRun: true },
    }],
    ['it would have to wait for too long', 'trigger nightly --if-active wait --timeout 5m', {
      scenario: faulty(asksToWait('trigger', 3600, 422, isActive)),
    }],
    ['the run cannot be polled', 'trigger nightly --if-active wait --give-up-after 1m -q',
      after(faulty(isAway('status')), trigger)
    ],
  ],

  'A trigger in doubt': [
    ['the response is lost', `trigger nightly ${brief}`, { scenario: faulty(lost) }],
    ['nothing could be recorded', `trigger nightly ${brief} -q`, { scenario: faulty(lost), env: noFolders }],
    ['nothing could be recorded, and keys are ignored', `trigger nightly ${brief} -q`, {
      scenario: faulty(lost), env: { ...noFolders, ...ignoresKeys },
    }],
    ['idempotency keys are ignored', trigger, { scenario: faulty(lost), env: ignoresKeys }],
    ['the service asks for a wait', trigger, { scenario: faulty(asksToWait('trigger', 1800)) }],
    ['the service asks for a long wait', trigger, { scenario: faulty(asksToWait('trigger', 7200)) }],
    ['the service reports an error', trigger, { scenario: refuses(501, 'notImplemented', 'Not here') }],
    ['the service redirects to a run', trigger, {
      scenario: faulty(responds('trigger', 303, {}, { location: placeOfRun })),
    }],
    ['the response has no id', `trigger nightly ${brief} -q`, { scenario: faulty({ on: 'trigger', do: 'wrongJson' }) }],
    ['a repeat meets an active run', 'trigger nightly -q', { scenario: { ...faulty(lostOnce), order: 'activeFirst' } }],
    ['a repeat meets an active run that is named', 'trigger nightly -q', {
      scenario: { ...faulty(lostOnce), order: 'activeFirst', namesActiveRun: true },
    }],
    ['a repeat meets the run of another trigger', 'trigger nightly -q',
      after({ ...faulty({ ...isAway('trigger'), nth: 2 }), order: 'activeFirst', namesActiveRun: true }, trigger)
    ],
    ['a repeat has its API key refused', 'trigger nightly -q', {
      scenario: faulty(lostOnce, responds('trigger', 401)),
    }],
    ['a signal comes', trigger, { scenario: long, signal: { at: 'request' } }],
    ['a signal comes, and keys are ignored', trigger, {
      scenario: long, signal: { at: 'request', name: 'SIGHUP' }, env: ignoresKeys,
    }],
    ['runctl has a bug', trigger, after(long, breaks)],
  ],

  'A trigger with an idempotency key': [
    ['its run is unfinished', withKey, after(long, withKey)],
    ['its run has completed', withKey, after(short, withKey, '2h')],
    ['its run has failed', withKey, after(ends('FAILED'), withKey, '2h')],
    ['its run is found', `${withKey} --watch --timeout 30s`, { scenario: faulty(lostOnce) }],
    ['its run is found, and has failed', withKey, {
      scenario: faulty(lostOnce, responds('trigger', 201, run('FAILED'))),
    }],
    ['its run cannot be polled', `${withKey} ${brief} -q`, after(faulty(isAway('status')), withKey)],
    ['its run has finished, and is forgotten', `${withKey} -q`,
      after({ ...short, faults: [{ ...unknownRun, nth: 3 }] }, withKey, '2h', 'status @last')
    ],
    ['its run is unfinished, and is forgotten', `${withKey} -q`, after(faulty(unknownRun), withKey, '2h')],
    ['it is refused again', withKey, after({ credits: 0 }, withKey)],
    ['it is used up', `${withKey} --if-active wait -q`,
      after({ ...short, namesActiveRun: true, replayErrors: true }, trigger)
    ],
    ['it was in doubt a day ago', withKey, after(faulty(lost), ...keyLost, '25h')],
    ['it is in doubt, with another API key', withKey, {
      ...after({ ...faulty(lost), apiKeys: ['another-key-123456'] }, ...keyLost), env: otherKey,
    }],
    ['it is in doubt, and ignored', withKey, { ...keyInDoubt, env: ignoresKeys }],
    ['it is in doubt, and refused now', withKey, after(faulty(lost, responds('trigger', 402)), ...keyLost)],
    ['it is dated in the future', withKey, after(faulty(lost), '2h', ...keyLost, '-2h')],
    ['it is to serve several', 'trigger a b --idempotency-key k'],
    ['it is too long', `trigger nightly --idempotency-key {automation}${'-k'.repeat(110)}`],
  ],

  'A watch that ends early': [
    ['the timeout expires', 'watch @last --timeout 1m -q', running],
    ['the timeout expires while the service asks for a wait', 'watch @last --timeout 11m',
      after(faulty(asksToWait('status', 3600)), trigger)
    ],
    ['the service is away', 'watch @last -q --give-up-after 1m', after(faulty(isAway('status')), trigger, '8h')],
    ['the service was never there', `watch nightly/${id} -q --give-up-after 1m`, {
      scenario: faulty(responds('status', 400)),
    }],
    ['the service is away, after a trigger', 'trigger nightly --watch -q --give-up-after 1m', {
      scenario: faulty(isAway('status')),
    }],
    ['the run is not there, and there is no folder', `watch nightly/${id}`, { env: noFolders }],
    ['the API key is refused', 'watch @last', { ...running, env: otherKey }],
    ['the run is not there', `watch nightly/${id}`],
    ['the run is forgotten', 'watch @last', after(faulty(unknownRun), trigger, '2h')],
    ['a signal comes', 'watch @last', { ...running, signal: { at: 'pause', nth: 2 } }],
    ['a signal comes while it waits for the service', 'watch @last -q', {
      ...after(faulty(asksToWait('status', 300)), trigger), signal: { at: 'pause' },
    }],
    ['a signal comes while it reads the result', 'watch @last -q', {
      ...after({ ...ends('FAILED'), faults: [isAway('result')] }, trigger, '2h'), signal: { at: 'pause' },
    }],
    ['the result cannot be read', 'watch @last -q --give-up-after 1m',
      after({ ...short, faults: [isAway('result')] }, trigger)
    ],
    ['the result of a failed run cannot be read', 'watch @last -q --give-up-after 1m',
      after({ ...ends('FAILED'), faults: [isAway('result')] }, trigger)
    ],
    ['the result is late', 'watch @last -q --give-up-after 1m',
      after({ automations: { '*': { duration: '1m', resultLate: '1h' } } }, trigger)
    ],
    ['the result is too large', `watch nightly/${id} -q`, { server: completesTooLarge, env: atServer }],
    ['the timeout expires, but the run is known to have finished', 'watch @last --timeout 1m -q',
      after({ ...short, faults: [{ ...isAway('status'), from: 2 }] }, trigger, '1h', 'status @last')
    ],
    ['the service asks for a wait before the result', 'watch @last -q --timeout 5m',
      after({ ...short, faults: [asksToWait('result', 3600)] }, trigger)
    ],
    ['no run is unfinished', 'watch --all'],
  ],

  'Status and result': [
    ['the run is unfinished', 'status @last --exit-status',
      after(lasts('2m'), ...Array(3).fill('trigger nightly --watch'), trigger, '1m')
    ],
    ['the run failed', 'status @last', after(ends('FAILED', 'step_failed'), trigger, '2h')],
    ['the result is there', 'result @last', over],
    ['the result is not there yet', 'result @last', running],
    ['the service is away', 'result @last', after(faulty(isAway('result')), trigger)],
    ['nothing listens any more', 'status @last -q', after(long, trigger, isGone)],
    ['a page says that it is not there', `status nightly/${id} -q`, {
      scenario: faulty({ on: 'status', do: 'html', status: 404 }),
    }],
    ['the path is not there', `status nightly/${id}`, { scenario: faulty(responds('status', 404)) }],
    ['the path is no longer there', 'status @last -q', after(faulty(responds('status', 404)), trigger, '2h')],
    ['a field is not there', 'result @last --field summary.nosuch', over],
  ],

  'What responds to a status': [
    ['another document', status, { server: serverFaults['another run'], env: atServer }],
    ['a list', status, { server: serverFaults['wrong JSON'], env: atServer }],
    ['a page', status, { server: serverFaults['200 HTML'], env: atServer }],
    ['a page of a gateway', status, { server: serverFaults['502 HTML'], env: atServer }],
    ['a word', status, { server: answer(200, 'welcome'), env: atServer }],
    ['nothing', status, { server: serverFaults['no body'], env: atServer }],
    ['broken gzip', status, { server: serverFaults['broken gzip'], env: atServer }],
    ['an unknown coding', status, { server: answer(200, 'x', 'content-encoding: zstd'), env: atServer }],
    ['half a document', status, { server: serverFaults.truncation, env: atServer }],
    ['a refusal without a word', status, { server: answer(422), env: atServer }],
    ['a refusal with a wait', status, { server: serverFaults['429, seconds'], env: atServer }],
    ['a redirect', status, { server: serverFaults.redirect, env: atServer }],
    ['a redirect to another path', status, { server: serverFaults['see other'], env: atServer }],
    ['a 100', status, { server: serverFaults['early 100'], env: atServer }],
    ['TLS', status, { server: serverFaults['TLS alert'], env: atServer }],
    ['a reset', status, { server: serverFaults.reset, env: atServer }],
    ['a closed connection', status, { server: serverFaults.close, env: atServer }],
    ['no one in time', `${status} --request-timeout 100ms`, {
      server: serverFaults['hang before headers'], env: atServer,
    }],
    ['a proxy that wants a password', status, { server: answer(407), env: throughServer }],
    ['a proxy that wants Negotiate', status, {
      server: answer(407, '', 'proxy-authenticate: Negotiate\r\nproxy-authenticate: NTLM'), env: throughServer,
    }],
    ['a proxy that refuses the host', status, { server: answer(403), env: throughServer }],
    ['a proxy that cannot connect', status, { server: answer(502), env: throughServer }],
    ['a proxy that hangs up', status, { server: serverFaults.close, env: throughServer }],
  ],

  'Which run is meant': [
    ['none is named', 'status'],
    ['there is none', 'status @last'],
    ['none has this name', 'status nigthly', running],
    ['none begins like this, and it is short', 'status abc', running],
    ['two begin like this', 'status 6f1c', after(faulty(first, second), 'trigger a', '1h', 'trigger b')],
    ['its id is not known here', `status ${id}`],
    ['its name is missing', `status ${id}/${id}`],
    ['it is of another automation', `status weekly/${run1}`, running],
    ['it is of another service', `status ${run1}`, { ...running, env: otherService }],
    ['it is of another project', `status ${run1} --project ${id}`, running],
    ['its name is in two projects', 'status nightly', {
      ...after(long, trigger, `trigger ${id}/nightly`), env: noProject,
    }],
    ['the last trigger has no response', 'status @last', inDoubt],
    ['the last trigger has no response, and is old', 'status @last', after(faulty(lost), ...triggerLost, '25h')],
    ['the last trigger has no response, but there is a run', 'status nightly -q',
      after(faulty({ on: 'trigger', from: 2, do: 'reset' }), trigger, '1h', ...triggerLost)
    ],
    ['another run was active since', 'status nightly -q',
      after({ ...short, faults: [meetsActive] }, 'trigger nightly --watch', '1h', trigger)
    ],
  ],

  'The list': [
    ['there is nothing', 'list'],
    ['there is nothing of the kind', `list nightly --status failed --since 2d --project ${id}`, after(short, trigger)],
    ['there is something of each kind', 'list',
      after(losing(failsOrNot, { ...unknownRun, automation: 'gone' }), 'trigger nightly bad gone --watch', '1h',
        loses, 'trigger weekly', '10s')
    ],
    ['several triggers have no response', 'list',
      after(faulty({ on: 'trigger', do: 'reset' }), `trigger a b ${brief}`)
    ],
    ['old triggers have no response', 'list',
      after(faulty({ on: 'trigger', do: 'reset' }), `trigger a b ${brief}`, '25h')
    ],
    ['a trigger is being sent', 'list', { before: [isSent] }],
    ['there is more', 'list -n 1', after(long, 'trigger a b')],
    ['there is nothing of one name', 'list nightly weekly', running],
    ['nothing can be polled', 'list', after(faulty(isAway('status')), 'trigger a b', '2h')],
    ['a status may be missed', 'list --status FAILED', after(faulty(isAway('status')), 'trigger a b', '2h')],
    ['a status may be missed offline', 'list --status FAILED --offline -q', after(faulty(), 'trigger a', '2h')],
    ['a name is mistyped', 'list nigthly', running],
    ['there is no such status', 'list --status foo'],
  ],

  'Recovery': [
    ['there is nothing', 'recover nightly'],
    ['the run is found', 'recover', after(faulty(lost), ...triggerLost, '20m')],
    ['the run is found, and has failed', 'recover',
      after(faulty(lost, responds('trigger', 201, run('FAILED'))), ...triggerLost)
    ],
    ['nothing is sent', 'recover --dry-run', after(faulty(lost), ...triggerLost, '20m')],
    ['it is refused', 'recover', after(faulty(lost, responds('trigger', 402)), ...triggerLost)],
    ['a run is active', 'recover -q', after({ ...faulty(lost), order: 'activeFirst' }, ...triggerLost, '20m')],
    ['a later trigger has a run', 'recover', after({ ...short, faults: [lost] }, ...triggerLost, '10m', trigger)],
    ['the trigger is old', 'recover', after(faulty(lost), ...triggerLost, '2h')],
    ['the trigger is dated in the future', 'recover', after(faulty(lost), '2h', ...triggerLost, '-2h')],
    ['idempotency keys are ignored', 'recover', { ...inDoubt, env: ignoresKeys }],
    ['the API key is another one', 'recover', {
      ...after({ ...faulty(lost), apiKeys: ['another-key-123456'] }, ...triggerLost), env: otherKey,
    }],
    ['the response is lost again', `recover ${brief} -q`,
      after(faulty(loseResponse()), ...triggerLost)
    ],
    ['the trigger is being sent', 'recover', { before: [isSent] }],
  ],

  'The doctor': [
    ['all is well', 'doctor', {
      ...after(short, 'trigger nightly --watch'),
      config: profile({ baseUrl: '<url>', apiKey: 'test-key-4f1b7c9d2e', project: id }),
      env: nothingSet,
    }],
    ['nothing is sent', 'doctor --offline', {
      ...after(long, trigger),
      config: profile({ onExit: 'mail' }),
      env: { ...noKey, RUNCTL_API_KEY_COMMAND: 'pass show runctl' },
    }],
    ['there is something to do', 'doctor', {
      ...after(faulty({ ...lost, automation: 'lost' }), `trigger lost ${brief}`, 'trigger weekly', isSent),
      env: { ...noProject, RUNCTL_KEY: 'x' },
    }],
    ['the API key is refused', 'doctor -q', { env: otherKey }],
    ['the credits are used up', 'doctor -q', { scenario: faulty(responds('status', 402)) }],
    ['a page responds', 'doctor -q', { scenario: faulty({ on: 'status', do: 'html', status: 404 }) }],
    ['the service does not say the time', 'doctor', { server: answer(422, '{"code":"notFound"}'), env: atServer }],
    ['the clock is ahead', 'doctor -q', { before: [isAhead] }],
    ['nothing is set', 'doctor', { env: { ...nothingSet, ...noFolders } }],
    ['the files are broken', 'doctor -q', { config: '{', env: { RUNCTL_STATE_DIR: '/dev/null' } }],
    ['others can read the API key', 'doctor -q', {
      config: profile({ apiKey: 'test-key-4f1b7c9d2e' }), before: [allows(0o644)],
    }],
    ['it cannot ask whether it may try a key', 'doctor --try-key nightly'],
    ['it may not try a key', 'doctor --try-key nightly', { typed: ['n'] }],
    ['keys are honored', 'doctor --try-key nightly --yes', { scenario: short }],
    ['keys are honored, though not said to be', 'doctor --try-key nightly --yes -q', {
      scenario: { ...short, order: 'activeFirst', namesActiveRun: true }, env: ignoresKeys,
    }],
    ['keys are ignored', 'doctor --try-key nightly --yes', { scenario: { ...short, idempotencyKeys: 'ignored' } }],
    ['a tried key finds a run active', 'doctor --try-key nightly --yes', running],
    ['a tried key gets a finished run', 'doctor --try-key nightly --yes -q', {
      scenario: faulty(responds('trigger', 201, run('COMPLETED'))),
    }],
    ['a tried key loses a response', 'doctor --try-key nightly --yes -q', {
      scenario: faulty({ ...lostOnce, to: 2, from: 2 }),
    }],
    ['a tried key is refused', 'doctor --try-key nightly --yes -q', {
      scenario: faulty({ ...responds('trigger', 402), from: 2 }),
    }],
    ['a tried key loses its run', 'doctor --try-key nightly --yes -q', {
      scenario: { ...faulty(unknownRun), order: 'activeFirst' },
    }],
  ],

  'The settings': [
    ['one of them is refused', 'config list', {
      config: { profiles: { default: { project: id }, staging: {} } }, env: { RUNCTL_BASE_URL: 'api.example.com' },
    }],
    ['one is not set', 'config get project', { env: noProject }],
    ['there is no folder', 'config path', { env: noFolders }],
    ['one is stored', `config set project ${id} --profile staging`, { env: noProject }],
    ['one is stored, and has no effect', 'config set baseUrl https://api.example.com'],
    ['a command is stored, and has no effect', "config set apiKeyCommand 'pass show runctl'", {
      config: profile({ apiKey: 'stored-key-123456' }), env: nothingSet,
    }],
    ['one is stored where others could write', `config set project ${id}`, {
      config: profile({}), before: [allows(0o666)], env: noProject,
    }],
    ['one is removed', 'config unset project', { config: profile({ project: id }) }],
    ['one that is not there is removed', 'config unset project'],
    ['another profile is chosen', 'config set profile staging', { config: { profiles: { staging: {} } } }],
    ['a profile is chosen that is not there', 'config set profile staging'],
    ['a profile has an odd name', "config set project x --profile 'x y'"],
    ['there is no such setting', 'config set color blue'],
    ['a setting and its value are one word', 'config set project=x'],
    ['a setting has two values', 'config set project a b'],
    ['a setting has no value', 'config set baseUrl'],
    ['the API key would be seen', 'config set apiKey sk-1234567890'],
    ['the API key is short', 'config set apiKey', { input: 'abc\n' }],
    ['the base URL has a password', 'config set baseUrl https://me:secret@api.example.com'],
    ['the timeout is long', 'config set requestTimeout 1h'],
    ['the word for idempotency keys is another one', 'config set idempotencyKeys maybe'],
    ['nothing can be asked', 'config'],
    ['they are asked for', 'config', {
      env: nothingSet,
      typed: ['ftp://x', '', '<url>', 'abc', 'wrong-key-0123456789', 'test-key-4f1b7c9d2e', 'nightly', id],
    }],
    ['they are asked for, and do not work', 'config --profile staging', { env: nothingSet, typed: questions }],
    ['they are asked for, until Ctrl-C', 'config', { env: nothingSet, typed: ['<url>', '\u0003'] }],
  ],

  'Settings that do not work': [
    ['there is no base URL', trigger, { env: { ...nothingSet, HOME: '/nowhere' } }],
    ['there is no base URL, and no folder', trigger, { env: { ...nothingSet, ...noFolders } }],
    ['there is no project', trigger, { env: noProject }],
    ['the project is a name', 'status @last --project nightly'],
    ['there is no such profile', 'status @last --profile x', { config: { profiles: { staging: {} } } }],
    ['there is no such profile, and no folder', 'status @last --profile x', { env: noFolders }],
    ['the base URL is plain HTTP', 'status @last', { env: { RUNCTL_BASE_URL: 'http://api.example.com' } }],
    ['the API key is for another base URL', 'status @last', {
      config: profile({ baseUrl: 'https://api.example.com', apiKey: 'stored-key-123456' }), env: noKey,
    }],
    ['the API key is for no base URL', 'status @last', { config: profile({ apiKey: 'stored-key-123456' }), env: noKey }],
    ['the API key is given twice', 'status @last', { env: { RUNCTL_API_KEY_FILE: '/nowhere/key' } }],
    ['the API key is in no file', 'status @last --api-key-file /nowhere/key.txt'],
    ['the API key is in another value', 'trigger test-key-4f1b7c9d2e'],
    ['the API key command fails', status, {
      env: { ...noKey, RUNCTL_API_KEY_COMMAND: 'echo no access >&2; exit 3' }, isReal: true,
    }],
    ['the config file has another form', 'status @last', { config: profile({ project: 1 }) }],
    ['the config file is a folder', 'status @last', {
      before: [(machine) => mkdirSync(configFile(machine), { recursive: true })],
    }],
    ['the config file can be written by others', 'status @last', {
      config: profile({ project: id }), before: [allows(0o666)], env: noProject,
    }],
    ['the journal cannot be read', 'list', { env: { RUNCTL_STATE_DIR: '/dev/null' } }],
    ['the journal cannot be written', 'trigger nightly -q', { scenario: long, env: { RUNCTL_STATE_DIR: '/dev/null' } }],
    ['the proxy is no URL', trigger, {
      env: { RUNCTL_BASE_URL: 'https://api.example.com', HTTPS_PROXY: 'ftp://proxy' },
    }],
    ['the password of the proxy is not escaped', trigger, {
      env: { RUNCTL_BASE_URL: 'https://api.example.com', HTTPS_PROXY: 'http://user:pass#word@proxy:3128' },
    }],
    ['a variable is unknown', 'config path', { env: { RUNCTL_URL: 'x' } }],
    ['variables are unknown', 'config path', { env: { RUNCTL_URL: 'x', RUNCTL_KEY: 'x' } }],
  ],

  'A command line that is refused': [
    ['there is no such command', 'triger nightly'],
    ['there is no such page', 'help nothing'],
    ['nothing cancels', 'cancel'],
    ['nothing has logs', 'logs'],
    ['there is no command', '--profile staging'],
    ['there is no command of a group', 'agent'],
    ['there is no such flag', 'list --ofline'],
    ['there is no argument', 'trigger'],
    ['there is no argument, though some are known', 'trigger', after(long, 'trigger weekly nightly')],
    ['there are two arguments', 'status a b'],
    ['there is an argument', 'config list a'],
    ['a flag has a long dash', 'result nightly —quiet'],
    ['a flag has no value', 'list --limit'],
    ['a flag has another as its value', 'trigger nightly --idempotency-key --watch'],
    ['a flag has a value', 'list --offline=1'],
    ['two flags exclude each other', 'doctor --offline --try-key nightly'],
    ['a flag excludes arguments', 'watch nightly --all'],
    ['a flag needs another', 'trigger nightly --interval 5s'],
    ['a value is none of some', 'trigger nightly --if-active stop'],
    ['a value is no duration', 'watch @last --timeout 5'],
    ['a value is no time', 'list --since noon'],
    ['a value is no whole number', 'list -n 0'],
    ['a value is no number', 'watch @last --rate 0'],
    ['a value is 0', 'watch @last --interval 0s'],
    ['a value is empty', "list --status ''"],
    ['a value is no path', 'status @last --field summary..steps'],
    ['a value is no field', 'status @last --field nosuch'],
    ['a value is no field of runctl', 'status @last --field runctl.nosuch'],
    ['a value is no idempotency key', "trigger nightly --idempotency-key 'a b'"],
    ['names are odd', "trigger '' ' a' -- -b list a,b 'a*' a/b '<name>' '“a”' 'a -b'"],
    ['a name is a run', `trigger nightly/${id}`],
    ['a name is a status', 'list failed'],
    ['a name is missing', `trigger ${id}/`],
    ['a name is a dot', 'trigger ..'],
    ['a code is none', 'explain 99'],
  ],

  'Agents': [
    ['one is triggered', `agent trigger ${id}`, {
      server: answer(201, `{"executionId":"${id}","status":"RUNNING"}`), env: atServer,
    }],
    ['they are gone', `agent trigger ${id}`],
    ['a response is lost', `agent trigger ${id} -q`, { server: serverFaults.reset, env: atServer }],
    ['a response is lost, and there is a key', `agent trigger ${id} -q --idempotency-key k`, {
      server: serverFaults.reset, env: atServer,
    }],
    ['a status is lost', `agent status ${id} ${id} -q`, { server: serverFaults.reset, env: atServer }],
    ['an id is none', 'agent status nightly x'],
  ],

  'Other commands': [
    ['an exit code is explained', 'explain 12'],
    ['the emulator runs', 'emulator', { signal: { at: 'start' } }],
    ['the emulator has a command that is none', 'emulator -- bad-day'],
  ],
};

/** As a shell takes it. */
const typedIn = (line: string, { env = {} }: Situation) =>
  ['$', ...Object.entries(env).map(([name, value]) => `${name}=${value && shellWord(value)}`), 'runctl', line]
    .join(' ')
    .trimEnd();

const isUpdate = process.env.UPDATE_WORDS === '1';
const pinned = readFileSync(file, 'utf8').split(/\n(?=# )/);
const blocks = [`What runctl says, by situation. This page is written by ${update}\n`];

afterAll(() => {
  if (isUpdate && blocks.length === Object.values(sections).flat().length + 1) writeFileSync(file, blocks.join('\n'));
});

test.each(Object.entries(sections))('%s: people read what test/words.txt has', async (section, rows) => {
  const isOfSection = (block: string) => block.startsWith(`# ${section}: `);
  for (const [name, line, situation = {}] of rows) {
    const { code, text } = await saidIn(line, situation);
    blocks.push(`# ${section}: ${name} (exit code ${code})\n${typedIn(line, situation)}\n${text}`);
  }
  const [shown, expected] = [blocks.filter(isOfSection), pinned.filter(isOfSection)];
  const differing = shown.filter((block) => !expected.includes(block)).map((block) => block.split('\n')[0]);
  const why = `These read differently: ${differing.join('; ')}. If they read well: ${update}`;
  expect(isUpdate || shown.join('\n'), why).toBe(isUpdate || expected.join('\n'));
});

test('test/words.txt has no situation that was removed', () => {
  const names = Object.keys(sections);
  const isGone = (block: string) => !names.some((section) => block.startsWith(`# ${section}: `));
  expect(isUpdate || pinned.filter(isGone)).toEqual(isUpdate || blocks.slice(0, 1));
});
