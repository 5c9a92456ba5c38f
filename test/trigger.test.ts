// `trigger` as a user types it.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  accepted,
  acceptedAs,
  alreadyActive,
  apiKey,
  byName,
  connectionLost,
  executionId,
  failed,
  failedResult,
  given,
  html,
  interrupting,
  json,
  keyOf,
  noonMs,
  otherId,
  projectId,
  type Response,
  run,
  running,
  statusOf,
} from './given.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const uuid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);

const error = (httpStatus: number, headers: Record<string, string> = {}) =>
  json(httpStatus, { message: 'no' }, headers);
const noCredits = json(402, { code: 'insufficientCredits', message: 'Your balance is 0' });
const outage = error(503);
const rateLimited = error(429);
const movedTo = (location: string) => error(307, { location });

/** Answers, and something happens while runctl waits after that. */
const answerThen =
  (answer: Response, happens: (world: Parameters<Response>[2]) => void): Response =>
  (request, response, world) => {
    world.clock.duringSleep(() => happens(world));
    answer(request, response, world);
  };

/** Something happens before the answer. */
const answerAfter =
  (happens: () => unknown, answer: Response): Response =>
  async (...request) => {
    await happens();
    answer(...request);
  };

/** The journal can be read, but no longer written. Returns what repairs it. */
function breakJournal(folder: string) {
  mkdirSync(`${folder}/journal`, { recursive: true });
  const newestFile = `${folder}/journal/00000009.jsonl`;
  symlinkSync('/proc/missing/file', newestFile);
  return () => rmSync(newestFile, { force: true });
}

const typesOf = (records: { type: string }[]) => records.map(({ type }) => type);
const gapsOf = (requests: { atMs: number }[]) =>
  requests.slice(1).map(({ atMs }, index) => atMs - (requests[index]?.atMs ?? 0));

test('a trigger is recorded, starts a run with one request, and prints its id', async () => {
  let before: unknown[] = [];
  const look = () => {
    before = journal();
  };
  const { runctl, requests, journal } = await given({ trigger: [answerAfter(look, accepted)] });

  const { exitCode, stdout, stderr } = await runctl('trigger nightly');

  expect([exitCode, stdout, stderr]).toEqual([0, `${executionId}\n`, '']);
  expect(before).toMatchObject([{ type: 'sent', name: 'nightly' }]);
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: `/v0/automation/${projectId}/nightly/trigger`,
      headers: { 'x-api-key': apiKey, 'idempotency-key': uuid },
      body: '{}',
    },
  ]);
  const key = keyOf(requests[0]);
  expect(journal()).toMatchObject([
    { type: 'sent', name: 'nightly', key },
    { type: 'accepted', name: 'nightly', key, executionId },
  ]);
});

test('the document has what the service sent, of which nothing is concluded', async () => {
  const response = run('FAILED', { region: 'eu' });
  const { runctl, requests } = await given({ trigger: [json(201, response)] });

  const { exitCode, document } = await runctl('trigger nightly --json');

  expect(exitCode).toBe(0);
  const trigger = { started: 'yes', idempotencyKey: keyOf(requests[0]) };
  const runctlFields = { schema: 1, command: 'trigger', outcome: 'ok', exitCode: 0 };
  expect(document).toEqual({
    ...response,
    runctl: { ...runctlFields, next: null, warnings: [], trigger },
  });
});

test('a dry run sends and records nothing', async () => {
  const { runctl, requests, journal } = await given();
  const { exitCode, stdout } = await runctl("trigger nightly 'a b' --dry-run");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/\/nightly\/trigger\n.*\/a%20b\/trigger\n$/);
  expect([requests, journal()]).toEqual([[], []]);
});

describe('the name of an automation', () => {
  const project = '00000000-0000-4000-8000-00000000000A';

  test.each([
    ["'a b'", `${projectId}/a%20b`],
    ['Übersicht?', `${projectId}/%C3%9Cbersicht%3F`],
    ['back-up', `${projectId}/back-up`],
    [`${project}/nightly`, `${project.toLowerCase()}/nightly`],
    [`nightly -p ${project}`, `${project.toLowerCase()}/nightly`],
    [`${projectId}/a/b`, `${projectId}/a%2Fb`],
    [`${projectId}/@last`, `${projectId}/%40last`],
  ])('can be %s', async (typed, path) => {
    const { runctl, requests } = await given();
    expect((await runctl(`trigger ${typed}`)).exitCode).toBe(0);
    expect(requests[0]?.path).toBe(`/v0/automation/${path}/trigger`);
  });

  const blanks = ["''", "' nightly'", "'nightly '", "'nightly\u00A0'"];
  const dashes = ['-- -nightly', '–nightly', '—nightly', '−nightly', `${projectId}/-nightly`];
  const controls = ["'night\nly'", "'night\u0085ly'", "'night\u007Fly'"];
  const slashes = ['a/b', `${projectId}/`, '.', '..', `${projectId}/..`];
  const twice = ['nightly export nightly', `nightly ${projectId}/nightly`];
  test.each([...blanks, ...dashes, ...controls, ...slashes, '@', '@last', ...twice])(
    'is refused before anything is sent or written: %j',
    async (typed) => {
      const { runctl, requests, journal } = await given();
      const { exitCode, document } = await runctl(`trigger --json ${typed}`);
      expect([exitCode, document.runctl.outcome]).toEqual([2, 'usage']);
      expect([requests, journal()]).toEqual([[], []]);
    },
  );
});

