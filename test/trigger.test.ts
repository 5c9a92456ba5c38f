// `trigger` as a user types it.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
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
/** Nobody listens there. */
const closedPort = 'http://127.0.0.1:1';

const error = (httpStatus: number, headers: Record<string, string> = {}) =>
  json(httpStatus, { message: 'no' }, headers);
const noCredits = json(402, { code: 'insufficientCredits', message: 'Your balance is 0' });
const outage = error(503);
const rateLimited = error(429);
/** The journal can be read, but no longer written. Returns what repairs it. */
function breakJournal(folder: string) {
  mkdirSync(`${folder}/journal`, { recursive: true });
  const newestFile = `${folder}/journal/00000009.jsonl`;
  symlinkSync('/proc/missing/file', newestFile);
  return () => rmSync(newestFile, { force: true });
}

/** Answers, and while runctl waits after that, something happens. */
const then =
  (answer: Response, happens: (world: Parameters<Response>[2]) => void): Response =>
  (request, response, world) => {
    world.clock.duringSleep(() => happens(world));
    answer(request, response, world);
  };
const gapsOf = (requests: { atMs: number }[]) =>
  requests.slice(1).map(({ atMs }, index) => atMs - (requests[index]?.atMs ?? 0));
const typesOf = (records: { type: string }[]) => records.map(({ type }) => type);

test('a trigger starts a run with one request and prints its id', async () => {
  const { runctl, requests, journal } = await given();

  const { exitCode, stdout, stderr } = await runctl('trigger nightly');

  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 0,
    stdout: `${executionId}\n`,
    stderr: '',
  });
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

test('each trigger has a new idempotency key', async () => {
  const { runctl, requests } = await given();
  await runctl('trigger nightly');
  await runctl('trigger nightly');
  expect(keyOf(requests[0])).not.toBe(keyOf(requests[1]));
});

test('a trigger is in the journal before it is sent', async () => {
  let recorded: unknown[] = [];
  const { runctl, journal } = await given({
    trigger: [
      (...request) => {
        recorded = journal();
        accepted(...request);
      },
    ],
  });
  await runctl('trigger nightly');
  expect(recorded).toMatchObject([{ type: 'sent', name: 'nightly' }]);
});

test('the document has what the service sent, and what runctl knows', async () => {
  // Nothing is concluded from the status of this response.
  const response = run('FAILED', { region: 'eu' });
  const { runctl, requests } = await given({ trigger: [json(201, response)] });

  const { exitCode, document } = await runctl('trigger nightly --json');

  expect(exitCode).toBe(0);
  expect(document).toEqual({
    ...response,
    runctl: {
      schema: 1,
      command: 'trigger',
      outcome: 'ok',
      exitCode: 0,
      next: null,
      warnings: [],
      trigger: { started: 'yes', idempotencyKey: keyOf(requests[0]) },
    },
  });
});

test('an id in capitals is the same id, and any 2xx with one is accepted', async () => {
  const { runctl } = await given({
    trigger: [json(202, { executionId: executionId.toUpperCase() })],
  });
  const { exitCode, stdout } = await runctl('trigger nightly');
  expect([exitCode, stdout]).toEqual([0, `${executionId}\n`]);
});

test('a run that is followed prints its summary and no id, and decides the exit code', async () => {
  const { runctl } = await given({ status: [running, failed], result: [failedResult] });
  const { exitCode, stdout } = await runctl('trigger nightly --watch');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/nightly FAILED .*the mail server said no/);
  expect(stdout).not.toContain(`\n${executionId}\n`);
});

test('a dry run sends and records nothing', async () => {
  const { runctl, requests, journal } = await given();
  const { exitCode, stdout } = await runctl("trigger nightly 'a b' --dry-run");
  expect(exitCode).toBe(0);
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringContaining(`/v0/automation/${projectId}/nightly/trigger`),
    expect.stringContaining(`/v0/automation/${projectId}/a%20b/trigger`),
  ]);
  expect([requests, journal()]).toEqual([[], []]);
});

