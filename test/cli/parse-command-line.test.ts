import { expect, test } from 'vitest';
import type { CommandDefinition } from '../../src/cli/define-command.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { program } from '../../src/program.ts';

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
  timeoutMs: 5_400_000,
  giveUpAfterMs: 90_000,
  intervalMs: 2000,
  rate: 0.5,
  onFinal: 'true',
};

type Row = [line: string, command: string, args: Record<string, unknown>, options: Record<string, unknown>];

const table: Row[] = [
  ['trigger a', 'trigger', { automations: ['a'] }, {}],
  ['trigger a b --watch --if-active wait', 'trigger', { automations: ['a', 'b'] }, { watch: true, ifActive: 'wait' }],
  [
    'trigger a --idempotency-key k -q --json',
    'trigger',
    { automations: ['a'] },
    { idempotencyKey: 'k', quiet: true, json: true },
  ],
  [`trigger a -w ${following}`, 'trigger', { automations: ['a'] }, { watch: true, ...ofFollowing }],
  [`trigger ${settings} -- -a`, 'trigger', { automations: ['-a'] }, ofSettings],
  [
    'trigger a --timeout 0 --field a --field b.c',
    'trigger',
    { automations: ['a'] },
    { timeoutMs: 0, field: ['a', 'b.c'] },
  ],
  ['trigger a --dry-run', 'trigger', { automations: ['a'] }, { dryRun: true }],
  ['status', 'status', { run: undefined }, {}],
  [
    'status @last --exit-status --give-up-after 5s --field status --quiet',
    'status',
    { run: '@last' },
    { exitStatus: true, giveUpAfterMs: 5000, field: ['status'], quiet: true },
  ],
  [`status --json ${settings}`, 'status', { run: undefined }, { json: true, ...ofSettings }],
  [`result ${id} --give-up-after 5s`, 'result', { run: id }, { giveUpAfterMs: 5000 }],
  [`result --json -q ${settings}`, 'result', { run: undefined }, { json: true, quiet: true, ...ofSettings }],
  ['result --field output', 'result', { run: undefined }, { field: ['output'] }],
  ['watch', 'watch', { runs: [] }, {}],
  [`watch nightly a@last ${following}`, 'watch', { runs: ['nightly', 'a@last'] }, ofFollowing],
  [`watch --all ${settings}`, 'watch', { runs: [] }, { all: true, ...ofSettings }],
  ['watch --all', 'watch', { runs: [] }, { all: true }],
  ['watch --json -q', 'watch', { runs: [] }, { json: true, quiet: true }],
  ['watch --field status', 'watch', { runs: [] }, { field: ['status'] }],
  [
    'list nightly -n 5 --status FAILED,RUNNING --status unknown --since 2d --offline --json --quiet',
    'list',
    { automations: ['nightly'] },
    {
      limit: 5,
      status: ['FAILED', 'RUNNING', 'UNKNOWN'],
      since: expect.any(Function),
      offline: true,
      json: true,
      quiet: true,
    },
  ],
  [`list --field status ${settings}`, 'list', { automations: [] }, { field: ['status'], ...ofSettings }],
  [
    'recover --dry-run --resend --give-up-after 1m --json -q',
    'recover',
    { automations: [] },
    { dryRun: true, resend: true, giveUpAfterMs: 60_000, json: true, quiet: true },
  ],
  [
    `recover nightly --field status ${settings}`,
    'recover',
    { automations: ['nightly'] },
    { field: ['status'], ...ofSettings },
  ],
  ['status --field a,.b', 'status', { run: undefined }, { field: ['a', 'b'] }],
  ['config', 'config', {}, {}],
  ['config --profile a', 'config', {}, { profile: 'a' }],
  [
    'config get project --profile a --json -q',
    'config get',
    { key: 'project' },
    { profile: 'a', json: true, quiet: true },
  ],
  ['config get project --field runctl', 'config get', { key: 'project' }, { field: ['runctl'] }],
  ['config --profile a set project x', 'config set', { key: 'project', value: 'x' }, { profile: 'a' }],
  ['config set project x --json -q', 'config set', { key: 'project', value: 'x' }, { json: true, quiet: true }],
  ['config set project x --field runctl', 'config set', { key: 'project', value: 'x' }, { field: ['runctl'] }],
  ['config unset project --json -q', 'config unset', { key: 'project' }, { json: true, quiet: true }],
  ['config unset project --field runctl', 'config unset', { key: 'project' }, { field: ['runctl'] }],
  ['config set apiKey --profile a', 'config set', { key: 'apiKey', value: undefined }, { profile: 'a' }],
  ['config unset project --profile a', 'config unset', { key: 'project' }, { profile: 'a' }],
  [`config list --json -q ${settings}`, 'config list', {}, { json: true, quiet: true, ...ofSettings }],
  ['config list --field runctl', 'config list', {}, { field: ['runctl'] }],
  [
    `doctor --offline --field runctl.doctor -q ${settings}`,
    'doctor',
    {},
    { offline: true, field: ['runctl.doctor'], quiet: true, ...ofSettings },
  ],
  ['doctor --json', 'doctor', {}, { json: true }],
  ['doctor --try-key nightly --yes', 'doctor', {}, { tryKey: 'nightly', yes: true }],
  ['config path --json -q', 'config path', {}, { json: true, quiet: true }],
  ['config path --field runctl', 'config path', {}, { field: ['runctl'] }],
  ['completion zsh', 'completion', { shell: 'zsh' }, {}],
  [
    'emulator --port 0 --scenario bad-day --speed 60 -q -- ./nightly.sh --quiet',
    'emulator',
    { command: ['./nightly.sh', '--quiet'] },
    { port: 0, scenario: 'bad-day', speed: 60, quiet: true },
  ],
  ['help settings', 'help', { topic: 'settings' }, {}],
  ['help programs', 'help', { topic: 'programs' }, {}],
  ['help agents', 'help', { topic: 'programs' }, {}],
  ['help man', 'help', { topic: 'man' }, {}],
  ['version --json -q', 'version', {}, { json: true, quiet: true }],
  ['--version --json', 'version', {}, { json: true }],
  ['version --field runctl.version', 'version', {}, { field: ['runctl.version'] }],
  ['--profile a -q ls --no-color', 'list', { automations: [] }, { profile: 'a', quiet: true, noColor: true }],
  ['--json --base-url=https://a.example config list', 'config list', {}, { json: true, baseUrl: 'https://a.example' }],
  [`-p x --debug agent trigger ${id}`, 'agent trigger', { agentId: id }, { project: 'x', debug: true }],
  ['explain', 'explain', { code: undefined }, {}],
  ['explain 12 --json -q', 'explain', { code: '12' }, { json: true, quiet: true }],
  ['explain 12 --field runctl', 'explain', { code: '12' }, { field: ['runctl'] }],
  [
    `agent trigger ${id} --title t --message m --idempotency-key k`,
    'agent trigger',
    { agentId: id },
    { title: 't', message: 'm', idempotencyKey: 'k' },
  ],
  [`agent trigger ${id} -q ${settings}`, 'agent trigger', { agentId: id }, { quiet: true, ...ofSettings }],
  [`agent trigger ${id} --json`, 'agent trigger', { agentId: id }, { json: true }],
  [`agent trigger ${id} --field status`, 'agent trigger', { agentId: id }, { field: ['status'] }],
  [
    `agent status ${id} ${id} --json -q ${settings}`,
    'agent status',
    { agentId: id, executionId: id },
    { json: true, quiet: true, ...ofSettings },
  ],
  [`agent status ${id} ${id} --field status`, 'agent status', { agentId: id, executionId: id }, { field: ['status'] }],
];

