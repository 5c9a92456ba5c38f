// `list`: what the journal has, and what the service says of it.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordedNames } from '../src/commands/arguments.ts';
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
} from './given.ts';

const hourMs = 3_600_000;
const otherProjectId = '00000000-0000-4000-8000-000000000002';
const unavailable = json(503, { message: 'Down for maintenance' });

const rowsOf = ({ stdout }: { stdout: string }) =>
  stdout.split('\n').flatMap((row) => (row === '' ? [] : [row.split('\t')]));
const namesOf = (printed: { stdout: string }) => rowsOf(printed).map(([name]) => name);
const statesOf = (printed: { stdout: string }) =>
  rowsOf(printed).map(([name, status]) => `${name} ${status}`);

test('rows in a pipe are name, status, start, seconds, id, reason; newest first', async () => {
  const { runctl, clock } = await given({
    trigger: [accepted, connectionLost, json(402, {}), acceptedAs(otherId)],
    status: [failed],
    result: [failedResult],
    runs: { [otherId]: { status: [running] } },
  });
  await runctl('trigger nightly --watch');
  await runctl('trigger import --give-up-after 0');
  await runctl('trigger billing');
  await runctl('trigger export');
  clock.pass(90_000);

  const listed = await runctl('list');

  expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
  const noon = '2026-11-28 12:00:00 +0000';
  expect(rowsOf(listed)).toEqual([
    ['export', 'RUNNING', noon, '90', otherId, '-'],
    ['billing', 'NOT_STARTED', noon, '-', '-', expect.stringContaining('balance is 0')],
    ['import', 'UNKNOWN', noon, '-', '-', 'response lost'],
    ['nightly', 'FAILED', noon, '302', executionId, expect.stringContaining('mail server said no')],
  ]);
  expect((await runctl('ls')).stdout).toBe(listed.stdout);
});

test('runs that were only watched are rows, but no trigger that was skipped or waits', async () => {
  const { runctl } = await given({ trigger: [alreadyActive] });
  await runctl(`watch ${fullPath}`);

  await runctl('trigger nightly --if-active skip');
  await runctl('trigger nightly --if-active wait --timeout 1m');
  expect(statesOf(await runctl('list'))).toEqual(['nightly COMPLETED']);

  await runctl('trigger nightly');
  expect(statesOf(await runctl('list'))).toEqual(['nightly NOT_STARTED', 'nightly COMPLETED']);
});

test('an automation of another project is named by its full path', async () => {
  const { runctl } = await given({ trigger: [accepted, acceptedAs(otherId)] });
  await runctl('trigger nightly');
  await runctl(`trigger ${otherProjectId}/nightly`);

  expect(namesOf(await runctl('list'))).toEqual([`${otherProjectId}/nightly`, 'nightly']);
  expect(namesOf(await runctl('list nightly'))).toEqual(['nightly']);
  const ofNone = await runctl('list', { RUNCTL_PROJECT: '' });
  expect(namesOf(ofNone)).toEqual([`${otherProjectId}/nightly`, `${projectId}/nightly`]);
  const other = await runctl(`list ${otherProjectId}/nightly --field executionId`);
  expect(other.stdout).toBe(`${otherId}\n`);
});

/** `job-0` was triggered at 12:00, `job-1` at 13:00, and so on. It is an hour later now. */
async function givenJobs(count: number) {
  const ids = Array.from({ length: count }, (_, n) => executionId.replace(/^.{4}/, `${1000 + n}`));
  const world = await given({ trigger: ids.map(acceptedAs) });
  for (const n of ids.keys()) {
    await world.runctl(`trigger job-${n}`);
    world.clock.pass(hourMs);
  }
  world.requests.length = 0;
  return world;
}

test.each([
  ['', 20],
  ['-n 3', 3],
  ['--limit 1000000', 22],
  ['--since 2d', 22],
  ['--since 400d', 22],
  ['--since 2d -n 5', 5],
  ['--since 3h', 3],
  ['--since 2026-11-29', 10],
  ["--since '2026-11-29 03:00'", 7],
  ['--since 06:00', 4],
  ['--since 11:00', 22],
  ['--latest', 20],
  ['--latest --since 2h', 2],
])('`list %s` shows the newest %i of 22, and asks for each once', async (flags, count) => {
  const { runctl, requests } = await givenJobs(22);

  const names = namesOf(await runctl(`list ${flags}`));

  expect(names).toEqual(Array.from({ length: count }, (_, n) => `job-${21 - n}`));
  expect(requests).toHaveLength(count);
});

test('--since takes a date for a local one', async () => {
  vi.stubEnv('TZ', 'Asia/Tokyo');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { runctl } = await givenJobs(22);

  // In Tokyo the 29th begins at 15:00 UTC.
  expect(namesOf(await runctl('list --since 2026-11-29')).at(-1)).toBe('job-3');
});