describe('the name of an automation', () => {
  const project = '00000000-0000-4000-8000-00000000000A';
  test.each([
    { typed: "'a b'", path: `${projectId}/a%20b` },
    { typed: 'Übersicht?', path: `${projectId}/%C3%9Cbersicht%3F` },
    { typed: 'back-up', path: `${projectId}/back-up` },
    { typed: `${project}/nightly`, path: `${project.toLowerCase()}/nightly` },
    { typed: `${projectId}/a/b`, path: `${projectId}/a%2Fb` },
    { typed: `${projectId}/@last`, path: `${projectId}/%40last` },
    { typed: `nightly -p ${project}`, path: `${project.toLowerCase()}/nightly` },
  ])('can be $typed', async ({ typed, path }) => {
    const { runctl, requests } = await given();
    const { exitCode } = await runctl(`trigger ${typed}`);
    expect(exitCode).toBe(0);
    expect(requests[0]?.path).toBe(`/v0/automation/${path}/trigger`);
  });

  test.each([
    "''",
    '.',
    '..',
    '-- -nightly',
    '–nightly', // an en dash
    '−nightly', // a minus sign
    "' nightly'",
    "'nightly '",
    "'nightly\u00A0'",
    "'night\nly'",
    "'night\u0085ly'",
    'a/b',
    '@',
    '@last',
    `${projectId}/`,
    `${projectId}/..`,
    `${projectId}/-nightly`,
    'nightly nightly',
    `nightly ${projectId}/nightly`,
  ])('is refused, and nothing is sent or written: %j', async (typed) => {
    const { runctl, requests, journal } = await given();
    const { exitCode, stdout, stderr } = await runctl(`trigger ${typed}`);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).not.toBe('');
    expect([requests, journal()]).toEqual([[], []]);
  });
});

test.each<{ typed: string; env?: Record<string, string | undefined> }>([
  { typed: '' },
  { typed: 'nightly --watsh' },
  { typed: 'nightly --if-active never' },
  { typed: 'nightly --timeout 30' },
  { typed: 'nightly --interval 500ms' },
  { typed: 'nightly --project eu' },
  { typed: 'nightly --profile eu' },
  { typed: 'nightly --idempotency-key' },
  { typed: 'nightly --idempotency-key --watch' }, // of a variable that isn't set
  { typed: "nightly --idempotency-key ''" },
  { typed: "nightly --idempotency-key 'a b'" },
  { typed: 'nightly --idempotency-key ü' },
  { typed: `nightly --idempotency-key ${'k'.repeat(256)}` },
  { typed: 'nightly export --idempotency-key k1' },
  { typed: 'nightly', env: { RUNCTL_API_KEY: undefined } },
  { typed: 'nightly', env: { RUNCTL_BASE_URL: undefined } },
  { typed: 'nightly', env: { RUNCTL_PROJECT: undefined } },
  { typed: 'nightly --dry-run', env: { RUNCTL_API_KEY: undefined } },
])(
  'wrong usage is a document and 2, and nothing is sent or written: $typed $env',
  async ({ typed, env }) => {
    const { runctl, requests, journal } = await given({ env });
    const { exitCode, document } = await runctl(`trigger ${typed} --json`);
    expect(exitCode).toBe(2);
    expect(document).toMatchObject({
      executionId: null,
      runctl: { command: 'trigger', outcome: 'usage', exitCode: 2, error: { httpStatus: null } },
    });
    expect([requests, journal()]).toEqual([[], []]);
  },
);

test('an idempotency key has up to 255 visible characters', async () => {
  const { runctl, requests } = await given();
  const key = `!~${'k'.repeat(253)}`;
  const { exitCode } = await runctl(`trigger nightly --idempotency-key ${key}`);
  expect([exitCode, keyOf(requests[0])]).toEqual([0, key]);
});

interface Case {
  got: string;
  response: Response;
  exitCode: number;
  outcome: string;
  started?: 'no' | 'unknown';
  /** More than one attempt was made. */
  isSentAgain?: boolean;
}

const refused = { started: 'no', isSentAgain: false } as const;
const unknown = { exitCode: 12, outcome: 'outcome_unknown', started: 'unknown' } as const;
const activeConflict = json(409, { errors: [{ code: 'RUN_ALREADY_ACTIVE' }] });