test.each<[string, Record<string, string | undefined>]>([
  ["trigger nightly --idempotency-key 'a b'", {}],
  ["trigger nightly --idempotency-key ''", {}],
  [`trigger nightly --idempotency-key ${'k'.repeat(256)}`, {}],
  ['trigger nightly --profile eu', {}],
  ['trigger nightly', { RUNCTL_BASE_URL: undefined }],
  ['trigger nightly', { RUNCTL_PROJECT: undefined }],
  ['trigger nightly --dry-run', { RUNCTL_API_KEY: undefined }],
])('wrong usage is 2, and nothing is sent or written: %s %o', async (typed, env) => {
  const { runctl, requests, journal } = await given({ env });
  const { exitCode, document } = await runctl(`${typed} --json`);
  expect([exitCode, document.executionId, document.runctl.outcome]).toEqual([2, null, 'usage']);
  expect([requests, journal()]).toEqual([[], []]);
});

const refused = { started: 'no', isRepeated: false };
const limited = { exitCode: 9, outcome: 'rate_limited', started: 'no', isRepeated: true };
const active = { exitCode: 5, outcome: 'already_active', ...refused };
const unknown = { exitCode: 12, outcome: 'outcome_unknown', started: 'unknown', isRepeated: true };

// biome-ignore format: a table
test.each([
  { got: '400',                   answer: error(400), exitCode: 11, outcome: 'rejected', ...refused },
  { got: '401',                   answer: error(401), exitCode: 7, outcome: 'unauthorized', ...refused },
  { got: '402',                   answer: noCredits, exitCode: 8, outcome: 'no_credits', ...refused },
  { got: '403',                   answer: error(403), exitCode: 7, outcome: 'unauthorized', ...refused },
  { got: '404',                   answer: error(404), exitCode: 6, outcome: 'not_found', ...refused },
  { got: '404 in HTML',           answer: html(404), exitCode: 6, outcome: 'not_found', ...refused },
  { got: '422',                   answer: error(422), exitCode: 11, outcome: 'rejected', ...refused },
  { got: '422 runAlreadyActive',  answer: alreadyActive, ...active },
  { got: '409 runAlreadyActive',  answer: json(409, { errors: [{ code: 'RUN_ALREADY_ACTIVE' }] }), ...active },
  { got: '429',                   answer: rateLimited, ...limited },
  { got: '403 with Retry-After',  answer: error(403, { 'retry-after': '1' }), ...limited },
  { got: '401 in HTML',           answer: html(401), ...unknown },
  { got: '403 in HTML',           answer: html(403), ...unknown },
  { got: '408',                   answer: error(408), ...unknown },
  { got: '409',                   answer: error(409), ...unknown },
  { got: '425',                   answer: error(425), ...unknown },
  { got: '500',                   answer: error(500), ...unknown },
  { got: '501',                   answer: error(501), ...unknown },
  { got: '504 in HTML',           answer: html(504), ...unknown },
  { got: '200 in HTML',           answer: html(200), ...unknown },
  { got: '201 without an id',     answer: json(201, { status: 'RUNNING' }), ...unknown },
  { got: '302',                   answer: error(302), ...unknown, isRepeated: false },
  { got: '307',                   answer: movedTo('/v1'), ...unknown, isRepeated: false },
])('a trigger that gets $got exits with $exitCode', async ({ answer, started, ...expected }) => {
  const { exitCode, outcome, isRepeated } = expected;
  const { runctl, requests, journal } = await given({ trigger: [answer] });

  const printed = await runctl('trigger nightly --json --give-up-after 5s');

  expect(printed.exitCode).toBe(exitCode);
  expect(printed.document).toMatchObject({
    executionId: null,
    automationName: 'nightly',
    runctl: { outcome, exitCode, trigger: { started, idempotencyKey: keyOf(requests[0]) } },
  });
  expect(printed.document.runctl.error.httpStatus).toBeGreaterThan(199);
  expect(printed.stderr).toContain('runctl: nightly ');
  expect(requests.length > 1).toBe(isRepeated);
  expect(new Set(requests.map(keyOf)).size).toBe(1);
  expect(typesOf(journal())).toEqual(started === 'no' ? ['sent', 'refused'] : ['sent']);
});