test('the Tab key offers the automation first that was triggered last', async () => {
  const { runctl, folder, clock } = await given();
  for (const name of ['nightly', 'export', 'nightly']) await runctl(`trigger ${name}`);

  const names = recordedNames({ RUNCTL_STATE_DIR: folder }, clock.nowMs());
  expect(names).toEqual(['nightly', 'export']);
});

test('--latest is one of each automation: the unfinished one, else the newest', async () => {
  const ids = [executionId, otherId, '10000000-0000-4000-8000-000000000000'];
  const { runctl } = await given({
    trigger: [...ids, '20000000-0000-4000-8000-000000000000'].map(acceptedAs),
    runs: { [executionId]: { status: [running] } },
  });
  for (const name of ['nightly', 'nightly', 'export', 'export']) await runctl(`trigger ${name}`);
  for (const id of [otherId, '1000', '2000']) await runctl(`status ${id}`);

  const { documents } = await runctl('list --latest --json');

  expect(documents).toMatchObject([
    { automationName: 'export', executionId: expect.stringMatching(/^2000/) },
    { automationName: 'nightly', executionId, status: 'RUNNING' },
  ]);
  expect(statesOf(await runctl('list nightly --latest'))).toEqual(['nightly RUNNING']);
});

test('--latest is the newest of two that are unfinished', async () => {
  const { runctl } = await given({
    trigger: [accepted, acceptedAs(otherId)],
    status: [running],
  });
  await runctl('trigger nightly');
  await runctl('trigger nightly');

  expect((await runctl('list --latest --field executionId')).stdout).toBe(`${otherId}\n`);
});

test('--latest is the newest, if the unfinished one is older than a day', async () => {
  const { runctl, clock } = await given({ trigger: [accepted, acceptedAs(otherId)] });
  await runctl('trigger nightly');
  clock.pass(25 * hourMs);
  await runctl('trigger nightly --watch');

  expect((await runctl('list --latest --field executionId')).stdout).toBe(`${otherId}\n`);
});

describe('--status', () => {
  test.each([
    ['UNKNOWN', ['import']],
    ['running', ['export']],
    ['FAILED,UNKNOWN', ['import', 'nightly']],
    ['COMPLETED', []],
  ])('%s shows %j, and asks for the status of what is unfinished', async (words, names) => {
    const { runctl, requests } = await given({
      trigger: [accepted, acceptedAs(otherId), connectionLost],
      status: [failed],
      result: [failedResult],
      runs: { [otherId]: { status: [running] } },
    });
    await runctl('trigger nightly --watch');
    await runctl('trigger export');
    await runctl('trigger import --give-up-after 0');
    requests.length = 0;

    const listed = await runctl(`list --status ${words}`);

    expect([listed.exitCode, namesOf(listed)]).toEqual([0, names]);
    expect(requests).toHaveLength(1);
  });

  test('compares what the service says now', async () => {
    const { runctl } = await givenJobs(3);

    expect(namesOf(await runctl('list --status COMPLETED -n 2'))).toEqual(['job-2', 'job-1']);
  });

  test('shows what could not be compared, and exits with the code of that failure', async () => {
    const { runctl } = await given({ status: [unavailable] });
    await runctl('trigger nightly');

    const listed = await runctl('list --status FAILED');
    const offline = await runctl('list --status FAILED --offline');

    expect([listed.exitCode, namesOf(listed)]).toEqual([10, ['nightly']]);
    expect(listed.stderr).toContain('Down for maintenance');
    expect([offline.exitCode, offline.stdout]).toEqual([0, '']);
  });
});

test('a run that has finished is not asked for again, whatever the service says later', async () => {
  const { runctl, requests } = await given({ status: [running, completed, running] });
  await runctl('trigger nightly');

  expect(statesOf(await runctl('list'))).toEqual(['nightly RUNNING']);
  expect(statesOf(await runctl('list'))).toEqual(['nightly COMPLETED']);
  await runctl('status nightly');
  expect(statesOf(await runctl('list'))).toEqual(['nightly COMPLETED']);
  expect(requests).toHaveLength(4);
});

