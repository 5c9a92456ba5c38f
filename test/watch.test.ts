// Following runs: `watch`, `trigger --watch`, `status` and `result` as a user types them.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  acceptedAs,
  byName,
  completed,
  connectionLost,
  executionId,
  failed,
  failedResult,
  fullPath,
  given,
  html,
  interrupting,
  json,
  noonMs,
  notFound,
  otherId,
  output,
  type Request,
  type Response,
  resultOf,
  run,
  running,
  statusOf,
} from './given.ts';

const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const times = (count: number, response: Response) => Array.from({ length: count }, () => response);
const seconds = (requests: Request[]) => requests.map(({ atMs }) => (atMs - noonMs) / secondMs);
const minutesOn = (clock: { elapsedMs(): number }) => Math.round(clock.elapsedMs() / minuteMs);
const isPoll = ({ method, path }: Request) => method === 'GET' && !path.endsWith('/result');

const unavailable = json(503, { message: 'Down for maintenance' });
const unauthorized = json(401, { message: 'The API key has expired' });

test('trigger --watch starts a run, polls it until it has finished, and reads its result', async () => {
  const { runctl, requests, journal } = await given({ status: [running, completed] });

  const { exitCode, stdout, stderr } = await runctl('trigger nightly --watch');

  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/nightly COMPLETED in 5m 2s, 3 steps, 12 credits, run 4b7c19e2-.*\n/);
  expect(stdout).toMatch(/\nThe report was sent to 3 people\.\n$/);
  expect(stderr).toContain(executionId);
  const paths = requests.map(({ method, path }) => `${method} ${path.split('nightly/')[1]}`);
  const poll = `GET executions/${executionId}`;
  expect(paths).toEqual(['POST trigger', poll, poll, `${poll}/result`]);
  for (const { headers } of requests.slice(1)) {
    expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'accept-encoding': 'identity' });
  }
  expect(journal()).toMatchObject([
    { type: 'sent', name: 'nightly' },
    { type: 'accepted', executionId },
    { type: 'status', executionId, status: 'RUNNING', isFinal: false },
    { type: 'status', executionId, status: 'COMPLETED', isFinal: true, creditsCharged: 12 },
  ]);
});

test.each([
  ['COMPLETED', 0, 'ok'],
  ['FAILED', 1, 'run_failed'],
  ['TIMED_OUT', 3, 'run_timed_out'],
  ['CANCELLED', 4, 'run_cancelled'],
  ['EXPIRED', 15, 'unrecognized_status'],
])('of a run that has finished as %s, the exit code is %i', async (word, code, outcome) => {
  const { runctl } = await given({ status: [statusOf(word)], result: [resultOf(word)] });

  for (const line of [
    'trigger nightly --watch',
    'watch nightly',
    'result nightly',
    'status nightly --exit-status',
  ]) {
    const { exitCode, document } = await runctl(`${line} --json`);
    expect({ line, exitCode }).toEqual({ line, exitCode: code });
    expect(document).toMatchObject({ status: word, runctl: { outcome, exitCode: code } });
    expect(document.runctl).not.toHaveProperty('error');
  }
  expect((await runctl('status nightly')).exitCode).toBe(0);
});

