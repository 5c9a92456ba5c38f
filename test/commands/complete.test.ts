import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerCompletion } from '../../src/commands/complete.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, status, triggered, uuid, weekly } from '../journal/records.ts';

/** Completes words on a machine whose journal knows runs of two automations and another service, and whose config two profiles. */
function createCompleter(settings: Record<string, string> = { RUNCTL_BASE_URL: baseUrl }) {
  const folder = temporaryFolder();
  const nowMs = () => Date.parse('2026-11-21T03:00:00.000Z');
  const { append } = openJournal({ folder, nowMs, onTrouble: (what) => expect.unreachable(what) });
  const records = [
    [triggered(1), accepted(1), status(1, 'FAILED')],
    [triggered(2, weekly), accepted(2, weekly)],
    [
      { ...triggered(4, weekly), baseUrl: 'https://other.example.com' },
      { ...accepted(4, weekly), baseUrl: 'https://other.example.com' },
    ],
    // Nobody knows its run.
    [triggered(5)],
  ];
  for (const record of records.flat()) append(record);
  const profiles = { prod: { baseUrl: 'https://prod.example' }, staging: {} };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const env = { RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder, ...settings };
  return (...words: string[]) => answerCompletion(words, program, env);
}

describe('what this machine alone knows completes', () => {
  test.each<[string, string[], string[]]>([
    ['an automation that can be named without its project', ['trigger', ''], ['nightly']],
    ['an automation to list', ['list', 'weekly', 'nig'], ['nightly']],
    ['a run by its automation', ['status', 'night'], ['nightly']],
    ['a run by its id', ['status', uuid(1)], [uuid(1)]],
    ['a profile of the config file', ['status', '--profile', ''], ['prod', 'staging']],
    ['an exit code by its name', ['explain', 'outcome_u'], ['outcome_unknown']],
    ['a setting', ['config', 'get', 'req'], ['requestTimeout']],
    ['a status', ['list', '--status', 'CANC'], ['CANCELLED']],
    ['a flag of a command by its other name', ['ls', '--st'], ['--status']],
    ['a scenario', ['emulator', '--scenario', 'lost'], ['lost-answer']],
    ['a field', ['result', '--field', 'summary.succ'], ['summary.succeededSteps']],
  ])('%s', (_, words, values) => {
    const answer = createCompleter()('fish', ...words);
    expect(
      answer
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]),
    ).toEqual(values);
  });

  test('a run, with what was last known of it', () => {
    expect(createCompleter()('fish', 'status', uuid(1))).toBe(`${uuid(1)}\tnightly FAILED 2026-11-21 03:00\n`);
  });

  test('the runs of every service where no address is set', () => {
    expect(createCompleter({})('fish', 'status', uuid(4))).toContain(uuid(4));
    expect(createCompleter()('fish', 'status', uuid(4))).toBe('');
  });
});

test('the names of files are left to the shell', () => {
  expect(createCompleter()('zsh', 'status', '--api-key-file', '')).toBe(':files\n');
});

test.each([
  ['bash', 'runctl trigger nigh', 'nightly\n'],
  ['bash', 'runctl trigger "nigh', 'nightly\n'],
])('%s gives the whole line up to the cursor: %s', (shell, line, answer) => {
  expect(createCompleter()(shell, line)).toBe(answer);
});

test('a machine without a journal and a config file has the words of the program alone', () => {
  const folder = join(temporaryFolder(), 'nothing');
  const env = { RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder };
  expect(answerCompletion(['fish', 'trigger', ''], program, env)).toBe('');
  expect(answerCompletion(['fish', 'status', ''], program, env)).toBe('@last\tthe last run\n');
});

test("a journal and a config file that can't be read are no error at a prompt", () => {
  const folder = temporaryFolder();
  const file = join(folder, 'config.json');
  writeFileSync(file, 'not JSON', { mode: 0o600 });
  const env = { RUNCTL_STATE_DIR: file, RUNCTL_CONFIG_DIR: folder };
  expect(answerCompletion(['fish', 'status', '--profile', ''], program, env)).toBe('');
  expect(answerCompletion(['fish', 'trigger', ''], program, env)).toBe('');
});
