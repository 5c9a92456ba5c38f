import type { CommandUnknownOpts } from 'commander';
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { commandPathOf, detailsOf } from '../../src/cli/command.ts';
import { commonOptions } from '../../src/cli/options.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { program } from '../../src/program.ts';
import type { Problem } from '../../src/run/problem.ts';
import { type Setting, settingTable } from '../../src/settings/table.ts';

const id = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
const settings =
  '--api-key-file key.txt --base-url https://a.example -p x --profile staging --request-timeout 5s --debug';
const ofSettings = {
  apiKeyFile: 'key.txt',
  baseUrl: 'https://a.example',
  project: 'x',
  profile: 'staging',
  requestTimeout: '5s',
  debug: true,
};
const following = '--timeout 1h30m --give-up-after 90s --interval 2s --rate 0.5 --on-final true';
const ofFollowing = {
  timeout: 5_400_000,
  giveUpAfter: 90_000,
  interval: 2000,
  rate: 0.5,
  onFinal: 'true',
};

type Row = [line: string, command: string, args: unknown[], options: Record<string, unknown>];

const table: Row[] = [
  ['trigger a', 'trigger', [['a']], {}],
  ['trigger a b --watch --if-active wait', 'trigger', [['a', 'b']], { watch: true, ifActive: 'wait' }],
  ['trigger a --idempotency-key k -q --json', 'trigger', [['a']], { idempotencyKey: 'k', quiet: true, json: true }],
  [`trigger a -w ${following}`, 'trigger', [['a']], { watch: true, ...ofFollowing }],
  [`trigger ${settings} -- -a`, 'trigger', [['-a']], ofSettings],
  ['trigger a --timeout 0 --field a --field b.c', 'trigger', [['a']], { timeout: 0, field: ['a', 'b.c'] }],
  ['trigger a --dry-run', 'trigger', [['a']], { dryRun: true }],
  ['status', 'status', [undefined], {}],
  [
    'status @last --exit-status --give-up-after 5s --field status --quiet',
    'status',
    ['@last'],
    { exitStatus: true, giveUpAfter: 5000, field: ['status'], quiet: true },
  ],
  [`status --json ${settings}`, 'status', [undefined], { json: true, ...ofSettings }],
  [`result ${id} --give-up-after 5s`, 'result', [id], { giveUpAfter: 5000 }],
  ['watch', 'watch', [[]], {}],
  [`watch nightly a@last ${following}`, 'watch', [['nightly', 'a@last']], ofFollowing],
  [`watch --all ${settings}`, 'watch', [[]], { all: true, ...ofSettings }],
  ['watch --all', 'watch', [[]], { all: true }],
  [
    'list nightly -n 5 --status FAILED,RUNNING --status unknown --since 2d --offline --give-up-after 5s --json -q',
    'list',
    [['nightly']],
    {
      limit: 5,
      status: ['FAILED', 'RUNNING', 'UNKNOWN'],
      since: expect.any(Function),
      offline: true,
      giveUpAfter: 5_000,
      json: true,
      quiet: true,
    },
  ],
  [
    'recover --dry-run --resend --give-up-after 1m --json -q',
    'recover',
    [[]],
    { dryRun: true, resend: true, giveUpAfter: 60_000, json: true, quiet: true },
  ],
  [`recover nightly --field status ${settings}`, 'recover', [['nightly']], { field: ['status'], ...ofSettings }],
  ['status --field a,.b', 'status', [undefined], { field: ['a', 'b'] }],
  ['config', 'config', [], {}],
  ['config --profile a', 'config', [], { profile: 'a' }],
  ['config get project --profile a --json -q', 'config get', ['project'], { profile: 'a', json: true, quiet: true }],
  ['config --profile a set project x', 'config set', ['project', 'x'], { profile: 'a' }],
  ['config unset project --json -q', 'config unset', ['project'], { json: true, quiet: true }],
  ['config set apiKey --profile a', 'config set', ['apiKey', undefined], { profile: 'a' }],
  [`config list --json -q ${settings}`, 'config list', [], { json: true, quiet: true, ...ofSettings }],
  [
    `doctor --offline --field runctl.doctor -q ${settings}`,
    'doctor',
    [],
    { offline: true, field: ['runctl.doctor'], quiet: true, ...ofSettings },
  ],
  ['doctor --json', 'doctor', [], { json: true }],
  ['doctor --try-key nightly --yes', 'doctor', [], { tryKey: 'nightly', yes: true }],
  ['config path --json -q', 'config path', [], { json: true, quiet: true }],
  ['completion zsh', 'completion', ['zsh'], {}],
  [
    'emulator --port 0 --scenario bad-day --speed 60 -q -- ./nightly.sh --quiet',
    'emulator',
    [['./nightly.sh', '--quiet']],
    { port: 0, scenario: 'bad-day', speed: 60, quiet: true },
  ],
  ['help settings', 'help', ['settings'], {}],
  ['help programs', 'help', ['programs'], {}],
  ['help agents', 'help', ['programs'], {}],
  ['help man', 'help', ['man'], {}],
  ['version --json -q', 'version', [], { json: true, quiet: true }],
  ['--version --json', 'version', [], { json: true }],
  ['--profile a -q ls --no-color', 'list', [[]], { profile: 'a', quiet: true, color: false }],
  ['--json --base-url=https://a.example config list', 'config list', [], { json: true, baseUrl: 'https://a.example' }],
  [`-p x --debug agent trigger ${id}`, 'agent trigger', [id], { project: 'x', debug: true }],
  ['explain', 'explain', [undefined], {}],
  ['explain 12 --json -q', 'explain', ['12'], { json: true, quiet: true }],
  [
    `agent trigger ${id} --title t --message m --idempotency-key k`,
    'agent trigger',
    [id],
    { title: 't', message: 'm', idempotencyKey: 'k' },
  ],
  [`agent trigger ${id} -q ${settings}`, 'agent trigger', [id], { quiet: true, ...ofSettings }],
  [
    `agent status ${id} ${id} --json -q ${settings}`,
    'agent status',
    [id, id],
    { json: true, quiet: true, ...ofSettings },
  ],
];