// biome-ignore format: a table
const cases: Case[] = [
  { got: '400', response: error(400), exitCode: 11, outcome: 'rejected', ...refused },
  { got: '401', response: error(401), exitCode: 7, outcome: 'unauthorized', ...refused },
  { got: '402', response: noCredits, exitCode: 8, outcome: 'no_credits', ...refused },
  { got: '403', response: error(403), exitCode: 7, outcome: 'unauthorized', ...refused },
  { got: '404', response: error(404), exitCode: 6, outcome: 'not_found', ...refused },
  { got: '404 in HTML', response: html(404), exitCode: 6, outcome: 'not_found', ...refused },
  { got: '413', response: error(413), exitCode: 11, outcome: 'rejected', ...refused },
  { got: '422', response: error(422), exitCode: 11, outcome: 'rejected', ...refused },
  { got: '422 runAlreadyActive', response: alreadyActive, exitCode: 5, outcome: 'already_active', ...refused },
  { got: '409 runAlreadyActive', response: activeConflict, exitCode: 5, outcome: 'already_active', ...refused },
  { got: '429', response: rateLimited, exitCode: 9, outcome: 'rate_limited', started: 'no', isSentAgain: true },
  { got: '403 with Retry-After', response: error(403, { 'retry-after': '1' }), exitCode: 9, outcome: 'rate_limited', started: 'no', isSentAgain: true },
  { got: '401 in HTML', response: html(401), ...unknown, isSentAgain: true },
  { got: '403 in HTML', response: html(403), ...unknown, isSentAgain: true },
  { got: '408', response: error(408), ...unknown, isSentAgain: true },
  { got: '409', response: error(409), ...unknown, isSentAgain: true },
  { got: '425', response: error(425), ...unknown, isSentAgain: true },
  { got: '500', response: error(500), ...unknown, isSentAgain: true },
  { got: '501', response: error(501), ...unknown, isSentAgain: true },
  { got: '504 in HTML', response: html(504), ...unknown, isSentAgain: true },
  { got: '200 in HTML', response: html(200), ...unknown, isSentAgain: true },
  { got: '201 without an id', response: json(201, { status: 'RUNNING' }), ...unknown, isSentAgain: true },
  { got: '302', response: error(302, { location: '/login' }), ...unknown, isSentAgain: false },
  { got: '307', response: error(307, { location: '/v1' }), ...unknown, isSentAgain: false },
];

test.each(cases)(
  'a trigger that gets $got exits with $exitCode',
  async ({ response, exitCode, outcome, started, isSentAgain }) => {
    const { runctl, requests, journal } = await given({ trigger: [response] });

    const { document, stderr, ...printed } = await runctl(
      'trigger nightly --json --give-up-after 5s',
    );

    expect(printed.exitCode).toBe(exitCode);
    expect(document).toMatchObject({
      executionId: null,
      automationName: 'nightly',
      runctl: { outcome, exitCode, trigger: { started, idempotencyKey: keyOf(requests[0]) } },
    });
    expect(document.runctl.error.httpStatus).toBeGreaterThan(199);
    expect(stderr).toContain('runctl: nightly ');
    expect(requests.length > 1).toBe(isSentAgain);
    expect(new Set(requests.map(keyOf)).size).toBe(1);
    expect(typesOf(journal())).toEqual(started === 'no' ? ['sent', 'refused'] : ['sent']);
  },
);

test('the error of a document has what the service said', async () => {
  const body = { code: 'insufficientCredits', message: 'Your balance is 0' };
  const { runctl } = await given({ trigger: [json(402, body, { 'x-request-id': 'r-1' })] });
  const { document } = await runctl('trigger nightly --json');
  expect(document.runctl.error).toEqual({
    message: expect.stringContaining('Your balance is 0'),
    httpStatus: 402,
    code: 'insufficientCredits',
    requestId: 'r-1',
    retryAfterMs: null,
  });
});

