import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { openJournal } from '../../src/journal/journal.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { program } from '../../src/program.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, projectId, status, triggered, uuid, weekly } from '../journal/records.ts';

const otherUrl = 'https://other.example.com';

/** What `list` prints on a machine that knows two runs of nightly, one of weekly, and one of another service. */
function listed(flags: string[], isEmpty = false) {
  const runs = [
    [triggered(1), accepted(1), status(1, 'FAILED')],
    [triggered(2, weekly), accepted(2, weekly)],
    [
      { ...triggered(3), baseUrl: otherUrl },
      { ...accepted(3), baseUrl: otherUrl },
    ],
    [triggered(4), accepted(4), status(4, 'COMPLETED')],
  ];
  return listedAfter(isEmpty ? [] : runs.flat(), flags);
}

async function listedAfter(records: readonly NewRecord[], flags: string[], code = 0, aheadMs = 0, isTTY = false) {
  const folder = temporaryFolder();
  const context = createMemory({ RUNCTL_BASE_URL: baseUrl, RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder });
  Object.assign(context.stdout, { isTTY, columns: () => 120 });
  const nowMs = () => context.clock.nowMs() + aheadMs;
  const { append } = openJournal({ folder, nowMs, onTrouble: (what) => expect.unreachable(what) });
  for (const record of records) append(record);
  expect(await runCli(['list', ...flags], program, context)).toBe(code);
  return { out: context.out(), err: context.err().replaceAll(folder, '<folder>') };
}

const idsOf = (json: string) => jsonLines(json).map((run) => run.executionId);

test.each([
  ['all of this service, newest first', [], [4, 2, 1]],
  ['of one automation', ['nightly'], [4, 1]],
  ['with one status', ['--status', 'failed'], [1]],
  ['the newest only', ['--limit', '2'], [4, 2]],
  ['of two automations', ['nightly', `${projectId}/weekly/report`], [4, 2, 1]],
  ['of one automation in another project', ['nightly', '--project', uuid(9)], []],
  ['of another project', ['--project', uuid(9)], []],
  ['of the project', ['--project', projectId.toUpperCase()], [4, 2, 1]],
])('the runs that are listed are %s', async (_, flags, numbers) => {
  expect(idsOf((await listed([...flags, '--json'])).out)).toEqual(numbers.map(uuid));
});

test('a status is no younger than now, also if the clock was set back', async () => {
  const { out } = await listedAfter([triggered(1), accepted(1)], ['--offline', '--json'], 0, 3_600_000);
  expect(jsonLines(out)[0].runctl.lastConfirmed.ageMs).toBe(0);
});

test('people are shown a table of the runs', async () => {
  const { out, err } = await listed([]);
  expect(out).toMatch(/COMPLETED.*nightly[\s\S]*RUNNING.*weekly[\s\S]*FAILED.*nightly/);
  expect(err).toBe('');
});

test.each([
  [
    'there is no run yet',
    [],
    true,
    `No runs recorded for ${baseUrl} (journal: <folder>). Runs started on other machines aren't listed. Start one with \`runctl trigger <automation>\`.`,
  ],
  [
    'no run fits the filters',
    ['nobody', '--status', 'FAILED'],
    false,
    `No runs of nobody with the status FAILED recorded for ${baseUrl} (journal: <folder>). Runs started on other machines aren't listed. \`runctl list\` shows all.`,
  ],
  ['it is to be quiet', ['--quiet'], true, ''],
])('where %s, stdout stays empty and stderr says why', async (_, flags, isEmpty, sentence) => {
  const { out, err } = await listed(flags, isEmpty);
  expect(out).toBe('');
  expect(err.replaceAll(/\s+/g, ' ').trim()).toBe(sentence.trim());
});

test('an automation without a run is named, beside one that has some', async () => {
  expect((await listed(['nightly', 'nobody'])).err).toContain('No runs of nobody.');
  expect((await listed(['nightly'])).err).not.toContain('No runs');
});

test.each([
  ['20, and says so', [], 20, /newest 20 runs.*-n 100/s],
  ['20 with --json, and says so', ['--json'], 20, /newest 20 runs.*-n 100/s],
  ['all since a time', ['--since', '2d'], 23, /^$/],
  ['as many as --limit says', ['--since', '2d', '-n', '3'], 3, /newest 3 runs.*-n 15/s],
  ['all if there are no more', ['-n', '23'], 23, /^$/],
])('of 23 runs the list shows %s', async (_, flags, shown, said) => {
  const { out, err } = await listedAfter(
    Array.from({ length: 23 }, (_, n) => [triggered(n), accepted(n), status(n, 'COMPLETED')]).flat(),
    flags,
  );
  expect(out.trim().split('\n')).toHaveLength(flags.includes('--json') ? shown : shown + 1);
  expect(err).toMatch(said);
});

test.each([
  [[], 23],
  [['-n', '2'], 2],
])('-q %s prints the ids of all matching runs alone, and no line for a trigger without a run', async (flags, shown) => {
  const runs = Array.from({ length: 23 }, (_, n) => [triggered(n), accepted(n)]).flat();
  const { out, err } = await listedAfter([...runs, triggered(24)], ['-q', ...flags]);
  const newest = Array.from({ length: shown }, (_, n) => uuid(22 - n));
  expect([out, err]).toEqual([newest.map((id) => `${id}\n`).join(''), '']);
});

test('a status that is none is refused, but one that the service has made up is found', async () => {
  const records = [triggered(1), accepted(1), status(1, 'PAUSED'), triggered(2)];
  expect(await listedAfter(records, ['--status', 'FAIL'], 2)).toMatchObject({ err: expect.stringContaining('FAILED') });
  expect((await listedAfter(records, ['--status', 'paused'])).out).toContain('PAUSED');
  // A trigger without an answer is listed under this word.
  expect((await listedAfter(records, ['--status', 'unknown', '--field', 'runctl.list.idempotencyKey'])).out).toBe(
    'key-2\n',
  );
});

test.each([
  [
    'one',
    [triggered(1), accepted(1), triggered(2)],
    [],
    /^1 trigger has no recorded response.*`runctl recover`.*its run/,
  ],
  ['two', [triggered(1), triggered(2)], [], /^2 triggers have no recorded response.*their runs/],
  ['none', [triggered(1), accepted(1)], [], /^$/],
  ['one, but --json was asked for', [triggered(1)], ['--json'], /^$/],
] as const)('below the table is what to do about triggers in doubt: %s', async (_, records, flags, said) => {
  expect((await listedAfter([...records], [...flags])).err).toMatch(said);
});

test('runs that were only looked at are marked, if there are any', async () => {
  const started = [triggered(1), accepted(1), status(1, 'COMPLETED')];
  expect((await listedAfter(started, [])).out).not.toContain('elsewhere');
  expect((await listedAfter([...started, status(2, 'COMPLETED')], [])).out).toMatch(/ORIGIN.*elsewhere/s);
});