test('the error of a document has what the service said', async () => {
  const body = { code: 'tooManySteps', message: 'At most 50 steps' };
  const { runctl } = await given({ trigger: [json(422, body, { 'x-request-id': 'r-1' })] });
  const { document } = await runctl('trigger nightly --json');
  const message = expect.stringContaining('At most 50 steps');
  const facts = { httpStatus: 422, code: 'tooManySteps', requestId: 'r-1', retryAfterMs: null };
  expect(document.runctl.error).toEqual({ message, ...facts });
});

describe('a trigger whose response is lost', () => {
  test('is sent again with the same key until it is accepted', async () => {
    const answers = [connectionLost, outage, rateLimited, accepted];
    const { runctl, requests, journal } = await given({ trigger: answers });

    const { exitCode, stdout, stderr } = await runctl('trigger nightly');

    expect([exitCode, stdout, stderr]).toEqual([0, `${executionId}\n`, '']);
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(keyOf)).size).toBe(1);
    expect(typesOf(journal())).toEqual(['sent', 'accepted']);
  });

  test.each([
    ['--watch', 10, 'recover nightly --watch'],
    ['--give-up-after 2m', 2, 'recover nightly'],
    ['--timeout 1m', 1, 'recover nightly'],
  ])('is given up in time, and recover is named: %s', async (flag, minutes, next) => {
    const { runctl, requests } = await given({ trigger: [connectionLost, outage], isTTY: true });

    const { exitCode, stdout, stderr } = await runctl(`trigger nightly ${flag}`);

    expect([exitCode, stdout]).toEqual([12, '']);
    const lastMs = (requests.at(-1)?.atMs ?? 0) - noonMs;
    expect(lastMs).toBeGreaterThan((minutes - 0.5) * minuteMs);
    expect(lastMs).toBeLessThanOrEqual(minutes * minuteMs);
    expect(stderr).toMatch(/nightly may have been started: .* broke .*, and .* reported an error/);
    expect(stderr.endsWith(`→ runctl ${next}\n`)).toBe(true);
  });

  test.each([
    ['402', noCredits],
    ['404', error(404)],
    ['runAlreadyActive', alreadyActive], // by its own run, maybe
  ])('stays unknown after a refusal: %s', async (_, refusal) => {
    const { runctl, requests, journal } = await given({ trigger: [connectionLost, refusal] });
    const { exitCode, document } = await runctl('trigger nightly --json --if-active skip');
    expect([exitCode, requests.length]).toEqual([12, 2]);
    expect(document.runctl.trigger.started).toBe('unknown');
    expect(typesOf(journal())).toEqual(['sent']);
  });

  test('is not sent again if keys are ignored, and what to look for is said', async () => {
    const { runctl, requests } = await given({
      trigger: [rateLimited, connectionLost, accepted],
      env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' },
    });
    const { exitCode, document, stderr } = await runctl('trigger nightly --json');
    expect([exitCode, requests.length]).toEqual([12, 2]);
    expect(stderr).toMatch(/ignored.* look in the service/i);
    expect(document.runctl.next).toBeNull();
  });

  test.each([25, -25])('is not sent again once the clock says %i hours', async (hours) => {
    const later = answerThen(connectionLost, ({ clock }) => clock.set(noonMs + hours * hourMs));
    const { runctl, requests } = await given({ trigger: [later, accepted] });
    expect([(await runctl('trigger nightly')).exitCode, requests.length]).toEqual([12, 1]);
  });

  test('is sent again after the machine slept during a request, as if it had not', async () => {
    const asleep: Response = (request, response, world) => {
      world.clock.pass(hourMs);
      outage(request, response, world);
    };
    const { runctl, requests } = await given({ trigger: [asleep, accepted] });
    expect([(await runctl('trigger nightly')).exitCode, requests.length]).toEqual([0, 2]);
  });

  test('is named by the next trigger of its automation, and of no other', async () => {
    const { runctl } = await given({ trigger: [connectionLost, accepted] });
    await runctl('trigger nightly --give-up-after 0');

    const other = await runctl('trigger export --json');
    const next = await runctl('trigger nightly --json -q');

    expect([next.exitCode, other.document.runctl.warnings]).toEqual([0, []]);
    expect(next.document.runctl.warnings).toEqual([expect.stringContaining('runctl recover')]);
    expect(next.stderr).toMatch(/warning: .*nightly may have started a run/);
  });
});