test.each([
  ['status nightly', 'FAILED', /^ {2}→ .*runctl result \S*nightly\S*\n$/],
  ['status nightly -q', 'FAILED', /^$/],
  ['status nightly --field status', 'FAILED', /^$/],
  ['status nightly', 'COMPLETED', /^$/],
  ['watch nightly', 'EXPIRED', /^runctl: .*version doesn't know \(EXPIRED\)\n$/m],
])('%s of a run that has finished as %s says what comes next', async (line, word, said) => {
  const { runctl } = await given({ status: [statusOf(word)], result: [resultOf(word)] });
  await runctl('trigger nightly');

  expect((await runctl(line)).stderr).toMatch(said);
});

test('how long is usual is said once three runs have completed', async () => {
  const ids = ['1', '2', '3', '4'].map((digit) => executionId.replace('4', digit));
  const polls = ids.flatMap(() => [running, completed]);
  const { runctl } = await given({ trigger: ids.map(acceptedAs), status: polls });
  const isSaid: boolean[] = [];
  for (const _ of ids) {
    await runctl('trigger nightly');
    isSaid.push((await runctl('status nightly')).stdout.includes('usually 5m'));
    await runctl('watch nightly');
  }
  expect(isSaid).toEqual([false, false, false, true]);
});

test('a run that goes on is 16 for result and status --exit-status, and 0 for status', async () => {
  const { runctl, requests } = await given({ status: [running] });

  for (const [line, code] of [
    [`status ${fullPath}`, 0],
    [`status ${fullPath} --exit-status`, 16],
    [`result ${fullPath}`, 16],
  ] as const) {
    const { exitCode, document } = await runctl(`${line} --json`);
    expect({ line, exitCode }).toEqual({ line, exitCode: code });
    expect(document.runctl).toMatchObject({ outcome: 'still_running', exitCode: code });
    expect(document.runctl.next).toContain(`runctl watch ${fullPath}`);
    expect(document.runctl).not.toHaveProperty('error');
  }
  expect(requests).toHaveLength(3);
});

describe('the pause between polls', () => {
  test.each([
    [0, '', 3],
    [100, '', 5],
    [3600, '', 15],
    [3600, '--interval 1m', 60],
    [-3600, '', 3],
  ])('of a run that started %i seconds ago is, with "%s", %i seconds', async (age, flags, gap) => {
    const startedAt = new Date(noonMs - age * secondMs).toISOString();
    const { runctl, requests } = await given({
      status: [statusOf('RUNNING', { startedAt }), completed],
    });

    await runctl(`watch ${fullPath} ${flags}`);

    expect(seconds(requests).slice(0, 2)).toEqual([0, gap]);
  });

  test('grows to what Retry-After asks for, but to 10 minutes at most', async () => {
    const asking = (retryAfter: string) => json(200, run('RUNNING'), { 'retry-after': retryAfter });
    const limited = json(429, {}, { 'retry-after': '3600' });
    const { runctl, requests } = await given({
      status: [asking('60'), asking('3600'), limited, completed],
    });

    await runctl(`watch ${fullPath}`);

    expect(seconds(requests).slice(0, 4)).toEqual([0, 60, 660, 1260]);
  });

  test('of all requests of a command together is 100 ms at least', async () => {
    const { runctl, requests, clock } = await given();

    await runctl('trigger a b c d e f g h i j --watch');

    expect(requests).toHaveLength(30);
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(2900);
  });
});

/** What may pass by itself, with the exit code of a command that doesn't wait for it. */
const outages: [string, Response, number][] = [
  ['a lost connection', connectionLost, 10],
  ['a 503', unavailable, 10],
  ['a 408', json(408, {}), 10],
  ['a 409', json(409, {}), 10],
  ['a 425', json(425, {}), 10],
  ['a 429', json(429, {}), 9],
  ['a 403 with Retry-After', json(403, {}, { 'retry-after': '5' }), 9],
  ["a firewall's page", html(403), 10],
  ['a login page', html(200), 10],
  ['a 200 without a status', json(200, { executionId }), 10],
  ['a 200 about another run', json(200, run('COMPLETED', {}, otherId)), 10],
  ['a 206', json(206, run('COMPLETED')), 10],
  ['a list', json(200, [run('COMPLETED')]), 10],
];

describe.each(outages)('an outage (%s)', (_, outage, code) => {
  test('ends nothing after the first valid answer, however long it lasts', async () => {
    const { runctl, clock } = await given({ status: [running, ...times(80, outage), completed] });

    const { exitCode, stderr } = await runctl(`watch ${fullPath}`);

    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/RUNNING .*, no response for \d+s, still trying \(.*\)\n/);
    expect(minutesOn(clock)).toBeGreaterThan(10);
  });

  test.each([
    ['the patience if there was no valid answer', [], '', 10],
    ['a --give-up-after that was given', [running], '--give-up-after 1m', 1],
  ])('ends the command after %s', async (_, before, flags, minutes) => {
    const { runctl, clock } = await given({ status: [...before, outage] });

    const { exitCode } = await runctl(`watch ${fullPath} ${flags}`);

    expect([exitCode, minutesOn(clock)]).toEqual([code, minutes]);
  });
});