describe('a trigger whose response is lost', () => {
  test('is sent again with the same key until it is accepted', async () => {
    const { runctl, requests, journal } = await given({
      trigger: [connectionLost, outage, rateLimited, accepted],
    });

    const { exitCode, stdout, stderr } = await runctl('trigger nightly');

    expect([exitCode, stdout, stderr]).toEqual([0, `${executionId}\n`, '']);
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map(keyOf)).size).toBe(1);
    expect(typesOf(journal())).toEqual(['sent', 'accepted']);
  });

  test.each([
    ['--watch', 10],
    ['--give-up-after 2m', 2],
    ['--timeout 1m', 1],
  ])('is given up in time, and recover is named: %s', async (flag, minutes) => {
    const { runctl, requests } = await given({ trigger: [connectionLost], isTTY: true });

    const { exitCode, stdout, stderr } = await runctl(`trigger nightly ${flag}`);

    expect([exitCode, stdout]).toEqual([12, '']);
    const lastMs = (requests.at(-1)?.atMs ?? 0) - noonMs;
    expect(lastMs).toBeGreaterThan((minutes - 0.5) * minuteMs);
    expect(lastMs).toBeLessThanOrEqual(minutes * minuteMs);
    expect(stderr).toContain('nightly may have been started');
    const watch = flag === '--watch' ? ' --watch' : '';
    expect(stderr).toMatch(new RegExp(`→ runctl recover nightly${watch}\n$`));
  });

  test.each([
    ['402', noCredits],
    ['404', error(404)],
    ['runAlreadyActive', alreadyActive],
  ])('stays unknown after a refusal, which may be about its own run: %s', async (_, refusal) => {
    const { runctl, requests, journal } = await given({ trigger: [connectionLost, refusal] });
    const { exitCode, document } = await runctl('trigger nightly --json --if-active skip');
    expect(exitCode).toBe(12);
    expect(document.runctl).toMatchObject({ outcome: 'outcome_unknown', exitCode: 12 });
    expect(document.runctl.trigger.started).toBe('unknown');
    expect(requests).toHaveLength(2);
    expect(typesOf(journal())).toEqual(['sent']);
  });

  test('is not sent again if keys are ignored, and what to look for is said', async () => {
    const { runctl, requests } = await given({
      trigger: [rateLimited, connectionLost, accepted],
      env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' },
    });
    const { exitCode, document, stderr } = await runctl('trigger nightly --json');
    expect(exitCode).toBe(12);
    expect(requests).toHaveLength(2);
    expect(stderr).toMatch(/ignored.* look in the service/i);
    expect(document.runctl.next).toBeNull();
  });

  test.each([25, -25])('is not sent again once the clock is %i hours off', async (hours) => {
    const { runctl, requests } = await given({
      trigger: [then(connectionLost, ({ clock }) => clock.set(noonMs + hours * hourMs)), accepted],
    });
    const { exitCode } = await runctl('trigger nightly');
    expect([exitCode, requests.length]).toEqual([12, 1]);
  });

  test('is named by the next trigger of its automation, and of no other', async () => {
    const { runctl } = await given({ trigger: [connectionLost, accepted] });
    await runctl('trigger nightly --give-up-after 0');

    const other = await runctl('trigger export --json');
    const next = await runctl('trigger nightly --json -q');

    expect(other.document.runctl.warnings).toEqual([]);
    expect(next.exitCode).toBe(0);
    expect(next.stderr).toContain('an earlier trigger of nightly');
    expect(next.document.runctl.warnings).toEqual([expect.stringContaining('runctl recover')]);
  });
});

describe('Retry-After', () => {
  test('is waited for', async () => {
    const { runctl, requests } = await given({
      trigger: [
        error(503, { 'retry-after': '120' }),
        error(429, { 'retry-after': '30' }),
        accepted,
      ],
    });
    const { exitCode } = await runctl('trigger nightly');
    expect(exitCode).toBe(0);
    expect(requests.map(({ atMs }) => atMs - noonMs)).toEqual([0, 120_000, 150_000]);
  });

  test.each([
    { httpStatus: 429, flag: '--give-up-after 5m', exitCode: 9 },
    { httpStatus: 503, flag: '--give-up-after 5m', exitCode: 12 },
    { httpStatus: 429, flag: '--timeout 5m', exitCode: 9 },
    { httpStatus: 503, flag: '--timeout 5m', exitCode: 12 },
  ])(
    'ends a trigger after $httpStatus if it is later than $flag, and the time is said',
    async ({ httpStatus, flag, exitCode }) => {
      const { runctl, requests } = await given({
        trigger: [error(httpStatus, { 'retry-after': '3600' })],
      });
      const { document, stderr, ...printed } = await runctl(`trigger nightly --json ${flag}`);
      expect([printed.exitCode, requests.length]).toEqual([exitCode, 1]);
      expect(document.runctl.error.retryAfterMs).toBe(hourMs);
      expect(stderr).toContain('13:0');
    },
  );
});

test.each([
  ['--give-up-after 2m', 2],
  ['--timeout 1m', 1],
])(
  'a trigger that was never sent is retried, and surely started no run: %s',
  async (flag, minutes) => {
    const { runctl, clock, journal } = await given({ env: { RUNCTL_BASE_URL: closedPort } });
    const { exitCode, document } = await runctl(`trigger nightly --json ${flag}`);
    expect(exitCode).toBe(10);
    expect(document.runctl).toMatchObject({ outcome: 'unavailable', trigger: { started: 'no' } });
    expect(clock.elapsedMs()).toBeGreaterThan((minutes - 0.5) * minuteMs);
    expect(typesOf(journal())).toEqual(['sent', 'refused']);
  },
);