/** Each command that can be run, by the words that name it. */
function commandsIn({ commands = [] }: CommandDefinition, words: string[] = []): [string, CommandDefinition][] {
  return commands.flatMap((command) => {
    const path = [...words, command.name];
    const own: [string, CommandDefinition][] = command.run ? [[path.join(' '), command]] : [];
    return [...own, ...commandsIn(command, path)];
  });
}

const commands = new Map(commandsIn(program));

test.each(table)('%s', (line, name, args, options) => {
  const typed = parse(line.split(' '), program, { columns: () => 80, write() {} });
  expect(typed?.command).toBe(commands.get(name));
  expect(typed?.arguments).toEqual(args);
  expect(typed?.options).toEqual(options);
});

test('every option of every command has a row of the table', () => {
  const given = table.flatMap(([, name, , options]) => Object.keys(options).map((option) => `${name} ${option}`));
  const defined = [...commands].flatMap(([name, { options = {} }]) =>
    Object.keys(options).map((option) => `${name} ${option}`),
  );
  const everywhere = (name: string) => name.endsWith(' noColor');
  expect(new Set(given.filter((name) => !everywhere(name)))).toEqual(
    new Set(defined.filter((name) => !everywhere(name))),
  );
  expect(new Set(table.map(([, name]) => name))).toEqual(new Set(commands.keys()));
});

test.each(['--help', 'help', 'help trigger', '--help trigger', 'trigger --help', 'config set --help'])(
  '%s writes an answer and runs no command',
  (line) => {
    let written = '';
    const write = (text: string) => {
      written += text;
    };
    expect(parse(line.split(' '), program, { columns: () => 80, write })).toBeUndefined();
    expect(written).not.toBe('');
    if (line.includes('trigger')) expect(written).toContain('runctl trigger [options]');
  },
);

/** Every option that does not take any text, as a command line that gives it an empty one. */
const refused = [...commands].flatMap(([name, { arguments: args = {}, options = {} }]) => {
  const words = [...name.split(' '), ...Object.values(args).map(() => id)];
  return Object.values(options)
    .filter(({ parse, choices }) => parse ?? choices)
    .map(({ flags }) => [...words, `${/--[\w-]+/.exec(flags)?.[0]}=`]);
});

test.each(refused.map((argv) => [argv]))('the refusal of %j names the flag', (argv) => {
  expect(() => parse(argv, program, { columns: () => 80, write() {} })).toThrow(`${argv.at(-1)?.replace('=', '')}:`);
});