test('the 201 to a trigger is a valid answer, so that an outage right after it ends nothing', async () => {
  const { runctl, clock } = await given({ status: [...times(80, unavailable), completed] });

  expect((await runctl('trigger nightly --watch')).exitCode).toBe(0);
  expect(minutesOn(clock)).toBeGreaterThan(10);
});

/** What doesn't pass by itself. */
const refusals: [number, unknown, number][] = [
  [302, {}, 10],
  [400, {}, 11],
  [401, { message: 'The API key has expired' }, 7],
  [402, {}, 8],
  [403, {}, 7],
  [404, {}, 6],
  [410, {}, 6],
  [422, { code: 'notFound' }, 6],
];

describe.each(refusals)('a refusal (HTTP %i %j)', (httpStatus, body, code) => {
  const refusal = json(httpStatus, body);

  test.each(['watch', 'status', 'result'])('ends %s at once', async (command) => {
    const { runctl, requests, journal } = await given({ status: [refusal] });

    const { exitCode, document } = await runctl(`${command} ${fullPath} --json`);

    expect(exitCode).toBe(code);
    expect(document).toMatchObject({ executionId, runctl: { exitCode: code } });
    expect(document.runctl.error).toMatchObject({ httpStatus });
    expect(requests).toHaveLength(1);
    expect(journal()).toEqual([]);
  });

  test('after the first valid answer ends a watch once it has lasted for the patience', async () => {
    const { runctl, clock } = await given({ status: [running, refusal] });

    const { exitCode, stderr } = await runctl(`watch ${fullPath}`);

    expect(exitCode).toBe(code);
    expect(stderr).toContain(`HTTP ${httpStatus}`);
    expect(minutesOn(clock)).toBe(10);
  });

  test('that passes ends no watch', async () => {
    const { runctl } = await given({ status: [running, ...times(20, refusal), completed] });

    expect((await runctl(`watch ${fullPath}`)).exitCode).toBe(0);
  });
});

test('the patience with a refusal begins anew after an outage', async () => {
  const refused = times(25, unauthorized);
  const { runctl, clock } = await given({
    status: [running, ...refused, unavailable, ...refused, completed],
  });

  expect((await runctl(`watch ${fullPath}`)).exitCode).toBe(0);
  expect(minutesOn(clock)).toBeGreaterThan(10);
});

test('a run that was started but cannot be followed is 14, and the command to type names it', async () => {
  const { runctl } = await given({ status: [running, unavailable] });

  const line = 'trigger nightly --watch --give-up-after 1m --json';
  const { exitCode, stderr, document } = await runctl(line);

  expect(exitCode).toBe(14);
  expect(document).toMatchObject({ executionId, status: 'RUNNING' });
  expect(document.runctl).toMatchObject({ outcome: 'watch_failed', exitCode: 14 });
  expect(document.runctl).toMatchObject({
    trigger: { started: 'yes' },
    error: { httpStatus: 503 },
  });
  expect(document.runctl.next).toContain(`runctl watch ${fullPath}`);
  expect(stderr).toMatch(/nightly continues/);
});

