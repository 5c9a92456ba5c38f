import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, status, triggered, uuid, weekly } from '../journal/records.ts';

const otherUrl = 'https://other.example.com';

/** What `list` prints on a machine that knows two runs of nightly, one of weekly, and one of another service. */
async function listed(flags: string[], isEmpty = false) {
  const folder = temporaryFolder();
  const context = createMemory({ RUNCTL_BASE_URL: baseUrl, RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder });
  const { append } = openJournal({ folder, nowMs: context.clock.nowMs, onTrouble: (what) => expect.unreachable(what) });
  const runs = [
    [triggered(1), accepted(1), status(1, 'FAILED')],
    [triggered(2, weekly), accepted(2, weekly)],
    [
      { ...triggered(3), baseUrl: otherUrl },
      { ...accepted(3), baseUrl: otherUrl },
    ],
    [triggered(4), accepted(4), status(4, 'COMPLETED')],
  ];
  if (!isEmpty) for (const record of runs.flat()) append(record);
  expect(await runCli(['list', ...flags], program, context)).toBe(0);
  return { out: context.out(), err: context.err() };
}

const idsOf = (json: string) => jsonLines(json).map((run) => run.executionId);

test.each([
  ['all of this service, newest first', [], [4, 2, 1]],
  ['of one automation', ['-a', 'nightly'], [4, 1]],
  ['with one status', ['--status', 'failed'], [1]],
  ['the newest only', ['--limit', '2'], [4, 2]],
  ['of one automation in another project', ['-a', 'nightly', '--project', uuid(9)], []],
])('the runs that are listed are %s', async (_, flags, numbers) => {
  expect(idsOf((await listed([...flags, '--json'])).out)).toEqual(numbers.map(uuid));
});

test('people are shown a table of the runs', async () => {
  const { out, err } = await listed([]);
  expect(out).toMatch(/COMPLETED.*nightly[\s\S]*RUNNING.*weekly[\s\S]*FAILED.*nightly/);
  expect(err).toBe('');
});

test.each([
  ['there is no run yet', [], true, 'No runs here yet. Start one with `runctl trigger <automation>`.\n'],
  [
    'no run fits the filters',
    ['-a', 'nobody', '--status', 'FAILED'],
    false,
    'No runs of nobody with the status FAILED here; `runctl list` shows all.\n',
  ],
  ['it is to be quiet', ['--quiet'], true, ''],
])('where %s, stdout stays empty and stderr says why', async (_, flags, isEmpty, sentence) => {
  const { out, err } = await listed(flags, isEmpty);
  expect(out).toBe('');
  expect(err.replaceAll(/\s+/g, ' ').trim()).toBe(sentence.trim());
});