/** Each command that can be run, by the words that name it. */
const commandsIn = (group: CommandUnknownOpts): [string, CommandUnknownOpts][] =>
  group.commands.flatMap((command) => {
    const own: [string, CommandUnknownOpts][] = detailsOf(command).run ? [[commandPathOf(command), command]] : [];
    return [...own, ...commandsIn(command)];
  });

const commands = new Map(commandsIn(program));
const nowhere = { columns: () => 80, write() {} };
const parsed = (line: string) => parse(line.split(' '), program, nowhere);

test.each(table)('%s', (line, name, args, options) => {
  const typed = parsed(line);
  expect(typed?.command).toBe(commands.get(name));
  expect(typed?.args).toEqual(args);
  expect(typed?.options).toEqual({ color: true, ...options });
});

test('every option of every command has a row of the table', () => {
  const given = table.flatMap(([, name, , options]) => Object.keys(options).map((option) => `${name} ${option}`));
  const defined = [...commands].flatMap(([name, { options }]) =>
    options.map((option) => `${name} ${option.attributeName()}`),
  );
  expect(given).toEqual(expect.arrayContaining(defined));
  const everywhere = commonOptions.map((option) => option.attributeName());
  expect(table.flatMap(([, , , options]) => Object.keys(options))).toEqual(expect.arrayContaining(everywhere));
  expect(new Set(table.map(([, name]) => name))).toEqual(new Set(commands.keys()));
});

test('every command takes the flag of every setting', () => {
  const flags = Object.values<Setting>(settingTable).flatMap(({ flag }) => flag ?? []);
  expect(commonOptions.map((option) => option.flags.replace(/^-\w, /, ''))).toEqual(expect.arrayContaining(flags));
});

test.each([
  ['trigger a -wq', { watch: true, quiet: true }],
  ['trigger a -wpx', { watch: true, project: 'x' }],
  ['trigger a -px -w', { watch: true, project: 'x' }],
])('short flags may be joined: %s', (line, options) => {
  expect(parsed(line)?.options).toEqual({ color: true, ...options });
});

const answered = (line: string) => {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  expect(parse(line.split(' '), program, { columns: () => 80, write })).toBeUndefined();
  return written;
};