describe('a run that the service does not find', () => {
  test.each([
    ['404', json(404, {})],
    ['410', json(410, {})],
    ['422 notFound', notFound],
    ['422 in JSON', json(422, { message: 'no' })],
  ])('is asked for again (%s) if the journal has it', async (_, missing) => {
    const { runctl } = await given({ status: [missing, missing, completed] });
    await runctl('trigger nightly');

    expect((await runctl('watch nightly')).exitCode).toBe(0);
  });

  test('is 6 after the patience, 14 after its trigger, and never recorded', async () => {
    const { runctl, clock, journal } = await given({ status: [notFound] });

    expect((await runctl('trigger nightly --watch')).exitCode).toBe(14);
    const { exitCode } = await runctl(`watch ${fullPath}`);

    expect(exitCode).toBe(6);
    expect(minutesOn(clock)).toBe(20);
    expect(journal().map(({ type }) => type)).toEqual(['sent', 'accepted']);
  });
});

describe('--timeout', () => {
  test.each([
    ['which may find that the run has finished', completed, 0],
    ['and the run continues', running, 124],
    ['also in an outage', unavailable, 124],
  ])('ends with a last poll, %s', async (_, last, code) => {
    const { runctl, requests } = await given({ status: [running, last] });

    const line = `watch ${fullPath} --timeout 10s --interval 1m --json`;
    const { exitCode, document } = await runctl(line);

    expect(exitCode).toBe(code);
    expect(document.runctl.outcome).toBe(code === 0 ? 'ok' : 'timeout');
    expect(seconds(requests.filter(isPoll))).toEqual([0, 10]);
    if (code === 124) expect(document.runctl.next).toContain(`runctl watch ${fullPath}`);
  });

  test('that expires during the first poll leaves a refusal its own code', async () => {
    const late: Response = (request, response, world) => {
      world.clock.pass(minuteMs);
      unauthorized(request, response, world);
    };
    const { runctl } = await given({ status: [late] });

    expect((await runctl(`watch ${fullPath} --timeout 10s`)).exitCode).toBe(7);
  });

  test('is 3h15m, and 0 means never', async () => {
    const { runctl, requests } = await given({ status: [...times(10, running), completed] });

    expect((await runctl(`watch ${fullPath} --interval 1h`)).exitCode).toBe(124);
    expect(seconds(requests)).toEqual([0, 3600, 7200, 10_800, 11_700]);
    expect((await runctl(`watch ${fullPath} --interval 1h --timeout 0`)).exitCode).toBe(0);
  });
});

describe('a signal', () => {
  test.each([
    ['SIGINT', 130, 'during a poll', undefined],
    ['SIGTERM', 143, 'in a pause', running],
    ['SIGHUP', 129, 'in an outage', json(429, {}, { 'retry-after': '60' })],
    ['SIGINT', 130, 'before a late poll', json(200, run('RUNNING'), { 'retry-after': '60' })],
  ] as const)('%s ends a watch at once with %i %s', async (signal, code, _, answer) => {
    const interrupted: Response = (request, response, world) => {
      if (!answer) return interrupting(signal)(request, response, world);
      world.clock.duringSleep(() => world.interrupt(signal));
      answer(request, response, world);
    };
    const { runctl, requests, clock } = await given({ status: [running, interrupted] });

    const { exitCode, stdout, stderr } = await runctl(`watch ${fullPath} --timeout 30s`);

    expect(exitCode).toBe(code);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/nightly continues/);
    expect(stderr).toContain(`runctl watch ${fullPath}`);
    expect(requests).toHaveLength(2);
    expect(clock.elapsedMs()).toBeLessThan(4 * secondMs);
  });

  test('after the run has completed leaves its result unread', async () => {
    const { runctl } = await given({ result: [interrupting('SIGTERM')] });

    const { exitCode, document } = await runctl(`watch ${fullPath} --json`);

    expect(exitCode).toBe(143);
    expect(document).toMatchObject({ status: 'COMPLETED', runctl: { exitCode: 143 } });
  });

  test('leaves a document for each argument, in order', async () => {
    const { runctl } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      status: [interrupting()],
      runs: { [otherId]: { status: [running] } },
    });
    await runctl('trigger nightly');
    await runctl('trigger export');

    const { exitCode, documents } = await runctl('watch export nightly --json');

    expect(exitCode).toBe(130);
    const runctlFields = { outcome: 'interrupted', exitCode: 130 };
    expect(documents).toMatchObject([
      { executionId: otherId, runctl: runctlFields },
      { executionId, runctl: runctlFields },
    ]);
  });
});

