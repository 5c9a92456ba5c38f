import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import type { NewRecord } from '../../src/journal/records.ts';
import { program } from '../../src/program.ts';
import { checkDocuments } from '../helpers/check-documents.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, nightly, projectId, status, triggered, uuid, weekly } from '../journal/records.ts';
import { lineOf } from '../journal/state-folder.ts';

const hourMs = 3_600_000;
const nowMs = Date.parse('2026-11-22T12:00:00Z');

const hoursAgo = (hours: number) => new Date(nowMs - hours * hourMs).toISOString();

interface Terminal {
  unicode: boolean;
}

/** What `stats` prints on a machine with these records, the clock at so many hours ago. */
async function stats(
  flags: string[],
  records: [agoHours: number, record: NewRecord][],
  env = {},
  terminal?: Terminal & { older?: [agoHours: number, record: NewRecord][] },
) {
  const folder = temporaryFolder();
  const memory = createMemory({ RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder, ...env });
  const { unicode = true, older = [] } = terminal ?? {};
  const write = (name: string, of: typeof records) =>
    writeFileSync(join(folder, name), of.map(([agoHours, record]) => lineOf(record, hoursAgo(agoHours))).join(''));
  if (older.length > 0) write('journal.jsonl', older);
  if (records.length > 0) write(older.length > 0 ? 'journal-1.jsonl' : 'journal.jsonl', records);
  const stdout = { ...memory.stdout, isTTY: terminal !== undefined, columns: () => 200 };
  const context = { ...memory, stdout, unicode, clock: { ...memory.clock, nowMs: () => nowMs } };
  const code = await runCli(['stats', ...flags], program, context);
  checkDocuments(flags, memory.out());
  return { code, out: memory.out(), err: memory.err().replaceAll(folder, '<folder>').replaceAll(/\s+/g, ' ').trim() };
}

/** A run that finished so many hours ago. */
function run(n: number, agoHours: number, minutes: number, finalStatus = 'COMPLETED', target = nightly) {
  const endMs = nowMs - agoHours * hourMs;
  const startedAt = new Date(endMs - minutes * 60_000).toISOString();
  const ended = { startedAt, completedAt: new Date(endMs).toISOString(), creditsCharged: 12 };
  return [
    [agoHours + 1, triggered(n, target)],
    [agoHours + 1, accepted(n, target)],
    [agoHours, { ...status(n, finalStatus, target), ...ended }],
  ] as [number, NewRecord][];
}

const month = [
  ...run(1, 96, 6),
  ...run(2, 72, 12),
  ...run(3, 48, 1, 'FAILED'),
  ...run(4, 24, 6),
  ...run(5, 30, 1, 'COMPLETED', weekly),
  [9, accepted(6)] as [number, NewRecord],
];

test('each automation has a line, and runs whose end is not known are counted apart', async () => {
  const { code, out, err } = await stats([], month);
  expect(code).toBe(0);
  expect(out).toBe(
    [
      'AUTOMATION     FINISHED  UNFINISHED  COMPLETED  MEDIAN  P95  CREDITS',
      'nightly               4           1          3      6m  12m       48',
      'weekly/report         1           0          1      1m   1m       12',
      'total                 5           1          4       -    -       60',
      '',
    ].join('\n'),
  );
  expect(err).toBe('1 run had not finished when last polled (nightly: 1). `runctl list` polls unfinished runs.');
});

test.each([
  ['of one automation', ['weekly/report'], ['weekly/report']],
  ['of one in its project', [`${projectId}/nightly`], ['nightly']],
  ['of one in another project', ['nightly', '--project', uuid(9)], []],
  ['of one that is named twice', ['nightly', `${projectId}/nightly`], ['nightly']],
  ['of a shorter time', ['--since', '26h'], ['nightly']],
  ['since a date', ['--since', '2026-11-21'], ['nightly', 'weekly/report']],
  ['until a date', ['--until', '2026-11-20'], ['nightly']],
  ['since a time in another zone', ['--since', '2026-11-21T09:00+02:00'], ['nightly']],
])('statistics %s', async (_, flags, names) => {
  const { out } = await stats([...flags, '--json'], month);
  expect(jsonLines(out).map((each) => each.automationName)).toEqual(names);
});

test('an automation that was named and has no run is said to have none, beside one that has', async () => {
  const { err } = await stats(['weekly/report', 'nope'], month);
  expect(err).toMatch(/^No runs of nope in the last 30d recorded/);
});

test('a run of a named automation counts once', async () => {
  const { out } = await stats(['nightly', `${projectId}/nightly`, '--field', 'runctl.stats.finished'], month);
  expect(out).toBe('4\n');
});

test('a document has the statistics in numbers', async () => {
  const [nightlyDocument] = jsonLines((await stats(['nightly', '--json'], month)).out);
  expect(nightlyDocument).toMatchObject({
    projectId,
    automationName: 'nightly',
    runctl: {
      command: 'stats',
      exitCode: 0,
      outcome: 'ok',
      stats: {
        finished: 4,
        statuses: { COMPLETED: 3, FAILED: 1 },
        completedShare: 0.75,
        medianMs: 360_000,
        p95Ms: 720_000,
        credits: 48,
        unseen: 1,
      },
    },
  });
});

test.each([
  ['no base URL is set', {}, 4],
  ['another base URL is set', { RUNCTL_BASE_URL: 'https://other.example.com' }, undefined],
  ['the base URL of the runs is set', { RUNCTL_BASE_URL: baseUrl }, 4],
])('where %s, its runs are counted', async (_, env, finished) => {
  const [first] = jsonLines((await stats(['nightly', '--json'], month, env)).out);
  expect(first?.runctl.stats.finished).toBe(finished);
});

test.each([
  [[], 'No runs in the last 30d recorded (journal: <folder>).'],
  [['--since', '1h30m', 'nobody'], 'No runs of nobody since 2026-11-22 10:30:00 +0000 recorded (journal: <folder>).'],
  [['--quiet'], ''],
])('a machine without a journal says so: %j', async (flags, err) => {
  expect(await stats(flags, [])).toEqual({ code: 0, out: '', err });
});

test('where the journal has runs of another base URL alone, that is named', async () => {
  const { err } = await stats(['nightly'], month, { RUNCTL_BASE_URL: 'https://other.example.com' });
  expect(err).toContain('for https://other.example.com (journal');
  expect(err).toContain(`--base-url ${baseUrl}`);
});

test.each(['0', '1', 'tomorrow'])('--since %s is refused', async (value) => {
  expect((await stats(['--since', value], month)).code).toBe(2);
});

test('a run belongs to the period of its trigger, also where the end is in a newer file and the service gives no times', async () => {
  const ends: [number, NewRecord][] = [
    [25, accepted(2, weekly)],
    [1, status(1, 'COMPLETED')],
  ];
  const { out } = await stats(['--since', '24h'], ends, {}, { unicode: true, older: [[26, accepted(1)]] });
  expect(out).toBe('');
});
