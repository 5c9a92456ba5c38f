// `list`: what the journal has, and what the service says of it.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  accepted,
  acceptedAs,
  alreadyActive,
  completed,
  connectionLost,
  executionId,
  failed,
  failedResult,
  fullPath,
  given,
  json,
  notFound,
  otherId,
  projectId,
  type Response,
  running,
  statusOf,
} from './given.ts';

const hourMs = 3_600_000;
const otherProjectId = '00000000-0000-4000-8000-000000000002';
const unavailable = json(503, { message: 'Down for maintenance' });
const noCredits = json(402, {});

/** Different ids, the first one of which is `executionId`. */
const ids = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    n === 0 ? executionId : executionId.replace(/^.{4}/, `${1000 + n}`),
  );

const rowsOf = (stdout: string) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split('\t'));
const namesOf = (stdout: string) => rowsOf(stdout).map(([name]) => name);
const statesOf = (stdout: string) => rowsOf(stdout).map(([name, status]) => `${name} ${status}`);

test('in a pipe, rows are tabs: name, status, start, seconds, id, reason; newest first', async () => {
  const { runctl, clock } = await given({
    trigger: [accepted, connectionLost, noCredits, acceptedAs(otherId)],
    status: [failed],
    result: [failedResult],
    runs: { [otherId]: { status: [statusOf('RUNNING', {}, otherId)] } },
  });
  await runctl('trigger nightly --watch');
  await runctl('trigger import --give-up-after 0');
  await runctl('trigger billing');
  await runctl('trigger export');
  clock.pass(90_000);

  const { exitCode, stdout, stderr } = await runctl('list');

  expect([exitCode, stderr]).toEqual([0, '']);
  const noon = '2026-11-28 12:00:00 +0000';
  expect(rowsOf(stdout)).toEqual([
    ['export', 'RUNNING', noon, '90', otherId, '-'],
    ['billing', 'NOT_STARTED', noon, '-', '-', expect.stringContaining('balance is 0')],
    ['import', 'UNKNOWN', noon, '-', '-', 'response lost'],
    ['nightly', 'FAILED', noon, '302', executionId, expect.stringContaining('mail server said no')],
  ]);
  expect((await runctl('ls')).stdout).toBe(stdout);
});

test('runs that were only watched are rows, and no trigger that was skipped or is still waiting', async () => {
  const { runctl } = await given({ trigger: [alreadyActive] });
  await runctl(`watch ${fullPath}`);

  await runctl('trigger nightly --if-active skip');
  await runctl('trigger nightly --if-active wait --timeout 1m');

  expect(statesOf((await runctl('list')).stdout)).toEqual(['nightly COMPLETED']);
  await runctl('trigger nightly');
  expect(statesOf((await runctl('list')).stdout)).toEqual([
    'nightly NOT_STARTED',
    'nightly COMPLETED',
  ]);
});

test('an automation of another project is named by its full path', async () => {
  const { runctl } = await given({
    trigger: [accepted, acceptedAs(otherId)],
    runs: { [otherId]: {} },
  });
  await runctl('trigger nightly');
  await runctl(`trigger ${otherProjectId}/nightly`);

  expect(namesOf((await runctl('list')).stdout)).toEqual([`${otherProjectId}/nightly`, 'nightly']);
  expect(namesOf((await runctl('list nightly')).stdout)).toEqual(['nightly']);
  const other = await runctl(`list ${otherProjectId}/nightly --field executionId`);
  expect(other.stdout).toBe(`${otherId}\n`);
});