test('a status that this version does not know is shown, and followed if it has no completedAt', async () => {
  const paused = statusOf('PAUSED', { completedAt: null });
  const { runctl } = await given({ status: [running, paused, completed] });

  const { exitCode, stderr } = await runctl(`watch ${fullPath}`);

  expect(exitCode).toBe(0);
  expect(stderr).toContain('PAUSED');
});

test('a status that this version does not know is final, and recorded so, once it has one', async () => {
  const skipped = statusOf('SKIPPED', { completedAt: null });
  const { runctl, journal } = await given({
    status: [skipped, statusOf('SKIPPED')],
    result: [resultOf('SKIPPED')],
  });

  expect((await runctl(`watch ${fullPath}`)).exitCode).toBe(15);
  expect(journal().map(({ isFinal }) => isFinal)).toEqual([false, true]);
});

describe('the result', () => {
  test('is read again while it says RUNNING, and whatever fails', async () => {
    const still = resultOf('RUNNING', { completedAt: null });
    const { runctl, requests } = await given({
      result: [still, notFound, unauthorized, unavailable, connectionLost, output],
    });

    const { exitCode, stdout } = await runctl(`watch ${fullPath}`);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('The report was sent');
    expect(requests.filter(({ path }) => path.endsWith('/result'))).toHaveLength(6);
  });

  test.each([
    ['COMPLETED', 'FAILED', 'FAILED', 1],
    ['FAILED', 'COMPLETED', 'FAILED', 1],
    ['CANCELLED', 'FAILED', 'CANCELLED', 4],
    ['COMPLETED', 'EXPIRED', 'EXPIRED', 15],
  ])('of a run that is %s, but there %s, warns, and %s decides', async (...row) => {
    const [status, ofResult, decides, code] = row;
    const { runctl, journal } = await given({
      status: [statusOf(status)],
      result: [resultOf(ofResult)],
    });

    const { exitCode, document, stderr } = await runctl(`watch ${fullPath} --json`);

    expect(exitCode).toBe(code);
    expect(document.status).toBe(decides);
    expect(document.runctl.warnings).toEqual([expect.stringContaining(ofResult)]);
    expect(stderr).toContain('warning');
    expect(journal().at(-1)).toMatchObject({ status: decides, isFinal: true });
    await runctl(`status ${fullPath}`);
    expect((await runctl('list --json')).document.status).toBe(decides);
  });

  test.each([
    ['COMPLETED', 13, 'result_unavailable'],
    ['FAILED', 1, 'run_failed'],
  ])('of a run that is %s is given up after the patience: %i', async (word, code, outcome) => {
    const { runctl, clock } = await given({ status: [statusOf(word)], result: [notFound] });

    const watched = await runctl(`watch ${fullPath} --json`);

    expect(watched.exitCode).toBe(code);
    expect(watched.document).toMatchObject({ status: word, runctl: { outcome, exitCode: code } });
    expect(minutesOn(clock)).toBe(10);
    const { exitCode } = await runctl(`result ${fullPath}`);
    expect(exitCode).toBe(code);
  });

  test('is printed as it was sent', async () => {
    const bytes = '\u001b[31mä\r\n::error::\u202e\u0000no line feed';
    const { runctl } = await given({ result: [resultOf('COMPLETED', { output: bytes })] });

    expect((await runctl(`result ${fullPath}`)).stdout).toBe(bytes);
    expect((await runctl(`result ${fullPath} --field output`)).stdout).toBe(`${bytes}\n`);
    expect((await runctl(`result ${fullPath} --json`)).document.output).toBe(bytes);
    expect((await runctl(`watch ${fullPath}`)).stdout).not.toContain('\u001b');
  });

  test('of a run that failed is its error, on stderr', async () => {
    const { runctl } = await given({ status: [failed], result: [failedResult] });

    const { stdout, stderr } = await runctl(`result ${fullPath}`);

    expect(stdout).toBe('');
    expect(stderr).toContain('the mail server said no');
  });
});

