// What the shells are told when Tab is pressed. That they can use it is in test/e2e/completion-scripts.test.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerCompletion, printCandidates, splitLine, type TypedLine } from '../../src/commands/complete.ts';
import type { Shell } from '../../src/commands/completion.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { accepted, baseUrl, nightly, status, triggered, uuid, weekly } from '../journal/records.ts';

/** Completes words on a machine whose journal knows runs of nightly and daily and another service, and whose config two profiles. */
function createCompleter(settings: Record<string, string> = { RUNCTL_BASE_URL: baseUrl }) {
  const folder = temporaryFolder();
  const nowMs = () => Date.parse('2026-11-21T03:00:00.000Z');
  const journal = openJournal({ folder, nowMs, onFailure: (what) => expect.unreachable(what) });
  const daily = { ...nightly, automationName: 'daily' };
  const records = [
    [triggered(1), accepted(1), status(1, 'FAILED')],
    [triggered(2, weekly), accepted(2, weekly)], // which can't be named without its project
    [triggered(3, daily), accepted(3, daily)],
    [triggered(4, weekly), accepted(4, weekly)].map((record) => ({ ...record, baseUrl: 'https://other.example.com' })),
    [triggered(5)], // nobody knows its run
  ];
  for (const record of records.flat()) journal.append(record);
  const profiles = { prod: { baseUrl: 'https://prod.example' }, staging: {} };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const env = { RUNCTL_STATE_DIR: folder, RUNCTL_CONFIG_DIR: folder, ...settings };
  return (...words: string[]) => answerCompletion(words, program, env);
}

const commands = program.commands.map((command) => command.name());

test.each<[words: string[], values: string[]]>([
  [[''], commands],
  [['tri'], ['trigger']],
  [['nothing', ''], commands],
  [['agent', 't'], ['trigger']],
  [['agent', 'trigger', '--ti'], ['--title']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [
    ['trigger', ''],
    ['daily', 'nightly'],
  ],
  [['trigger', '--json', 'n'], ['nightly']],
  [['trigger', 'nightly', 'd'], ['daily']],
  [['trigger', '--watch', '--', 'd'], ['daily']],
  [['trigger', '--', '--w'], []],
  [['trigger', '--if'], ['--if-active']],
  [['trigger', '--if-active', 's'], ['skip']],
  [['trigger', '--if-active=s'], ['--if-active=skip']],
  [['list', 'weekly', 'nig'], ['nightly']],
  [['list', '--status', 'CANC'], ['CANCELLED']],
  [['ls', '--st'], ['--status']],
  [['status', '@'], ['@last']],
  [['status', '@last', ''], []],
  [['status', 'night'], ['nightly']],
  [['status', uuid(1)], [uuid(1)]],
  [['status', uuid(4)], []],
  [['status', '-p'], ['-p']],
  [
    ['status', '--profile', ''],
    ['prod', 'staging'],
  ],
  [['status', '--profile=p'], ['--profile=prod']],
  [['status', '--api-key-file', ''], [':files']],
  [['status', '--api-key-file=./k'], [':files']],
  [['status', '--timeout', 'sta'], []],
  [['explain', 'outcome_u'], ['outcome_unknown']],
  [['config', 'get', 'req'], ['requestTimeout']],
  [['emulator', '--scenario', 'lost'], ['lost-answer']],
  [['result', '--field', 'summary.succ'], ['summary.succeededSteps']],
])('after %j, these candidates are offered: %j', (words, values) => {
  const lines = createCompleter()('fish', ...words)
    .split('\n')
    .slice(0, -1);
  expect(lines.map((line) => line.split('\t')[0]).sort()).toEqual([...values].sort());
});

test('a candidate has a description: what a command does, or the last recorded status of a run', () => {
  expect(createCompleter()('fish', 'stat')).toBe("status\tshow a run's current status\n");
  expect(createCompleter()('fish', 'status', uuid(1))).toBe(`${uuid(1)}\tnightly FAILED 2026-11-21 03:00\n`);
});

test('without a base URL, the runs of every service are offered', () => {
  expect(createCompleter({})('fish', 'status', uuid(4))).toContain(uuid(4));
});

test('a journal and a config file that are missing or broken are no error at a prompt', () => {
  const folder = temporaryFolder();
  const [file, nowhere] = [join(folder, 'config.json'), join(folder, 'nothing')];
  writeFileSync(file, 'not JSON', { mode: 0o600 });
  const missing = { RUNCTL_STATE_DIR: nowhere, RUNCTL_CONFIG_DIR: nowhere };
  const broken = { RUNCTL_STATE_DIR: file, RUNCTL_CONFIG_DIR: folder };
  for (const env of [missing, broken])
    for (const words of [
      ['trigger', ''],
      ['status', '--profile', ''],
    ])
      expect(answerCompletion(['fish', ...words], program, env)).toBe('');
  expect(answerCompletion(['fish', 'status', ''], program, missing)).toBe('@last\tthe last run\n');
});

describe('bash', () => {
  test.each(['runctl trigger nigh', 'runctl trigger "nigh'])('gives the whole line up to the cursor: %s', (line) => {
    expect(createCompleter()('bash', line)).toBe('nightly\n');
  });

  test.each<[string, TypedLine]>([
    ['', { words: [''], quote: '' }],
    ['runctl ', { words: ['runctl', ''], quote: '' }],
    ['runctl st', { words: ['runctl', 'st'], quote: '' }],
    ['runctl  "a b" c\\ d', { words: ['runctl', 'a b', 'c d'], quote: '' }],
    [`runctl 'it`, { words: ['runctl', 'it'], quote: "'" }],
    ['runctl ""', { words: ['runctl', ''], quote: '' }],
    ['runctl "a\\"b', { words: ['runctl', 'a"b'], quote: '"' }],
  ])('splits the line %j into %j', (line, typed) => {
    expect(splitLine(line)).toEqual(typed);
  });

  test.each([
    ['@la', '@last', '@last\n'],
    ['nightly@la', 'nightly@last', '@last\n'],
    ['--if-active=s', '--if-active=skip', 'skip\n'],
  ])('is given only the part of the word %j that it replaces', (typed, value, printed) => {
    expect(printCandidates([{ value }], 'bash', { words: ['runctl', typed], quote: '' })).toBe(printed);
  });

  test('reads a value back as it is, whatever it holds', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(value, (text) => {
        const printed = printCandidates([{ value: text }], 'bash', plain).slice(0, -1);
        expect(splitLine(printed).words).toEqual([text]);
      }),
    );
  });
});

const plain: TypedLine = { words: ['runctl', ''], quote: '' };

test.each<[Shell, value: string, about: string, printed: string]>([
  ['bash', 'a b', 'it is: so', 'a\\ b\n'],
  ['zsh', 'a b', 'it is: so', 'a b:it is: so\n'],
  ['fish', 'a b', 'it is: so', 'a b\tit is: so\n'],
  ['zsh', 'a:b\\c', 'it: is', 'a\\:b\\\\c:it: is\n'], // a colon stands before what a value means
  ['fish', 'a\u001B[2Jb', '', ''],
  ['fish', 'a\nb', '', ''],
])('for %s, the candidate %j (%s) is printed as %j', (shell, value, description, printed) => {
  expect(printCandidates([{ value, description }], shell, plain)).toBe(printed);
});