describe('a run that cannot be polled', () => {
  test.each<[string, Response, number, string]>([
    ['a 503', unavailable, 10, 'unavailable'],
    ['a 401', json(401, {}), 7, 'unauthorized'],
    ['a 429', json(429, {}), 9, 'rate_limited'],
  ])('(%s) gives the code, and shows the age of its status', async (_, answer, code, outcome) => {
    const { runctl, clock } = await given({ status: [running, answer] });
    await runctl('trigger nightly');
    await runctl('status nightly');
    clock.pass(hourMs);
    const beforeMs = clock.elapsedMs();

    const { exitCode, document } = await runctl('list --json');

    expect(exitCode).toBe(code);
    expect(document).toMatchObject({ executionId, status: 'RUNNING', runctl: { outcome } });
    expect(document.runctl).toMatchObject({ exitCode: code, error: {} });
    expect(document.runctl.statusAgeMs).toBeGreaterThanOrEqual(hourMs);
    expect(clock.elapsedMs() - beforeMs).toBeLessThanOrEqual(5000);
    expect((await runctl('list')).stdout).toMatch(/nightly\tRUNNING\t.*1h/);
  });

  test('is told once, however many there are', async () => {
    const { runctl } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      status: [unavailable],
      runs: { [otherId]: { status: [json(401, {})] } },
    });
    await runctl('trigger nightly');
    await runctl('trigger export');

    const listed = await runctl('list');

    expect(listed.exitCode).toBe(7);
    expect(statesOf(listed)).toEqual(['export RUNNING', 'nightly RUNNING']);
    expect(listed.stderr.match(/^runctl: /gm)).toHaveLength(1);
  });

  test('because the service does not know it, is NOT_FOUND: 0, and never recorded', async () => {
    const { runctl, journal } = await given({ status: [notFound] });
    await runctl('trigger nightly');
    const before = journal();

    const listed = await runctl('list --status NOT_FOUND');
    const { document } = await runctl('list --json');

    expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
    expect(statesOf(listed)).toEqual(['nightly NOT_FOUND']);
    expect(document).toMatchObject({ executionId, runctl: { outcome: 'not_found', exitCode: 0 } });
    expect(journal()).toEqual(before);
  });
});