test('status and result give up after 30 seconds', async () => {
  const { runctl, clock } = await given({ status: [unavailable] });

  expect((await runctl(`status ${fullPath}`)).exitCode).toBe(10);
  expect((await runctl(`result ${fullPath}`)).exitCode).toBe(10);
  expect(minutesOn(clock)).toBe(1);
});

test.each(['status', 'result'])('%s gives up after --give-up-after', async (command) => {
  const { runctl, clock } = await given({ status: [unavailable] });

  expect((await runctl(`${command} ${fullPath} --give-up-after 5m`)).exitCode).toBe(10);
  expect(minutesOn(clock)).toBe(5);
});

test('status in a loop does not fill the journal', async () => {
  const { runctl, journal } = await given({ status: [failed], result: [failedResult] });
  await runctl('trigger nightly --watch');
  const before = journal();

  await runctl('status nightly');
  await runctl('status nightly');

  expect(journal()).toEqual(before);
});

test.each([
  ['a file', (path: string) => ({ env: { RUNCTL_API_KEY_FILE: path }, profile: {} })],
  ['a command', (path: string) => ({ env: {}, profile: { apiKeyCommand: `cat ${path}` } })],
])('an API key from %s is read again after a 401', async (_, sourceOf) => {
  const keyFile = () => join(folder, 'key.txt');
  const renewed: Response = (...args) => {
    writeFileSync(keyFile(), 'sk-live-new');
    unauthorized(...args);
  };
  const { runctl, requests, folder, baseUrl } = await given({
    env: { RUNCTL_API_KEY: '' },
    status: [running, renewed, completed],
  });
  const { env, profile } = sourceOf(keyFile());
  const config = JSON.stringify({ profiles: { default: { baseUrl, ...profile } } });
  writeFileSync(join(folder, 'config.json'), config, { mode: 0o600 });
  writeFileSync(keyFile(), 'sk-live-old', { mode: 0o600 });

  await runctl(`watch ${fullPath}`, env);

  const keys = requests.filter(isPoll).map(({ headers }) => headers['x-api-key']);
  expect(keys).toEqual(['sk-live-old', 'sk-live-old', 'sk-live-new']);
});