test.each([
  '--help',
  'help',
  'help trigger',
  '--help trigger',
  'trigger --help',
  'config set --help',
  'config help set',
])('%s prints help or the version and runs no command', (line) => {
  expect(answered(line)).toContain(line.includes('trigger') ? 'runctl trigger [options]' : 'Usage: runctl');
});

test.each(['--version', 'trigger --version', 'list -V', '--profile a --version', '--version trigger'])(
  '%s writes the version alone',
  (line) => {
    expect(answered(line)).toBe(`${version}\n`);
  },
);

/** Every option that does not take any text, as a command line that gives it an empty one. */
const refused = [...commands].flatMap(([name, { registeredArguments, options }]) => {
  const words = [...name.split(' '), ...registeredArguments.map(({ argChoices: [first] = [id] }) => first ?? '')];
  return [...options, ...commonOptions].filter(({ parseArg }) => parseArg).map(({ long }) => [...words, `${long}=`]);
});

test.each(refused.map((argv) => [argv]))('the refusal of %j names the flag', (argv) => {
  expect(() => parse(argv, program, nowhere)).toThrow(
    `invalid value for ${argv.at(-1)?.replace('=', ': "" (is a variable unset?)')}`,
  );
});

test.each<[line: string, refusal: string]>([
  ['trigger a --timeout 5', 'invalid value for --timeout: "5" (say 5s, 5m or 5h)'],
  ['trigger a --timeout soon', 'invalid value for --timeout: "soon" (say 500ms, 30s, 5m, 1h30m or 2d)'],
  ['trigger a --timeout -5', 'invalid value for --timeout: "-5" (it can\'t be negative)'],
  ['trigger a --timeout=-5s', 'invalid value for --timeout: "-5s" (it can\'t be negative)'],
  ['trigger a --give-up-after -5s', "it can't be negative"],
  ['trigger a --interval -1s', "it can't be negative"],
  ['trigger a --interval 0s', 'it must be more than 0'],
  ['watch --rate -1', "it can't be negative"],
  ['watch --rate -.5', "it can't be negative"],
  ['list -n -5', 'invalid value for --limit: "-5" (it can\'t be negative)'],
  ['list --limit=-5', "it can't be negative"],
  ['list --limit 0', 'give a whole number from 1'],
  ['list --since -2d', "it can't be negative"],
  ['list --since 2', 'say 2h or 2d'],
  ['list --status -5', 'give a status such as FAILED'],
  ['emulator --port -1', "it can't be negative"],
  ['emulator --port 70000', 'give a whole number from 0 to 65535'],
  ['emulator --speed -1', "it can't be negative"],
  ['trigger a --if-active wiat', 'invalid value for --if-active: "wiat" (say fail, skip or wait)'],
  ['completion tcsh', 'invalid value for <shell>: "tcsh" (say bash, zsh or fish)'],
  ['agent status', 'missing argument <agentId>'],
  ['agent status a', 'missing argument <executionId>'],
  ['trigger a --timeout --watch', '--timeout needs a value (is a variable unset?)'],
  ['trigger a --timeout', '--timeout needs a value (is a variable unset?)'],
  ['trigger a --idempotency-key -5', '--idempotency-key needs a value (is a variable unset?)'],
])('%s: %s', (line, refusal) => {
  expect(() => parsed(line)).toThrow(refusal);
});

test.each([
  ['trigger a --idempotency-key -x', true],
  ['watch --on-final -x', true],
  ['status --api-key-file -x', true],
  ['trigger a --timeout -x', false],
  ['list --status -x', false],
  ['status --base-url -x', false],
  ['status -p -x', false],
  ['status --profile -x', false],
  ['status --field -x', false],
  ['trigger a --if-active -x', false],
])(
  'the hint for a value that begins with a dash suggests an equals sign only if that works: %s: %s',
  (line, isSaid) => {
    const hintOf = () => {
      try {
        parsed(line);
      } catch (error) {
        return (error as Problem).facts.hint;
      }
      return undefined;
    };
    expect(hintOf()?.includes('=<value>')).toBe(isSaid);
  },
);

test('a negative value of a setting is refused by the parser of the setting, which says why', () => {
  expect(parsed('status --request-timeout -5s')?.options).toMatchObject({ requestTimeout: '-5s' });
});