describe('the rows', () => {
  /** Each an hour after the one before: `job-0` at 12:00, and so on. */
  async function givenJobs(count: number) {
    const all = ids(count);
    const world = await given({
      trigger: all.map(acceptedAs),
      runs: Object.fromEntries(all.map((id) => [id, {}])),
    });
    for (const n of all.keys()) {
      await world.runctl(`trigger job-${n}`);
      world.clock.pass(hourMs);
    }
    world.requests.length = 0;
    return world;
  }

  test.each([
    ['', 20],
    ['-n 3', 3],
    ['--limit 22', 22],
    ['--since 2d', 22],
    ['--since 2d -n 5', 5],
    ['--since 3h', 3],
    ['--since 2026-11-29', 10],
    ["--since '2026-11-29 03:00'", 7],
    ['--since 06:00', 4],
    ['--since 400d', 22],
  ])('of `list %s` are the newest %i', async (flags, count) => {
    const { runctl, requests } = await givenJobs(22);

    const { stdout } = await runctl(`list ${flags}`);

    const newest = Array.from({ length: count }, (_, n) => `job-${21 - n}`);
    expect(namesOf(stdout)).toEqual(newest);
    expect(requests).toHaveLength(count);
  });

  test('with --latest are one of each automation: the unfinished one, else the newest', async () => {
    const [first = '', second = '', third = '', fourth = ''] = ids(4);
    const { runctl } = await given({
      trigger: [first, second, third, fourth].map(acceptedAs),
      runs: {
        [first]: { status: [statusOf('COMPLETED', {}, first)] },
        [second]: { status: [statusOf('FAILED', {}, second)] },
        [third]: { status: [statusOf('RUNNING', {}, third)] },
        [fourth]: { status: [statusOf('COMPLETED', {}, fourth)] },
      },
    });
    for (const name of ['nightly', 'nightly', 'export', 'export']) await runctl(`trigger ${name}`);
    for (const id of [first, second, fourth]) await runctl(`status ${id}`);

    expect(statesOf((await runctl('list --latest')).stdout)).toEqual([
      'export RUNNING',
      'nightly FAILED',
    ]);
    expect(statesOf((await runctl('list nightly --latest')).stdout)).toEqual(['nightly FAILED']);
  });

  test('with --latest and --since are of that time', async () => {
    const { runctl } = await givenJobs(4);

    expect(namesOf((await runctl('list --latest --since 2h')).stdout)).toEqual(['job-3', 'job-2']);
    expect(namesOf((await runctl('list job-1 --latest --since 2h')).stdout)).toEqual([]);
  });
});

describe('--status', () => {
  async function givenEach() {
    const [first = '', second = ''] = ids(2);
    const world = await given({
      trigger: [acceptedAs(first), acceptedAs(second), connectionLost],
      status: [failed],
      result: [failedResult],
      runs: {
        [second]: { status: [statusOf('RUNNING', {}, second), statusOf('FAILED', {}, second)] },
      },
    });
    await world.runctl('trigger nightly --watch');
    await world.runctl('trigger export');
    await world.runctl('trigger import --give-up-after 0');
    world.requests.length = 0;
    return world;
  }

  test.each([
    ['UNKNOWN', ['import']],
    ['running', ['export']],
    ['FAILED,UNKNOWN', ['import', 'nightly']],
    ['COMPLETED', []],
  ])(
    '%s shows these alone, and asks for the status of what is unfinished',
    async (words, names) => {
      const { runctl, requests } = await givenEach();

      const { exitCode, stdout } = await runctl(`list --status ${words}`);

      expect([exitCode, namesOf(stdout)]).toEqual([0, names]);
      expect(requests).toHaveLength(1);
    },
  );

  test('compares the status that was just asked for', async () => {
    const { runctl } = await givenEach();
    await runctl('list');

    const { stdout } = await runctl('list --status FAILED -n 1');

    expect(namesOf(stdout)).toEqual(['export']);
  });

  test('shows what could not be compared, and exits with the code of that failure', async () => {
    const { runctl } = await given({ status: [unavailable] });
    await runctl('trigger nightly');

    const { exitCode, stdout, stderr } = await runctl('list --status FAILED');

    expect([exitCode, namesOf(stdout)]).toEqual([10, ['nightly']]);
    expect(stderr).toContain('Down for maintenance');
    expect(await runctl('list --status FAILED --offline')).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
  });
});

test('a run that has finished is not asked for again', async () => {
  const { runctl, requests } = await given({ status: [running, completed] });
  await runctl('trigger nightly');
  requests.length = 0;

  const each = [await runctl('list'), await runctl('list'), await runctl('list')];

  expect(each.flatMap(({ stdout }) => statesOf(stdout))).toEqual([
    'nightly RUNNING',
    'nightly COMPLETED',
    'nightly COMPLETED',
  ]);
  expect(requests).toHaveLength(2);
});