describe('watch --all', () => {
  const oldId = otherId.replace(/^.{4}/, '0000');

  test('follows every unfinished run of the last 24 hours', async () => {
    const { runctl, requests, clock } = await given({
      trigger: [acceptedAs(oldId), acceptedAs(otherId), accepted],
    });
    await runctl('trigger yesterday');
    clock.pass(25 * hourMs);
    await runctl('trigger export --watch');
    await runctl('trigger nightly');
    requests.length = 0;

    const { exitCode, documents } = await runctl('watch --all --json');

    expect(exitCode).toBe(0);
    expect(documents).toMatchObject([{ executionId, status: 'COMPLETED' }]);
    expect(requests).toHaveLength(2);
  });

  test('follows no run of another API key, but one that this one has sent, too', async () => {
    const { runctl, folder, journal } = await given({ trigger: [acceptedAs(otherId), accepted] });
    await runctl('trigger export', { RUNCTL_API_KEY: 'another-key' });
    await runctl('trigger nightly');
    const [{ apiKeyHash }, , sent] = journal();
    const other = JSON.stringify({ ...sent, id: 'other', apiKeyHash });
    appendFileSync(join(folder, 'journal/00000001.jsonl'), `${other}\n`);

    const { documents } = await runctl('watch --all --json');

    expect(documents.map((each) => each.executionId)).toEqual([executionId]);
  });

  test('names triggers that are unknown: 12', async () => {
    const { runctl, requests } = await given({ trigger: [connectionLost, accepted] });
    await runctl('trigger import --give-up-after 0');
    await runctl('trigger nightly');
    requests.length = 0;

    const { exitCode, stderr, stdout } = await runctl('watch --all');

    expect(exitCode).toBe(12);
    expect(stderr).toMatch(/import may have been started/);
    expect(stderr).toContain('runctl recover import');
    expect(stdout).toMatch(/nightly COMPLETED/);
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('follows a run once that two triggers got', async () => {
    const { runctl } = await given();
    await runctl('trigger nightly');
    await runctl('trigger nightly');

    const { exitCode, documents } = await runctl('watch --all --json');

    expect([exitCode, documents.length]).toEqual([0, 1]);
    expect((await runctl('watch --all')).stderr).toContain('nothing to watch');
  });

  test('says that there is nothing to follow: 0', async () => {
    const { runctl } = await given();

    const { exitCode, stdout, stderr } = await runctl('watch --all');

    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toContain('nothing to watch');
    expect((await runctl('watch --all --quiet')).stderr).toBe('');
  });
});

describe('of several runs', () => {
  test.each([
    ['COMPLETED', 'COMPLETED', 0],
    ['COMPLETED', 'CANCELLED', 4],
    ['FAILED', 'CANCELLED', 1],
    ['CANCELLED', 'FAILED', 4],
  ])('%s and %s, the first that is not 0 decides: %i', async (first, second, code) => {
    const { runctl } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      status: [statusOf(first)],
      result: [resultOf(first)],
      runs: { [otherId]: { status: [statusOf(second)], result: [resultOf(second)] } },
    });
    await runctl('trigger nightly');
    await runctl('trigger export');

    const { exitCode, documents } = await runctl('watch nightly export --json');

    expect(exitCode).toBe(code);
    expect(documents).toMatchObject([{ status: first }, { status: second }]);
  });

  test('a signal comes before 12, and 12 before a run that failed', async () => {
    const either = byName({ nightly: accepted, import: connectionLost });
    const { runctl } = await given({
      trigger: [either, either, acceptedAs(otherId)],
      status: [failed],
      result: [failedResult],
      runs: { [otherId]: { status: [interrupting('SIGTERM')] } },
    });
    const line = 'trigger nightly import --watch --give-up-after 0';
    expect((await runctl(line)).exitCode).toBe(12);

    await runctl('trigger export');
    expect((await runctl('watch --all')).exitCode).toBe(143);
  });

  test('the same one twice is refused', async () => {
    const { runctl, requests } = await given();
    await runctl('trigger nightly');

    expect((await runctl(`watch nightly ${executionId.slice(0, 6)}`)).exitCode).toBe(2);
    expect(requests).toHaveLength(1);
  });
});

test.each([
  ['EPIPE', completed, 141],
  ['ENOSPC', completed, 74],
  ['EPIPE', failed, 1],
] as const)(
  'an output that cannot be written (%s) replaces only 0',
  async (stdoutError, status, code) => {
    const { runctl } = await given({ stdoutError, status: [status], result: [output] });

    const { exitCode, stderr } = await runctl('trigger nightly --watch --quiet');

    expect(exitCode).toBe(code);
    expect(stderr).toContain(executionId);
  },
);

test('a reader that leaves gets no message if no id is lost', async () => {
  const { runctl } = await given({ stdoutError: 'EPIPE' });

  const { exitCode, stderr } = await runctl(`status ${fullPath}`);

  expect([exitCode, stderr]).toEqual([141, '']);
});