describe('a signal', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s while a request is in flight: %i, and the trigger is unknown',
    async (signal, code) => {
      const { runctl, requests, journal } = await given({ trigger: [interrupting(signal)] });
      const { exitCode, document } = await runctl('trigger nightly --json');
      expect(exitCode).toBe(code);
      expect(document.runctl).toMatchObject({ outcome: 'outcome_unknown', exitCode: code });
      expect(document.runctl.trigger.started).toBe('unknown');
      expect(document.runctl.next).toContain(keyOf(requests[0]));
      expect(typesOf(journal())).toEqual(['sent']);
    },
  );

  test('before anything was sent that could start a run: 130, and it is refused', async () => {
    const { runctl, requests, journal } = await given({
      trigger: [then(rateLimited, ({ interrupt }) => interrupt()), accepted],
    });
    const { exitCode, document } = await runctl('trigger nightly --json');
    expect([exitCode, requests.length]).toEqual([130, 1]);
    expect(document.runctl).toMatchObject({ outcome: 'interrupted', exitCode: 130 });
    expect(document.runctl.trigger.started).toBe('no');
    expect(typesOf(journal())).toEqual(['sent', 'refused']);
  });

  test('after a lost response: 130, and the trigger is unknown', async () => {
    const { runctl, requests, journal } = await given({
      trigger: [then(connectionLost, ({ interrupt }) => interrupt()), accepted],
    });
    const { exitCode, document } = await runctl('trigger nightly --json');
    expect([exitCode, requests.length]).toEqual([130, 1]);
    expect(document.runctl.outcome).toBe('outcome_unknown');
    expect(typesOf(journal())).toEqual(['sent']);
  });

  test('leaves a run alone that was started, and prints what is known', async () => {
    const interruptOnceAccepted: Response = async (_request, _response, { interrupt }) => {
      await vi.waitUntil(() => typesOf(journal()).includes('accepted'), { interval: 1 });
      interrupt();
    };
    const { runctl, journal } = await given({
      trigger: [byName({ nightly: accepted, export: interruptOnceAccepted })],
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
  const fail = { exitCode: 5, outcome: 'already_active' };
  const skip = { exitCode: 0, outcome: 'ok' };

  test.each([
    { flags: '', ...fail, isListed: true },
    { flags: '--if-active fail', ...fail, isListed: true },
    { flags: '--if-active skip', ...skip, isListed: false },
    { flags: '--if-active wait --timeout 3m', ...fail, isListed: false },
  ])('trigger $flags exits with $exitCode', async ({ flags, exitCode, outcome, isListed }) => {
    const { runctl, clock, journal } = await given({ trigger: [alreadyActive] });

    const { document, ...printed } = await runctl(`trigger nightly --json ${flags}`);

    expect(printed.exitCode).toBe(exitCode);
    expect(document).toMatchObject({
      executionId: null,
      runctl: { outcome, exitCode, trigger: { started: 'no' } },
    });
    expect('error' in document.runctl).toBe(exitCode !== 0);
    expect(clock.elapsedMs()).toBe(flags.includes('wait') ? 3 * minuteMs : 0);
    const refusals = journal().filter(({ type }) => type === 'refused');
    expect(new Set(refusals.map((each) => each.isListed))).toEqual(new Set([isListed]));
  });

  test('--if-active skip prints nothing with -q', async () => {
    const { runctl } = await given({ trigger: [alreadyActive] });
    const { exitCode, stdout, stderr } = await runctl('trigger nightly --if-active skip -q');
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('--if-active wait tries again, less and less often, with a new key each time', async () => {
    const { runctl, requests } = await given({
      trigger: [...Array(12).fill(alreadyActive), accepted],
    });
    const { exitCode, stdout } = await runctl('trigger nightly --if-active wait');
    expect([exitCode, stdout]).toEqual([0, `${executionId}\n`]);
    expect(new Set(requests.map(keyOf)).size).toBe(13);
    const gaps = gapsOf(requests);
    expect(gaps.at(0)).toBe(15_000);
    expect(gaps.at(-1)).toBe(minuteMs);
    expect(gaps).toEqual(gaps.toSorted((one, other) => one - other));
  });

  test('--interval fixes how often, and each try has a day of its own', async () => {
    const { runctl, requests } = await given({
      trigger: [...Array(30).fill(alreadyActive), connectionLost, accepted],
    });
    const { exitCode } = await runctl('trigger nightly --if-active wait --interval 1h --timeout 0');
    expect([exitCode, requests.length]).toEqual([0, 32]);
    expect(new Set(gapsOf(requests.slice(0, 31)))).toEqual(new Set([hourMs]));
  });

  test('a given key stays while it waits', async () => {
    const { runctl, requests } = await given({ trigger: [alreadyActive, alreadyActive, accepted] });
    await runctl('trigger nightly --if-active wait --idempotency-key k1');
    expect(requests.map(keyOf)).toEqual(['k1', 'k1', 'k1']);
  });

  test('it may be the run of a lost response, so that --if-active wait ends with 12', async () => {
    const { runctl, requests } = await given({
      trigger: [alreadyActive, connectionLost, alreadyActive, accepted],
    });
    const { exitCode } = await runctl('trigger nightly --if-active wait');
    expect([exitCode, requests.length]).toEqual([12, 3]);
  });

  test('a signal ends --if-active wait, and no run was started', async () => {
    const { runctl } = await given({
      trigger: [then(alreadyActive, ({ interrupt }) => interrupt('SIGTERM')), accepted],
    });
    const { exitCode, document } = await runctl('trigger nightly --if-active wait --json');
    expect(exitCode).toBe(143);
    expect(document.runctl).toMatchObject({ outcome: 'interrupted', trigger: { started: 'no' } });
  });

  test('--timeout counts anew once the run has started', async () => {
    const { runctl } = await given({
      trigger: [alreadyActive, accepted],
      status: [running, statusOf('COMPLETED')],
    });
    const { exitCode } = await runctl(
      'trigger nightly --if-active wait --watch --interval 50m --timeout 1h',
    );
    expect(exitCode).toBe(0);
  });
});

describe('a given key', () => {
  const typed = 'trigger nightly --idempotency-key k1';

  test('may have been sent before from another machine, so started is unknown', async () => {
    const { runctl, requests } = await given();
    const { exitCode, document } = await runctl(`${typed} --json`);
    expect([exitCode, keyOf(requests[0])]).toEqual([0, 'k1']);
    expect(document.runctl.trigger).toEqual({ started: 'unknown', idempotencyKey: 'k1' });
  });

  test('that has a run here is answered with that run, and nothing is sent', async () => {
    const { runctl, requests } = await given();
    await runctl(typed);

    const again = await runctl(typed, { RUNCTL_API_KEY: 'another-key' });
    const { document, stderr } = await runctl(`${typed} --json -q`);

    expect([again.exitCode, again.stdout]).toEqual([0, `${executionId}\n`]);
    expect(again.stderr).toContain('nothing was sent');
    expect(stderr).toBe('');
    expect(document).toMatchObject({ executionId, runctl: { trigger: { started: 'no' } } });
    expect(requests).toHaveLength(1);
  });

  test('that has a run here is followed to the end of that run', async () => {
    const { runctl, requests } = await given({ status: [failed], result: [failedResult] });
    await runctl(typed);
    const { exitCode } = await runctl(`${typed} --watch`);
    expect(exitCode).toBe(1);
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test.each(['nightly', 'export'])('of another automation is refused: %s', async (name) => {
    const { runctl, requests } = await given({ trigger: [connectionLost] });
    await runctl(`${typed} --give-up-after 0`);
    const other = `trigger ${otherId}/${name} --idempotency-key k1`;
    expect((await runctl(other)).exitCode).toBe(2);
    expect(requests).toHaveLength(1);
  });

  test.each([
    { first: 'has a run', response: accepted, hours: 25, exitCode: 2 },
    { first: 'has a run', response: accepted, hours: -25, exitCode: 2 },
    { first: 'is unknown', response: connectionLost, hours: 25, exitCode: 2 },
    { first: 'is unknown', response: connectionLost, hours: 23, exitCode: 0 },
    { first: 'was refused', response: noCredits, hours: 25, exitCode: 0 },
  ])('that $first after $hours hours: $exitCode', async ({ response, hours, exitCode }) => {
    const { runctl, requests, clock } = await given({ trigger: [response, accepted] });
    await runctl(`${typed} --give-up-after 0`);
    clock.set(noonMs + hours * hourMs);
    expect((await runctl(typed)).exitCode).toBe(exitCode);
    expect(requests).toHaveLength(exitCode === 0 ? 2 : 1);
  });

  test('that is unknown is sent again, whatever came later, and a refusal is 12', async () => {
    const { runctl, requests } = await given({
      trigger: [connectionLost, acceptedAs(otherId), noCredits, accepted],
    });
    await runctl(`${typed} --give-up-after 0`);
    await runctl('trigger nightly');

    const asRefused = await runctl(`${typed} --json`);
    const asAccepted = await runctl(`${typed} --json`);

    expect(asRefused.exitCode).toBe(12);
    expect(asRefused.document.runctl.error.httpStatus).toBe(402);
    expect(asAccepted.exitCode).toBe(0);
    expect(asAccepted.document).toMatchObject({
      executionId,
      runctl: { trigger: { started: 'unknown' } },
    });
    expect(requests.map(keyOf).filter((key) => key === 'k1')).toHaveLength(3);
  });

  const ignored = { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' };
  test.each<{ why: string; first: Record<string, string>; then: Record<string, string> }>([
    { why: 'with another API key', first: { RUNCTL_API_KEY: 'another-key' }, then: {} },
    { why: 'while keys were ignored', first: ignored, then: {} },
    { why: 'but keys are ignored now', first: {}, then: ignored },
  ])('that is unknown isn’t sent again if it was sent $why: 12', async ({ first, then }) => {
    const { runctl, requests } = await given({ trigger: [connectionLost, accepted] });
    await runctl(`${typed} --give-up-after 0`, first);
    const { exitCode, document } = await runctl(`${typed} --json`, then);
    expect(exitCode).toBe(12);
    expect(document.runctl.trigger.started).toBe('unknown');
    expect(requests).toHaveLength(1);
  });

  test.each([{ automationName: 'export' }, { projectId: otherId }])(
    'whose response is about another automation is unknown: %o',
    async (fields) => {
      const { runctl } = await given({ trigger: [json(201, run('RUNNING', fields))] });
      const { exitCode, stdout } = await runctl(`${typed} --give-up-after 0`);
      expect([exitCode, stdout]).toEqual([12, '']);
    },
  );

  test('that another command is sending may have started a run, so that a refusal is 12', async () => {
    const { runctl } = await given({
      trigger: [
        async (...request) => {
          await runctl(`${typed} --give-up-after 0`);
          noCredits(...request);
        },
        connectionLost,
      ],
    });
    const { exitCode, document } = await runctl(`${typed} --json`);
    expect([exitCode, document.runctl.error.httpStatus]).toEqual([12, 402]);
  });

  test('that another command got accepted has that run, even if it was refused here', async () => {
    const { runctl } = await given({
      trigger: [
        async (...request) => {
          await runctl(typed);
          noCredits(...request);
        },
        accepted,
      ],
    });
    const { exitCode, document } = await runctl(`${typed} --json`);
    expect([exitCode, document.executionId]).toEqual([0, executionId]);
    expect(document.runctl.trigger.started).toBe('unknown');
  });

  test('has its run even if only that could be recorded', async () => {
    const { runctl, requests, folder } = await given({
      trigger: [
        (...request) => {
          repair();
          accepted(...request);
        },
      ],
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
    expect(exitCode).toBe(8);
    expect(stdout).toBe(`${otherId}\n\n${executionId}\n`);
    expect(new Set(requests.map(keyOf)).size).toBe(3);
    expect(requests.at(-1)?.atMs).toBeLessThan(noonMs + 1000);
  });

  test.each([
    { a: json(201, { executionId }), b: alreadyActive, c: noCredits, exitCode: 5 },
    { a: json(201, { executionId }), b: noCredits, c: alreadyActive, exitCode: 8 },
    { a: noCredits, b: error(302), c: alreadyActive, exitCode: 12 },
  ])('exit with 12, else the first code that isn’t 0: $exitCode', async ({ exitCode, ...each }) => {
    const { runctl } = await given({ trigger: [byName(each)] });
    const printed = await runctl('trigger a b c --json');
    expect(printed.exitCode).toBe(exitCode);
    expect(printed.documents.map(({ automationName }) => automationName)).toEqual(['a', 'b', 'c']);
    // Each document has the code as if it were the only one.
    expect(printed.documents.map((each) => each.runctl.exitCode)).toContain(exitCode);
  });
});

describe('the command to type', () => {
  test.each([
    { typed: 'nightly', next: 'nightly --if-active wait' },
    { typed: "'a b' --watch", next: "'a b' --if-active wait --watch" },
    { typed: `${otherId}/nightly`, next: `${otherId}/nightly --if-active wait` },
    {
      typed: 'nightly -w --idempotency-key k1',
      next: 'nightly --if-active wait --watch --idempotency-key k1',
    },
    {
      typed: `nightly -p ${otherId} --api-key-file - --profile eu`,
      next: `nightly --if-active wait --profile eu --project ${otherId} --api-key-file -`,
    },
  ])('repeats what was typed: $typed', async ({ typed, next }) => {
    const { runctl } = await given({
      trigger: [alreadyActive],
      isTTY: true,
      stdin: apiKey,
      config: { profiles: { eu: {} } },
    });
    const { document } = await runctl(`trigger ${typed} --json`);
    expect(document.runctl.next).toBe(`runctl trigger ${next}`);
  });

  test('has in a mail what the environment gave, but the API key', async () => {
    const { runctl, baseUrl } = await given({ trigger: [alreadyActive] });
    const { stderr } = await runctl('trigger nightly');
    const flags = `--base-url ${baseUrl} --project ${projectId}`;
    expect(stderr).toContain(`\n  → runctl trigger nightly --if-active wait ${flags}\n`);
  });

  test('has in a mail the key of a trigger that is unknown, and finds its run', async () => {
    const { runctl, requests } = await given({ trigger: [connectionLost, accepted] });
    const { document } = await runctl('trigger nightly --watch --json --give-up-after 0');
    const { next } = document.runctl;
    expect(next).toContain(
      `runctl trigger nightly --watch --idempotency-key ${keyOf(requests[0])}`,
    );

    const { exitCode } = await runctl(next.replace('runctl ', ''));

    expect(exitCode).toBe(0);
    expect(keyOf(requests[1])).toBe(keyOf(requests[0]));
  });

  test('after a redirect is doctor', async () => {
    const { runctl } = await given({ trigger: [error(308, { location: '/' })], isTTY: true });
    const { document } = await runctl('trigger nightly --json');
    expect(document.runctl.next).toBe('runctl doctor');
  });
});

describe('a journal', () => {
  const missingFolder = { RUNCTL_STATE_DIR: '/proc/missing' };

  test('that can’t be written costs one warning, and the trigger is sent', async () => {
    const { runctl } = await given({ env: missingFolder });
    const { exitCode, document, stderr } = await runctl('trigger nightly --json');
    expect(exitCode).toBe(0);
    expect(document.executionId).toBe(executionId);
    expect(document.runctl.warnings).toEqual([expect.stringMatching(/journal .*can't be written/)]);
    expect(stderr.match(/warning/g)).toHaveLength(1);
  });

  test('that can’t be written isn’t searched for what is unknown', async () => {
    const { runctl, requests } = await given({
      trigger: [connectionLost],
      env: missingFolder,
      isTTY: true,
    });
    const { exitCode, document } = await runctl('trigger nightly --json --give-up-after 0');
    const next = `runctl trigger nightly --idempotency-key ${keyOf(requests[0])}`;
    expect([exitCode, document.runctl.next]).toEqual([12, next]);
  });

  test('that can’t be written doesn’t make a refusal unknown', async () => {
    const { runctl } = await given({ trigger: [noCredits], env: missingFolder });
    expect((await runctl('trigger nightly')).exitCode).toBe(8);
  });

  test('that breaks before a refusal is written leaves the trigger unknown', async () => {
    const { runctl, folder } = await given({
      trigger: [
        (...request) => {
          breakJournal(folder);
          noCredits(...request);
        },
      ],
    });
    const { exitCode, document } = await runctl('trigger nightly --json');
    expect([exitCode, document.runctl.error.httpStatus]).toEqual([12, 402]);
  });

  test.each(['', '--idempotency-key k1'])(
    'that can’t be read costs a warning, and the trigger is sent: %s',
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

test.each([
  { stdoutError: 'EPIPE', trigger: accepted, exitCode: 141 },
  { stdoutError: 'ENOSPC', trigger: accepted, exitCode: 74 },
  { stdoutError: 'ENOSPC', trigger: byName({ a: accepted, b: noCredits }), exitCode: 8 },
] as const)(
  'an id that can’t be written to stdout is on stderr: $exitCode',
  async ({ stdoutError, trigger, exitCode }) => {
    const { runctl } = await given({ trigger: [trigger], stdoutError });
    const printed = await runctl(exitCode === 8 ? 'trigger a b' : 'trigger nightly');
    expect(printed.exitCode).toBe(exitCode);
    expect(printed.stderr).toContain(executionId);
  },
);

describe('the API key is nowhere, even if the service says it', () => {
  const headers = { 'x-request-id': apiKey, location: `/${apiKey}`, 'set-cookie': apiKey };
  const echo = { code: apiKey, message: `your key ${apiKey} (${encodeURIComponent(apiKey)})` };

  test.each([
    { got: '422', response: json(422, echo, headers) },
    { got: '503', response: json(503, echo, headers) },
    { got: '302', response: json(302, echo, headers) },
    { got: '403 in HTML', response: html(403, apiKey) },
    { got: '201 without an id', response: json(201, { executionId: apiKey }) },
  ])('after $got', async ({ response }) => {
    const { runctl, journal } = await given({ trigger: [response] });
    for (const flags of ['', '--json', '--debug', '--json --debug', '--field runctl.error']) {
      const { stdout, stderr } = await runctl(`trigger nightly --give-up-after 2s ${flags}`);
      expect(stdout + stderr).toContain('nightly ');
      expect(stdout + stderr).not.toContain(apiKey);
    }
    expect(journal().length).toBeGreaterThan(4);
    expect(JSON.stringify(journal())).not.toContain(apiKey);
  });
});