describe('a run that could not be polled', () => {
  test.each<[string, Response, number, string]>([
    ['503', unavailable, 10, 'unavailable'],
    ['401', json(401, {}), 7, 'unauthorized'],
    ['429', json(429, {}), 9, 'rate_limited'],
    ['a lost connection', connectionLost, 10, 'unavailable'],
  ])(
    '(%s) gives the code, and is shown with the age of its status',
    async (_, response, code, outcome) => {
      const { runctl, clock } = await given({ status: [running, response] });
      await runctl('trigger nightly');
      await runctl('status nightly');
      clock.pass(hourMs);
      const beforeMs = clock.elapsedMs();

      const { exitCode, stdout, stderr, documents } = await runctl('list --json');

      expect(exitCode).toBe(code);
      expect(documents).toMatchObject([
        { executionId, status: 'RUNNING', runctl: { outcome, exitCode: code, error: {} } },
      ]);
      expect(documents[0].runctl.statusAgeMs).toBeGreaterThanOrEqual(hourMs);
      expect(stderr.match(/runctl: /g)).toHaveLength(1);
      expect(clock.elapsedMs() - beforeMs).toBeLessThanOrEqual(5000);
      expect(stdout).not.toBe('');
      expect(rowsOf((await runctl('list')).stdout)).toMatchObject([
        ['nightly', 'RUNNING', {}, {}, executionId, expect.stringContaining('1h')],
      ]);
    },
  );

  test('is told once, however many there are', async () => {
    const { runctl } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      runs: { [otherId]: { status: [json(401, {})] }, [executionId]: { status: [unavailable] } },
    });
    await runctl('trigger nightly');
    await runctl('trigger export');

    const { exitCode, stdout, stderr } = await runctl('list');

    expect(exitCode).toBe(7);
    expect(rowsOf(stdout)).toHaveLength(2);
    expect(stderr.match(/^runctl: /gm)).toHaveLength(1);
  });
});

test('a run that the service does not know is NOT_FOUND, which is an answer and never recorded', async () => {
  const { runctl, journal } = await given({ status: [notFound] });
  await runctl('trigger nightly');
  const before = journal();

  const { exitCode, stdout, stderr } = await runctl('list --status NOT_FOUND');

  expect([exitCode, stderr]).toEqual([0, '']);
  expect(statesOf(stdout)).toEqual(['nightly NOT_FOUND']);
  const { document } = await runctl('list --json');
  expect(document).toMatchObject({ executionId, runctl: { outcome: 'not_found', exitCode: 0 } });
  expect(journal()).toEqual(before);
});

