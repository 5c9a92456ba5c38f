// Which runs `runctl list` shows, in which form, and what it says about those that it doesn't show or couldn't poll.
import { expect, test, vi } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { withMachine } from '../helpers/machine.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createVirtualClock } from '../helpers/virtual-clock.ts';
import { accepted, baseUrl, key, projectId, status, triggered, uuid, weekly } from '../journal/records.ts';

/** What `list` prints on a machine whose journal has these records; `aheadMs` is how far they are dated in the future. */
async function listedAfter(records: readonly NewRecord[], line = '', { aheadMs = 0, project = '' } = {}) {
  const folder = temporaryFolder();
  const clock = createVirtualClock();
  const nowMs = () => clock.nowMs() + aheadMs;
  const journal = openJournal({ folder, nowMs, onFailure: (what) => expect.unreachable(what) });
  for (const record of records) journal.append(record);
  const folders = { RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder };
  const env = { RUNCTL_BASE_URL: baseUrl, RUNCTL_PROJECT: project, ...folders };
  const ended = await runProgram(['list', ...line.split(' ').filter(Boolean)], { env, clock });
  return { ...ended, folder };
}

const elsewhere = (record: NewRecord) => ({ ...record, baseUrl: 'https://other.example.com' });

/** Two runs of nightly, one of weekly, and one of another service. */
const runs: NewRecord[] = [
  ...[triggered(1), accepted(1), status(1, 'FAILED')],
  ...[triggered(2, weekly), accepted(2, weekly)],
  ...[elsewhere(triggered(3)), elsewhere(accepted(3))],
  ...[triggered(4), accepted(4), status(4, 'COMPLETED')],
];

/** So many runs that have finished. */
const finished = (count: number) =>
  Array.from({ length: count }, (_, n) => [triggered(n), accepted(n), status(n, 'COMPLETED')]).flat();

test.each([
  ['all of this service, newest first', '', [4, 2, 1]],
  ['of one automation', 'nightly', [4, 1]],
  ['of two automations', `nightly ${projectId}/weekly/report`, [4, 2, 1]],
  ['with one status', '--status failed', [1]],
  ['with one of two', '--status failed,running', [2, 1]],
  ['the newest only', '--limit 2', [4, 2]],
  ['of the project', `--project ${projectId.toUpperCase()}`, [4, 2, 1]],
  ['of another project', `--project ${uuid(9)}`, []],
  ['of one automation in another project', `nightly --project ${uuid(9)}`, []],
])('the runs that are listed are %s: %s', async (_, line, numbers) => {
  const { documents } = await listedAfter(runs, `${line} --offline --json`);
  expect(documents.map(({ executionId }) => executionId)).toEqual(numbers.map(uuid));
});

test('the runs of all projects are listed, whichever is set', async () => {
  const { documents } = await listedAfter(runs, '--offline --json', { project: uuid(9) });
  expect(documents.map(({ executionId }) => executionId)).toEqual([4, 2, 1].map(uuid));
});

test('an unknown name has no rows, and a similar name is suggested', async () => {
  const { code, stdout, stderr } = await listedAfter(runs, 'nigthly');
  expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('Did you mean nightly?')]);
  expect((await listedAfter(runs, 'nightly nigthly')).stderr).toContain('Did you mean nightly?');
  expect((await listedAfter(runs, 'nightly --status TIMED_OUT --offline')).stderr).not.toContain('Did you mean');
});