describe('Retry-After', () => {
  test('is waited for', async () => {
    const answers = [error(503, { 'retry-after': '120' }), error(429, { 'retry-after': '30' })];
    const { runctl, requests } = await given({ trigger: [...answers, accepted] });
    expect((await runctl('trigger nightly')).exitCode).toBe(0);
    expect(gapsOf(requests)).toEqual([120_000, 30_000]);
  });

  test.each([
    [429, '--give-up-after 5m', 9],
    [503, '--give-up-after 5m', 12],
    [429, '--timeout 5m', 9],
    [503, '--timeout 5m', 12],
  ])('of a %i that is later than %s ends it, and is said', async (httpStatus, flag, code) => {
    const answer = error(httpStatus, { 'retry-after': '540' });
    const { runctl, requests, clock } = await given({ trigger: [answer] });
    const { exitCode, document, stderr } = await runctl(`trigger nightly --json ${flag}`);
    expect([exitCode, requests.length]).toEqual([code, 1]);
    expect(document.runctl.error.retryAfterMs).toBe(540_000 - clock.elapsedMs());
    expect(stderr).toContain('retry after 2026-11-28 12:09:00');
  });
});

test('a Retry-After that is later than the patience ends a trigger at once', async () => {
  const { runctl, clock } = await given({ trigger: [error(429, { 'retry-after': '3600' })] });
  expect([(await runctl('trigger nightly')).exitCode, clock.elapsedMs()]).toEqual([9, 0]);
});

describe("a trigger that can't be sent", () => {
  const nobody = async () => ({ RUNCTL_BASE_URL: 'http://127.0.0.1:1' });
  const badCertificate = async () => {
    const cert = readFileSync(join(import.meta.dirname, 'certificates/expired.pem'));
    return { RUNCTL_BASE_URL: `https://${await listen(createTlsServer({ cert, key: cert }))}` };
  };
  const proxy = (status: number) => async () => {
    const server = createServer();
    server.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    return { HTTPS_PROXY: `http://${await listen(server)}` };
  };
  async function listen(server: Server) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each<[string, () => Promise<Record<string, string>>, boolean]>([
    ['nobody listens', nobody, true],
    ['the certificate is bad', badCertificate, false],
    ['the proxy refuses', proxy(403), false],
    ['the proxy has an outage', proxy(502), true],
  ])('started no run, and is sent again if that may pass: %s', async (_, setUp, isRepeated) => {
    const env = { RUNCTL_BASE_URL: 'https://api.example.com', ...(await setUp()) };
    const { runctl, clock, journal } = await given({ env });
    const { exitCode, document } = await runctl('trigger nightly --json --give-up-after 2m');
    expect(exitCode).toBe(10);
    expect(document.runctl).toMatchObject({ outcome: 'unavailable', trigger: { started: 'no' } });
    expect(clock.elapsedMs() > 1.5 * minuteMs).toBe(isRepeated);
    expect(typesOf(journal())).toEqual(['sent', 'refused']);
  });
});

describe('a signal', () => {
  const putOff = error(429, { 'retry-after': '60' });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s while the response is awaited: %i, and it is unknown', async (signal, code) => {
    const { runctl, requests, journal } = await given({ trigger: [interrupting(signal)] });
    const { exitCode, document } = await runctl('trigger nightly --json --give-up-after 0');
    expect(exitCode).toBe(code);
    expect(document.runctl).toMatchObject({ outcome: 'outcome_unknown', exitCode: code });
    expect(document.runctl.trigger.started).toBe('unknown');
    expect(document.runctl.next).toContain(keyOf(requests[0]));
    expect(typesOf(journal())).toEqual(['sent']);
  });

  test.each([
    ['was refused', rateLimited, 'interrupted', 'no', ['sent', 'refused']],
    ['was put off', putOff, 'interrupted', 'no', ['sent', 'refused']],
    ['was lost', connectionLost, 'outcome_unknown', 'unknown', ['sent']],
  ])('after an attempt that %s: 130', async (_, answer, outcome, started, types) => {
    const signalled = answerThen(answer, ({ interrupt }) => interrupt());
    const { runctl, requests, journal } = await given({ trigger: [signalled, accepted] });
    const { exitCode, document } = await runctl('trigger nightly --json');
    expect([exitCode, requests.length]).toEqual([130, 1]);
    expect(document.runctl).toMatchObject({ outcome, exitCode: 130, trigger: { started } });
    expect(typesOf(journal())).toEqual(types);
  });

  test('leaves a run alone that was started, and prints what is known', async () => {
    const hasRun = () => typesOf(journal()).includes('accepted');
    const late = answerAfter(() => vi.waitUntil(hasRun, { interval: 1 }), interrupting());
    const { runctl, journal } = await given({
      trigger: [byName({ nightly: accepted, export: late })],
    });
    const { exitCode, documents } = await runctl('trigger export nightly --json');
    expect(exitCode).toBe(130);
    expect(documents).toMatchObject([
      { executionId: null, automationName: 'export', runctl: { outcome: 'outcome_unknown' } },
      { executionId, automationName: 'nightly', runctl: { outcome: 'ok', exitCode: 0 } },
    ]);
  });
});