describe('nothing is asked', () => {
  test.each([
    ['with --offline', '--offline', {}],
    ['without an API key', '', { RUNCTL_API_KEY: '' }],
    ['without any settings', '', { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' }],
  ])('%s, and rows have the status of the journal', async (_, flags, env) => {
    const { runctl, requests, clock } = await given({ status: [running, completed] });
    await runctl('trigger nightly');
    await runctl('status nightly');
    requests.length = 0;
    clock.pass(2 * hourMs);

    const { exitCode, document } = await runctl(`list --json ${flags}`, env);

    expect(exitCode).toBe(0);
    expect(document).toMatchObject({
      executionId,
      projectId,
      automationName: 'nightly',
      status: 'RUNNING',
      startedAt: '2026-11-28T12:00:00.000Z',
      runctl: { outcome: 'still_running', exitCode: 0, statusAgeMs: 2 * hourMs },
    });
    expect(requests).toEqual([]);
  });

  test('of a run that is older than 24 hours', async () => {
    const { runctl, requests, clock } = await given({ status: [running] });
    await runctl('trigger nightly --watch --timeout 1s');
    requests.length = 0;
    clock.pass(25 * hourMs);

    const { exitCode, stdout } = await runctl('list');

    expect(exitCode).toBe(0);
    expect(rowsOf(stdout)).toMatchObject([
      ['nightly', 'RUNNING', {}, {}, executionId, expect.stringContaining('1d 1h')],
    ]);
    expect(requests).toEqual([]);
  });
});

test('a name that the journal does not know is 6, and an empty list is 0', async () => {
  const { runctl, clock } = await given();

  expect(await runctl('list')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  expect((await runctl('list --json')).stdout).toBe('');
  await runctl('trigger nightly --watch');
  clock.pass(hourMs);

  expect(await runctl('list nightly --since 30m')).toMatchObject({ exitCode: 0, stdout: '' });
  expect(await runctl('list nightly --status FAILED')).toMatchObject({ exitCode: 0, stdout: '' });
  const { exitCode, document } = await runctl('list unheard-of --json');
  expect(exitCode).toBe(6);
  expect(document.runctl.outcome).toBe('not_found');
});

describe('the journal', () => {
  const fileIn = (folder: string) => join(folder, 'journal', '00000001.jsonl');

  test('may have torn, foreign and doubled lines', async () => {
    const { runctl, folder } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      runs: { [otherId]: {} },
    });
    await runctl('trigger nightly --watch');
    const before = await runctl('list');
    const lines = readFileSync(fileIn(folder), 'utf8');
    const foreign = [
      '{"type":"future","atMs":1}',
      '[]',
      'null',
      '{"type":"sent"}',
      '\u0000\u0000',
      '{',
    ];
    appendFileSync(fileIn(folder), `${lines}${foreign.join('\n')}\n${lines.slice(0, 200)}`);

    expect((await runctl('list')).stdout).toBe(before.stdout);
    await runctl('trigger export');
    expect(namesOf((await runctl('list')).stdout)).toEqual(['export', 'nightly']);
  });

  /** Nine days after the run of `nightly`, with a newer file that is longer than 1 MB. */
  async function givenLongJournal() {
    const world = await given();
    await world.runctl('trigger nightly --watch');
    world.clock.pass(9 * 24 * hourMs);
    const atMs = world.clock.nowMs() - 8 * 24 * hourMs;
    const common = { atMs, baseUrl: world.baseUrl, projectId, name: 'export' };
    const record = { type: 'status', executionId: otherId, status: 'COMPLETED', isFinal: true };
    const line = `${JSON.stringify({ ...record, ...common })}\n`;
    writeFileSync(join(world.folder, 'journal', '00000002.jsonl'), line.repeat(5000));
    return world;
  }

  test.each([
    'list',
    'list --latest',
    'list nightly',
    'list --since 10d',
    'status nightly',
    'status 4b7c',
  ])('is read by `%s` as far as it needs', async (line) => {
    const { runctl } = await givenLongJournal();

    const { exitCode, stdout } = await runctl(line);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(executionId);
  });

  test.each(['list --since 1d', 'list -n 1', 'watch --all', 'recover', 'trigger nightly'])(
    'is read by `%s` no further than the newest megabyte and day',
    async (line) => {
      const { runctl, folder } = await givenLongJournal();
      rmSync(fileIn(folder));
      mkdirSync(fileIn(folder)); // can't be read

      expect(await runctl(line)).toMatchObject({
        exitCode: 0,
        stderr: expect.not.stringMatching(/journal/),
      });
      expect((await runctl('list nightly')).exitCode).toBe(74);
    },
  );

  test('has records of each base URL, however that is written', async () => {
    const { runctl, baseUrl } = await given();
    await runctl('trigger nightly --watch');
    const as = (url: string) => runctl('list --offline', { RUNCTL_BASE_URL: url });

    for (const url of [`${baseUrl}/`, `${baseUrl}/v0`, `${baseUrl}/v0/`.replace('http', 'HTTP')]) {
      expect(namesOf((await as(url)).stdout)).toEqual(['nightly']);
    }
    expect((await as('https://other.example')).stdout).toBe('');
    expect(namesOf((await as('')).stdout)).toEqual(['nightly']);
  });

  test('is for the user alone, and holds neither the API key nor an output', async () => {
    const { runctl, folder, journal } = await given({ status: [failed], result: [failedResult] });
    await runctl('trigger nightly --watch');

    expect(readdirSync(join(folder, 'journal'))).toEqual(['00000001.jsonl']);
    expect(JSON.stringify(journal())).not.toMatch(/sk-live|The report was sent/);
  });

  test.each(['list', 'list nightly', 'list --latest', 'list --since 1d', 'watch --all', 'recover'])(
    'that cannot be read is 74 for `%s`',
    async (line) => {
      const { runctl, folder, requests } = await given();
      mkdirSync(fileIn(folder), { recursive: true });

      const { exitCode, document } = await runctl(`${line} --json`);

      expect(exitCode).toBe(74);
      expect(document.runctl).toMatchObject({ outcome: 'io_error', exitCode: 74 });
      expect(requests).toEqual([]);
    },
  );
});