test.each([
  ['--json executionId,status', '--field executionId,status'],
  ['nightly,weekly', 'spaces'],
])('`list %s` is refused because no name has a comma, and the hint says what to type', async (line, hint) => {
  expect(await listedAfter(runs, line)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
});

test('people see a table of the runs, with a column of their origin if some were started elsewhere', async () => {
  const { stdout, stderr } = await listedAfter(runs);
  expect(stdout).toMatch(/COMPLETED.*nightly[\s\S]*RUNNING.*weekly[\s\S]*FAILED.*nightly/);
  expect([stdout, stderr]).toEqual([expect.not.stringContaining('elsewhere'), '']);
  expect((await listedAfter([...runs, status(5, 'COMPLETED')])).stdout).toMatch(/ORIGIN.*elsewhere/s);
});

test.each([
  ['20, and says so', '', 20, /-n 100/],
  ['20 with --json, and says so', '--json', 20, /-n 100/],
  ['as many as --limit says', '--since 2d -n 3', 3, /-n 15/],
  ['all since a time', '--since 2d', 23, /^$/],
  ['all if there are no more', '-n 23', 23, /^$/],
])('of 23 runs the list shows %s', async (_, line, shown, said) => {
  const { stdout, stderr } = await listedAfter(finished(23), line);
  expect(stdout.trim().split('\n')).toHaveLength(line.includes('--json') ? shown : shown + 1);
  expect(stderr).toMatch(said);
});

test('a run that began after the time of --since is listed even if its trigger was recorded before', async () => {
  const began = { ...accepted(1), startedAt: '2026-01-02T03:03:06Z' };
  const since = '--since 2026-01-02T03:03:06Z --json';
  const { documents } = await listedAfter([triggered(1), began], since, { aheadMs: -60_000 });
  expect(documents).toMatchObject([{ executionId: uuid(1) }]);
});

test.each([
  ['-q', 23],
  ['-q -n 2', 2],
])('%s prints the ids of all matching runs alone, and no line for a trigger without a run', async (line, shown) => {
  const { stdout, stderr } = await listedAfter([...finished(23), triggered(24)], line);
  const newest = Array.from({ length: shown }, (_, n) => `${uuid(22 - n)}\n`);
  expect([stdout, stderr]).toEqual([newest.join(''), '']);
  expect(await listedAfter([], line)).toMatchObject({ stdout: '', stderr: '' });
});

test('a misspelled status is refused, but an unknown status of the service is found', async () => {
  const records = [triggered(1), accepted(1), status(1, 'PAUSED'), triggered(2)];
  expect(await listedAfter(records, '--status FAIL')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/FAILED/),
  });
  expect((await listedAfter(records, '--status paused')).stdout).toContain('PAUSED');
  // A trigger without an answer is listed under this word.
  const { documents } = await listedAfter(records, '--status unknown --json');
  expect(documents).toMatchObject([{ runctl: { list: { idempotencyKey: 'key-2' } } }]);
});

test('a run that is over a day old is not polled, and its status is the last confirmed one', async () => {
  const { documents } = await listedAfter([triggered(1), accepted(1)], '--json', { aheadMs: -25 * 3_600_000 });
  expect(documents[0].runctl.lastConfirmed).toEqual({ status: 'RUNNING', ageMs: 25 * 3_600_000 });
});

test('the age of a status is never negative, even if the clock was set back', async () => {
  const { documents } = await listedAfter([triggered(1), accepted(1)], '--offline --json', { aheadMs: 3_600_000 });
  expect(documents[0].runctl.lastConfirmed.ageMs).toBe(0);
});

test('if the service hangs, the list is printed after 30 s with what is recorded, and says what is old', async () => {
  const { run, emulator, clock, ids, records } = await withMachine({
    automations: { a: { duration: '30s' }, b: { duration: '1h' } },
    faults: [{ on: 'status', automation: 'b', do: 'hang' }],
  });
  for (const name of ['a', 'b']) await run(`trigger ${name}`);
  clock.leap(60_000);
  const pausesMs: number[] = [];
  // The time passes when both have been asked for, and one is known.
  const sleep = async (ms: number) => {
    pausesMs.push(ms);
    const isKnown = () => emulator.requests.length === 4 && records().some((record) => record.status === 'COMPLETED');
    await vi.waitUntil(isKnown, { timeout: 10_000, interval: 5 });
  };
  const { code, documents, stderr, tookMs } = await run('list --json', { clock: { ...clock, sleep } });
  expect([code, pausesMs, tookMs < 10_000]).toEqual([0, [30_000], true]);
  const [a, b] = ids();
  const warnings = [{ name: 'status_unavailable', message: expect.stringContaining('30s') }];
  expect(documents).toMatchObject([
    { executionId: b, status: 'RUNNING', runctl: { warnings, lastConfirmed: { status: 'RUNNING' } } },
    { executionId: a, status: 'COMPLETED', runctl: { warnings: [] } },
  ]);
  expect(documents[0].runctl.lastConfirmed.ageMs).toBeGreaterThanOrEqual(60_000);
  expect(stderr).toMatch(/^1 run .*30s$/m);
});

test('the note about a superseded trigger names the time of its record, unless that is in the future', async () => {
  const records: NewRecord[] = [triggered(1), triggered(2), accepted(2), { type: 'superseded', ...key(1) }];
  for (const [aheadMs, when] of [
    [0, /The trigger of nightly at \d.*one that began then/],
    [3_600_000, /The trigger of nightly has no recorded response.*look in the service for it\./],
  ] as const)
    expect((await listedAfter(records, '--offline', { aheadMs })).stderr).toMatch(when);
});