describe('if a run is active', () => {
  // biome-ignore format: a table
  test.each([
    { flags: '',                              exitCode: 5, outcome: 'already_active', minutes: 0, isListed: true },
    { flags: '--if-active fail',              exitCode: 5, outcome: 'already_active', minutes: 0, isListed: true },
    { flags: '--if-active skip',              exitCode: 0, outcome: 'ok',             minutes: 0, isListed: false },
    { flags: '--if-active wait --timeout 3m', exitCode: 5, outcome: 'already_active', minutes: 3, isListed: false },
  ])('trigger $flags exits with $exitCode', async ({ flags, minutes, isListed, ...expected }) => {
    const { runctl, clock, journal } = await given({ trigger: [alreadyActive] });

    const { exitCode, document } = await runctl(`trigger nightly --json ${flags}`);

    expect(exitCode).toBe(expected.exitCode);
    expect(document.executionId).toBeNull();
    expect(document.runctl).toMatchObject({ ...expected, trigger: { started: 'no' } });
    expect('error' in document.runctl).toBe(exitCode !== 0);
    expect(clock.elapsedMs()).toBe(minutes * minuteMs);
    // `list` shows neither what was skipped nor the tries of `wait`.
    const refusals = journal().filter(({ type }) => type === 'refused');
    expect(new Set(refusals.map((each) => each.isListed))).toEqual(new Set([isListed]));
  });

  test('--if-active skip is silent with -q', async () => {
    const { runctl } = await given({ trigger: [alreadyActive] });
    const { exitCode, stdout, stderr } = await runctl('trigger nightly --if-active skip -q');
    expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
  });

  test.each([
    ['new', 13, ''],
    ['given', 1, '--idempotency-key k1'],
  ])('--if-active wait tries again, less and less often, with a %s key', async (_, keys, flag) => {
    const answers = [...Array(12).fill(alreadyActive), accepted];
    const { runctl, requests } = await given({ trigger: answers });
    const { exitCode, stdout } = await runctl(`trigger nightly --if-active wait ${flag}`);
    expect([exitCode, stdout]).toEqual([0, `${executionId}\n`]);
    expect(new Set(requests.map(keyOf)).size).toBe(keys);
    const gaps = gapsOf(requests);
    expect([gaps.at(0), gaps.at(-1)]).toEqual([15_000, 60_000]);
    expect(gaps).toEqual(gaps.toSorted((one, other) => one - other));
  });

  test('--interval fixes how often, and each try has a day of its own', async () => {
    const answers = [...Array(30).fill(alreadyActive), connectionLost, accepted];
    const { runctl, requests } = await given({ trigger: answers });
    const { exitCode } = await runctl('trigger nightly --if-active wait --interval 1h --timeout 0');
    expect([exitCode, requests.length]).toEqual([0, 32]);
    expect(new Set(gapsOf(requests.slice(0, 31)))).toEqual(new Set([hourMs]));
  });

  test('--if-active wait sends nothing before a Retry-After, also if --timeout expires', async () => {
    const body = { code: 'runAlreadyActive' };
    const { runctl, requests } = await given({
      trigger: [json(422, body, { 'retry-after': '600' }), accepted],
    });
    const { exitCode } = await runctl('trigger nightly --if-active wait --timeout 5m');
    expect([exitCode, requests.length]).toEqual([5, 1]);
  });

  test('it may be the run of a lost response, and then --if-active wait ends: 12', async () => {
    const answers = [alreadyActive, connectionLost, alreadyActive, accepted];
    const { runctl, requests } = await given({ trigger: answers });
    const { exitCode } = await runctl('trigger nightly --if-active wait');
    expect([exitCode, requests.length]).toEqual([12, 3]);
  });

  test('a signal ends --if-active wait, and no run was started', async () => {
    const signalled = answerThen(alreadyActive, ({ interrupt }) => interrupt('SIGTERM'));
    const { runctl } = await given({ trigger: [signalled, accepted] });
    const { exitCode, document } = await runctl('trigger nightly --if-active wait --json');
    expect(exitCode).toBe(143);
    expect(document.runctl).toMatchObject({ outcome: 'interrupted', trigger: { started: 'no' } });
  });

  test('--timeout counts anew once the run has started', async () => {
    const status = [running, statusOf('COMPLETED')];
    const { runctl } = await given({ trigger: [alreadyActive, accepted], status });
    const flags = '--if-active wait --watch --interval 50m --timeout 1h';
    expect((await runctl(`trigger nightly ${flags}`)).exitCode).toBe(0);
  });
});