test.each([
  ['with --offline', '--offline', {}, 2],
  ['without an API key', '', { RUNCTL_API_KEY: '' }, 2],
  ['without settings', '', { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' }, 2],
  ['of a run that is older than 24 hours', '', {}, 25],
])('nothing is asked %s, and the journal has the status', async (_, flags, env, hours) => {
  const { runctl, requests, clock } = await given({ status: [running, completed] });
  await runctl('trigger nightly');
  await runctl('status nightly');
  requests.length = 0;
  clock.pass(hours * hourMs);

  const { exitCode, document } = await runctl(`list --json ${flags}`, env);

  expect(exitCode).toBe(0);
  expect(document).toMatchObject({
    executionId,
    projectId,
    automationName: 'nightly',
    status: 'RUNNING',
    startedAt: '2026-11-28T12:00:00.000Z',
    runctl: { outcome: 'still_running', exitCode: 0, statusAgeMs: hours * hourMs },
  });
  expect(requests).toEqual([]);
});

test('a name that the journal does not know is 6, and an empty list is 0', async () => {
  const { runctl, clock } = await given();
  const empty = { exitCode: 0, stdout: '', stderr: '' };

  expect(await runctl('list')).toMatchObject(empty);
  expect(await runctl('list --json')).toMatchObject(empty);
  await runctl('trigger nightly --watch');
  clock.pass(hourMs);
  expect(await runctl('list nightly --since 30m')).toMatchObject(empty);
  expect(await runctl('list nightly --latest --since 30m')).toMatchObject(empty);
  expect(await runctl('list nightly --status FAILED')).toMatchObject(empty);
  expect((await runctl('list unheard-of')).exitCode).toBe(6);
});

describe('the journal', () => {
  const fileIn = (folder: string, number = 1) =>
    join(folder, 'journal', `${String(number).padStart(8, '0')}.jsonl`);

  test('may have torn, foreign and doubled lines', async () => {
    const { runctl, folder, journal } = await given({
      trigger: [accepted, acceptedAs(otherId)],
      status: [failed],
      result: [failedResult],
    });
    await runctl('trigger nightly --watch');
    const before = await runctl('list');
    const lines = readFileSync(fileIn(folder), 'utf8');
    const polled = journal().at(-2); // without the reason, as another command may write it later
    const noDate = { ...polled, executionId: otherId, atMs: 8.65e15 };
    const noId = { ...polled, executionId: '\u001b[2J' };
    const noTime = { ...polled, executionId: otherId, startedAtMs: '' };
    const refused = { type: 'refused', key: 'k', sentId: '1', kind: 'rejected', isListed: true };
    const noReason = { ...polled, ...refused };
    const later = [noDate, noId, noTime, noReason, polled]
      .map((record) => `${JSON.stringify(record)}\n`)
      .join('');
    const foreign = '{"type":"future","atMs":1}\n[]\nnull\n{"type":"sent"}\n\u0000\n{\n';
    appendFileSync(fileIn(folder), `${lines}${foreign}${later}${lines.slice(0, 200)}`);

    expect((await runctl('list')).stdout).toBe(before.stdout);
    writeFileSync(fileIn(folder, 2), '');
    await runctl('trigger export');
    expect(namesOf(await runctl('list'))).toEqual(['export', 'nightly']);
  });

  /** Nine days after `nightly` has failed, with a newer file that is longer than 1 MB. */
  async function givenLongJournal(trigger = [accepted]) {
    const world = await given({ trigger, status: [failed], result: [failedResult] });
    await world.runctl('trigger nightly --watch');
    const atMs = world.clock.nowMs() + 24 * hourMs;
    world.clock.pass(9 * 24 * hourMs);
    const common = { atMs, baseUrl: world.baseUrl, projectId, name: 'export' };
    const record = { type: 'status', executionId: otherId, status: 'COMPLETED', isFinal: true };
    const line = `${JSON.stringify({ ...record, ...common })}\n`;
    writeFileSync(fileIn(world.folder, 2), line.repeat(5000));
    return world;
  }

  test.each([
    'list',
    'list --latest',
    'list nightly',
    'list --since 10d',
    'list --status FAILED -n 1',
    'status nightly',
    'status 4b7c',
  ])('is read by `%s` as far as it needs', async (line) => {
    const { runctl } = await givenLongJournal();

    const { exitCode, stdout } = await runctl(line);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(executionId);
  });

  test('has the newest of an automation for --latest, however many files are older', async () => {
    const { runctl, folder, baseUrl } = await givenLongJournal();
    const common = { atMs: 1, baseUrl, projectId, name: 'nightly' };
    const record = { type: 'status', executionId: otherId, status: 'CANCELLED', isFinal: true };
    writeFileSync(fileIn(folder, 0), JSON.stringify({ ...record, ...common }));

    expect(statesOf(await runctl('list --latest'))).toEqual(['export COMPLETED', 'nightly FAILED']);
  });

  test('has the place of a trigger that is older than a megabyte, but not than a day', async () => {
    const { runctl, folder, baseUrl, clock } = await given({ status: [running] });
    await runctl('trigger nightly');
    const common = { atMs: clock.nowMs(), baseUrl, projectId, name: 'export' };
    const record = { type: 'status', executionId: otherId, status: 'COMPLETED', isFinal: true };
    const line = `${JSON.stringify({ ...record, ...common })}\n`;
    writeFileSync(fileIn(folder, 2), line.repeat(5000));
    await runctl('status nightly');

    expect(namesOf(await runctl('list -n 1'))).toEqual(['export']);
  });

  test('has the last run of a name that was refused since', async () => {
    const { runctl } = await givenLongJournal([accepted, json(402, {})]);
    await runctl('trigger nightly');

    const { exitCode, stdout, stderr } = await runctl('status nightly');

    expect([exitCode, stdout.includes(executionId)]).toEqual([0, true]);
    expect(stderr).toContain('started no run');
  });

  test('has the last run of a name, though another was watched since', async () => {
    const { runctl } = await givenLongJournal([accepted]);
    await runctl(`watch ${projectId}/nightly/${otherId}`);

    expect((await runctl('status nightly')).stdout).toContain(executionId);
  });

  test.each(['list --since 1d', 'list -n 1', 'watch --all', 'recover', 'trigger nightly'])(
    'is read by `%s` no further than the newest megabyte and days',
    async (line) => {
      const { runctl, folder } = await givenLongJournal();
      rmSync(fileIn(folder));
      mkdirSync(fileIn(folder)); // can't be read

      const { exitCode, stderr } = await runctl(line);

      expect(exitCode).toBe(0);
      expect(stderr).not.toContain('journal');
      expect((await runctl('list nightly')).exitCode).toBe(74);
    },
  );

  test('has the newest 400 files', async () => {
    const { runctl, folder } = await given();
    mkdirSync(join(folder, 'journal'));
    for (let number = 1; number <= 400; number++) writeFileSync(fileIn(folder, number), '');
    writeFileSync(fileIn(folder, 400), ' '.repeat(256 * 1024));

    await runctl('trigger nightly');

    expect(namesOf(await runctl('list'))).toEqual(['nightly']);
    expect(existsSync(fileIn(folder, 1))).toBe(false);
  });

  test('has records of each base URL, however that is written', async () => {
    const { runctl, baseUrl } = await given();
    await runctl('trigger nightly --watch');
    const listAt = async (url: string) =>
      namesOf(await runctl('list --offline', { RUNCTL_BASE_URL: url }));

    expect(await listAt(`${baseUrl}/`)).toEqual(['nightly']);
    expect(await listAt(`${baseUrl}/v0/`.replace('http', 'HTTP'))).toEqual(['nightly']);
    expect(await listAt('')).toEqual(['nightly']);
    expect(await listAt('https://other.example')).toEqual([]);
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