describe('a given key', () => {
  const typed = 'trigger nightly --idempotency-key k1';
  const lose = `${typed} --give-up-after 0`;

  test('has up to 255 visible characters, and may have been sent before by another', async () => {
    const key = `!~${'k'.repeat(253)}`;
    const { runctl, requests } = await given();
    const { exitCode, document } = await runctl(`trigger nightly --idempotency-key ${key} --json`);
    expect([exitCode, keyOf(requests[0])]).toEqual([0, key]);
    expect(document.runctl.trigger).toEqual({ started: 'unknown', idempotencyKey: key });
  });

  test('that has a run here is answered with that run, and nothing is sent', async () => {
    const { runctl, requests } = await given({ status: [failed], result: [failedResult] });
    await runctl(typed);

    const again = await runctl(typed, { RUNCTL_API_KEY: 'another-key' });
    const { document, stderr } = await runctl(`${typed} --json -q`);

    expect([again.exitCode, again.stdout]).toEqual([0, `${executionId}\n`]);
    expect(again.stderr).toContain('nothing was sent');
    expect([document.executionId, stderr]).toEqual([executionId, '']);
    expect(document.runctl.trigger.started).toBe('no');
    expect((await runctl(`${typed} --watch`)).exitCode).toBe(1);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('whose run is no longer the last one has a command that names the run', async () => {
    const trigger = [accepted, acceptedAs(otherId)];
    const { runctl } = await given({ trigger, status: [running], isTTY: true });
    await runctl(typed);
    await runctl('trigger nightly');
    const { document } = await runctl(`${typed} --watch --timeout 1s --json`);
    expect(document.runctl.next).toBe(`runctl watch ${projectId}/nightly/${executionId}`);
  });

  test.each(['export', `${otherId}/nightly`])('of another automation: 2, %s', async (name) => {
    const { runctl, requests } = await given({ trigger: [connectionLost] });
    await runctl(lose);
    expect((await runctl(`trigger ${name} --idempotency-key k1`)).exitCode).toBe(2);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['has a run', accepted, 25, 2],
    ['has a run', accepted, -25, 2],
    ['is unknown', connectionLost, 25, 2],
    ['is unknown', connectionLost, 23, 0],
    ['was refused', noCredits, 25, 0],
  ])('that %s (%s) after %i hours: %i', async (_, first, hours, exitCode) => {
    const { runctl, requests, clock } = await given({ trigger: [first, accepted] });
    await runctl(lose);
    clock.set(noonMs + hours * hourMs);
    expect((await runctl(typed)).exitCode).toBe(exitCode);
    expect(requests).toHaveLength(exitCode === 0 ? 2 : 1);
  });

  test('that was refused has its day, and its place, from when it was sent again', async () => {
    const answers = [noCredits, acceptedAs(otherId), connectionLost, accepted];
    const { runctl, requests, clock } = await given({ trigger: answers });
    await runctl(lose);
    await runctl('trigger nightly');
    clock.pass(23 * hourMs);
    await runctl(lose);
    clock.pass(2 * hourMs);
    expect([(await runctl(typed)).exitCode, requests.length]).toEqual([0, 4]);
    const newest = await runctl('status nightly --field executionId');
    expect(newest.stdout).toBe(`${executionId}\n`);
  });

  test('that is unknown is sent again, whatever came later, and a refusal is 12', async () => {
    const answers = [connectionLost, acceptedAs(otherId), noCredits, accepted];
    const { runctl, requests } = await given({ trigger: answers });
    await runctl(lose);
    await runctl('trigger nightly');

    const first = await runctl(`${typed} --json`);
    const second = await runctl(`${typed} --json`);

    expect([first.exitCode, first.document.runctl.error.httpStatus]).toEqual([12, 402]);
    expect([second.exitCode, second.document.executionId]).toEqual([0, executionId]);
    expect(second.document.runctl.trigger.started).toBe('unknown');
    expect(requests.map(keyOf)).toEqual(['k1', uuid, 'k1', 'k1']);
  });

  const other = { RUNCTL_API_KEY: 'another-key' };
  const ignored = { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  test.each<[string, Record<string, string>, Record<string, string>, RegExp]>([
    ['with another API key', other, {}, /another API key/],
    ['while keys were ignored', ignored, {}, /ignored when.* look in the service/i],
    ['and keys are ignored now', {}, ignored, /are ignored.* look in the service/i],
  ])('that is unknown, and was sent %s, is not sent: 12', async (_, then, now, why) => {
    const { runctl, requests } = await given({ trigger: [connectionLost, accepted] });
    await runctl(lose, then);
    const { exitCode, document, stderr } = await runctl(`${typed} --json`, now);
    expect([exitCode, requests.length]).toEqual([12, 1]);
    expect(document.runctl.trigger.started).toBe('unknown');
    expect(stderr).toMatch(why);
  });

  test.each([{ automationName: 'export' }, { projectId: otherId }])(
    'whose response is about another automation is unknown: %o',
    async (fields) => {
      const { runctl } = await given({ trigger: [json(201, run('RUNNING', fields))] });
      const { exitCode, stdout } = await runctl(lose);
      expect([exitCode, stdout]).toEqual([12, '']);
    },
  );

  test.each([
    ['is unknown to', connectionLost, 12, null],
    ['has a run by', accepted, 0, executionId],
  ])('that is refused here but %s another command: %i', async (_, answer, code, id) => {
    const meanwhile = answerAfter(() => runctl(lose), noCredits);
    const { runctl } = await given({ trigger: [meanwhile, answer] });
    const { exitCode, document } = await runctl(`${typed} --json`);
    expect([exitCode, document.executionId]).toEqual([code, id]);
    expect(document.runctl.trigger.started).toBe('unknown');
  });

  test('that two commands send at once is refused to both, and --if-active wait goes on', async () => {
    let waiting = Promise.resolve(0);
    let sent = () => {};
    const isSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const meanwhile = () => {
      waiting = runctl(`${typed} --if-active wait`).then(({ exitCode }) => exitCode);
      return isSent;
    };
    const afterFirst = () => {
      sent();
      return first;
    };
    const { runctl, requests } = await given({
      trigger: [
        answerAfter(meanwhile, alreadyActive),
        answerAfter(afterFirst, alreadyActive),
        accepted,
      ],
    });
    const first = runctl(typed);
    await first;
    expect([await waiting, requests.length]).toEqual([0, 3]);
  });

  test('has its run even if only that could be recorded', async () => {
    const { runctl, requests, folder } = await given({
      trigger: [answerAfter(() => repair(), accepted)],
    });
    const repair = breakJournal(folder);
    await runctl(typed);
    const { exitCode, stdout } = await runctl(typed);
    expect([exitCode, stdout, requests.length]).toEqual([0, `${executionId}\n`, 1]);
  });
});

describe('several automations', () => {
  test('are triggered at once, and line n is the id of argument n', async () => {
    const { runctl, requests } = await given({
      trigger: [byName({ a: acceptedAs(otherId), b: noCredits, c: accepted })],
    });
    const { exitCode, stdout } = await runctl('trigger a b c');
    expect([exitCode, stdout]).toEqual([8, `${otherId}\n\n${executionId}\n`]);
    expect(new Set(requests.map(keyOf)).size).toBe(3);
    expect(requests.at(-1)?.atMs).toBeLessThan(noonMs + 1000);
  });

  const withoutName = json(201, { executionId });
  test.each([
    [5, { a: withoutName, b: alreadyActive, c: noCredits }, [0, 5, 8]],
    [8, { a: withoutName, b: noCredits, c: alreadyActive }, [0, 8, 5]],
    [12, { a: noCredits, b: error(302), c: alreadyActive }, [8, 12, 5]],
  ])("exit with 12, else with the first code that isn't 0: %i", async (code, answers, codes) => {
    const { runctl } = await given({ trigger: [byName(answers)] });
    const { exitCode, documents } = await runctl('trigger a b c --json');
    expect(exitCode).toBe(code);
    expect(documents.map(({ automationName }) => automationName)).toEqual(['a', 'b', 'c']);
    expect(documents.map((each) => each.runctl.exitCode)).toEqual(codes);
  });
});

describe('the command to type', () => {
  const wait = '--if-active wait';
  test.each([
    ["'a b' --watch", `'a b' ${wait} --watch`],
    ['nightly -w --idempotency-key k1', `nightly ${wait} --watch --idempotency-key k1`],
    ['nightly --idempotency-key=-k', `nightly ${wait} '--idempotency-key=-k'`],
    [
      `nightly -p ${otherId} --api-key-file - --profile eu`,
      `nightly ${wait} --profile eu --project ${otherId} --api-key-file -`,
    ],
  ])('repeats what was typed: %s', async (typed, next) => {
    const config = { profiles: { eu: {} } };
    const { runctl } = await given({
      trigger: [alreadyActive],
      isTTY: true,
      stdin: apiKey,
      config,
    });
    const { document } = await runctl(`trigger ${typed} --json`);
    expect(document.runctl.next).toBe(`runctl trigger ${next}`);
  });

  test('is to recover, while an earlier trigger may be the active one', async () => {
    const { runctl } = await given({ trigger: [connectionLost, alreadyActive], isTTY: true });
    await runctl('trigger nightly --give-up-after 0');
    const { exitCode, document } = await runctl('trigger nightly --watch --json');
    expect([exitCode, document.runctl.next]).toEqual([5, 'runctl recover nightly --watch']);
  });

  test('has in a mail what the environment gave, but the API key', async () => {
    const env = { RUNCTL_API_KEY_OF_PROD: 'sk-live-of-prod' };
    const { runctl, baseUrl, folder } = await given({ trigger: [alreadyActive], env });
    const { stderr } = await runctl('trigger nightly');
    const [command = ''] = /(?<=→ ).*/.exec(stderr) ?? [];
    expect(command).toMatch(/ runctl trigger nightly --if-active wait$/);
    for (const value of [baseUrl, projectId, folder]) expect(command).toContain(`=${value}`);
    expect(command).not.toContain('API_KEY');
  });

  test('has in a mail the key of a trigger that is unknown, and finds its run', async () => {
    const { runctl, requests } = await given({ trigger: [connectionLost, accepted] });
    const { document } = await runctl('trigger nightly --watch --json --give-up-after 0');
    const key = keyOf(requests[0]);
    expect(document.runctl.next).toContain(`trigger nightly --watch --idempotency-key ${key}`);

    const { exitCode } = await runctl(document.runctl.next.replace(/^.*?runctl /, ''));

    expect([exitCode, keyOf(requests[1])]).toEqual([0, key]);
  });
});

describe('a journal', () => {
  const env = { RUNCTL_STATE_DIR: '/proc/missing' };

  test("that can't be written costs one warning, and the trigger is sent", async () => {
    const { runctl } = await given({ env });
    const { exitCode, document, stderr } = await runctl('trigger nightly --json');
    expect([exitCode, document.executionId]).toEqual([0, executionId]);
    expect(document.runctl.warnings).toEqual([expect.stringMatching(/journal .*can't be written/)]);
    expect(stderr.match(/warning/g)).toHaveLength(1);
  });

  test("that can't be written has no unknown trigger, and makes no refusal unknown", async () => {
    const trigger = [connectionLost, noCredits];
    const { runctl, requests } = await given({ trigger, env, isTTY: true });
    const { exitCode, document } = await runctl('trigger nightly --json --give-up-after 0');
    const next = `runctl trigger nightly --idempotency-key ${keyOf(requests[0])}`;
    expect([exitCode, document.runctl.next]).toEqual([12, next]);
    expect((await runctl('trigger nightly')).exitCode).toBe(8);
  });

  test('that breaks before a refusal is written leaves the trigger unknown', async () => {
    const { runctl, folder } = await given({
      trigger: [answerAfter(() => breakJournal(folder), noCredits)],
    });
    const { exitCode, document } = await runctl('trigger nightly --json');
    expect([exitCode, document.runctl.error.httpStatus]).toEqual([12, 402]);
  });

  test("that can't be read or written makes a refusal unknown, if the key was given", async () => {
    const { runctl, folder } = await given({ trigger: [noCredits] });
    breakJournal(folder);
    mkdirSync(`${folder}/journal/00000001.jsonl`);
    expect((await runctl('trigger nightly --idempotency-key k1')).exitCode).toBe(12);
    expect((await runctl('trigger nightly')).exitCode).toBe(8);
  });

  test.each(['', '--idempotency-key k1'])(
    "that can't be read costs one warning, and the trigger is sent: %s",
    async (flag) => {
      const { runctl, folder, requests } = await given();
      mkdirSync(`${folder}/journal/00000001.jsonl`, { recursive: true });
      writeFileSync(`${folder}/journal/00000002.jsonl`, '');
      const { exitCode, stdout, stderr } = await runctl(`trigger nightly ${flag}`);
      expect([exitCode, stdout, requests.length]).toEqual([0, `${executionId}\n`, 1]);
      expect(stderr).toMatch(/^runctl: warning: the journal .*can't be read.*\n$/);
    },
  );
});

describe('the API key is nowhere, even if the service says it', () => {
  const headers = { 'x-request-id': apiKey, location: `/${apiKey}`, 'set-cookie': apiKey };
  const echo = { code: apiKey, message: `your key ${apiKey} is wrong` };

  test.each([
    ['422', json(422, echo, headers)],
    ['503', json(503, echo, headers)],
    ['302', json(302, echo, headers)],
    ['403 in HTML', html(403, apiKey)],
    ['201 without an id', json(201, { ...echo, executionId: apiKey })],
  ])('after %s', async (_, answer) => {
    const { runctl, journal } = await given({ trigger: [answer] });
    for (const flags of ['', '--json', '--debug', '--json --debug', '--field runctl.error']) {
      const { stdout, stderr } = await runctl(`trigger nightly --give-up-after 2s ${flags}`);
      const recovered = await runctl(`recover --give-up-after 0 ${flags}`);
      expect(recovered.stdout + recovered.stderr).not.toContain(apiKey);
      expect(stdout + stderr).toContain('nightly ');
      expect(stdout + stderr).not.toContain(apiKey);
    }
    expect(journal().length).toBeGreaterThan(4);
    expect(JSON.stringify(journal())).not.toContain(apiKey);
  });
});
