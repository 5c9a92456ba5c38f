import { join } from 'node:path';
import type { CommandUnknownOpts } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse } from '../../src/cli/parse-command-line.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { connectionFlags } from '../../src/cli/suggested-command.ts';
import { program } from '../../src/program.ts';
import { exitCodes } from '../../src/run/exit-codes.ts';
import { plainSentence } from '../../src/run/quote.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const projectId = '0b6f2a64-90f5-4ed2-8c8e-5f0a9f3ad001';
const executionId = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';

/** Port 9 of loopback: anything that is sent there fails, and not with exit code 2. */
function settings(): Record<string, string> {
  const folder = temporaryFolder();
  return {
    RUNCTL_BASE_URL: 'http://127.0.0.1:9',
    RUNCTL_API_KEY: 'key-0123456789',
    RUNCTL_PROJECT: projectId,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
    RUNCTL_STATE_DIR: join(folder, 'state'),
  };
}

async function typed(argv: string[], env: Record<string, string | undefined> = settings(), input = '') {
  const context = createMemory(env, input);
  const code = await runCli(argv, program, context);
  return { code, out: context.out(), err: context.err() };
}

describe('bad input is refused with 2 and a line that names it', () => {
  const table: [argv: string[], named: string][] = [
    // Names that every object answers to.
    [['constructor', '--help'], "unknown command 'constructor'"],
    [['help', 'toString'], "unknown command 'toString'"],
    [['config', '__proto__'], "unknown command 'config __proto__'"],
    [['trigger', ''], 'is blank (is a variable unset?)'],
    [['trigger', '.'], '"."'],
    [['trigger', executionId], 'names a run'],
    [['completion', 'tcsh'], 'bash, zsh or fish'],
    [['trigger', 'a', '-watch'], 'did you mean --watch?'],
    [['trigger', 'a', '--api-key', 'secret'], '--api-key-file'],
    [['trigger', 'a', '--give-up-after', '0s'], 'more than 0'],
    [['trigger', 'a', '--rate', 'many'], '--rate'],
    [['trigger', 'a', '--idempotency-key', ''], 'is a variable unset?'],
    [['trigger', 'a', '--idempotency-key'], 'is a variable unset?'],
    [['trigger', 'a', '--idempotency-key', 'nightly-$DATE'], 'placeholder'],
    [['trigger', 'a', '--idempotency-key', 'nightly-{date}'], 'placeholder'],
    [['trigger', 'a', '--on-final', 'true'], '--watch'],
    [['status', `${projectId}/../${executionId}`], '".."'],
    [['status', '--json', '--field', 'a'], '--json'],
    [['watch', 'nightly@last'], 'nightly'],
    [['list', '--limit', '1.5'], '--limit'],
    [['agent', 'status', projectId, 'x'], '"x"'],
    [['config', 'get', 'nope'], 'nope'],
    [['emulator', '--port', '70000'], '--port'],
    [['emulator', '--host', '0.0.0.0'], '--host'],
    [['emulator', '--scenario', 'nope'], 'nope'],
    [['emulator', '--speed', 'fast'], '--speed'],
    [['completion'], 'bash, zsh, fish'],
    [['config', 'get'], 'baseUrl'],
  ];
  test.each(table)('%j', async (argv, named) => {
    const { code, out, err } = await typed(argv);
    expect(err).toContain(named);
    expect(err.trim().split('\n').length).toBeLessThanOrEqual(3);
    const document = argv.includes('--json') && JSON.parse(out);
    if (document) expect(document.runctl.exitCode).toBe(2);
    else expect(out).toBe('');
    expect(code).toBe(2);
  });

  test.each([[[]], [['--']]])('with --json there is a document too, after %j', async (first) => {
    const { out, code } = await typed([...first, 'trigger', 'a', '--timeout', '5', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      runctl: { exitCode: 2, outcome: 'usage', command: 'trigger', trigger: { started: 'no' } },
    });
    expect(code).toBe(2);
  });

  test('with --field the field of the problem is printed, too', async () => {
    expect(await typed(['status', '--field', 'runctl.outcome'])).toMatchObject({ code: 2, out: 'usage\n' });
  });

  test('with --json the document names the command, and not a flag value that is the name of a command', async () => {
    const { out } = await typed(['list', '--json', '--field', 'status']);
    expect(JSON.parse(out).runctl).toMatchObject({ outcome: 'usage', command: 'list' });
  });
});

test('explain shows the table of exit codes, and each of them by number and by name', async () => {
  const { out } = await typed(['explain']);
  expect(out.match(/^ *\d+ {2}\w/gm)).toHaveLength(exitCodes.length);
  for (const { code, outcome, meaning } of exitCodes) {
    for (const asked of [String(code), outcome])
      expect((await typed(['explain', asked])).out.replaceAll('\n', ' ')).toContain(plainSentence(meaning));
  }
});

/** The words of every command, and of the program itself. */
const wordsOf = ({ commands }: CommandUnknownOpts, words: string[] = []): string[][] => [
  words,
  ...commands
    .filter((command) => command.name() !== 'help')
    .flatMap((inner) => wordsOf(inner, [...words, inner.name()])),
];

test.each([40, 60, 80, 200])('no help is wider than %i columns', async (columns) => {
  const commands = wordsOf(program);
  expect(commands.length).toBeGreaterThan(20);
  for (const words of commands) {
    const context = createMemory(settings());
    Object.assign(context.stdout, { columns });
    await runCli([...words, '--help'], program, context);
    // What is one word, and what is to be copied, stays whole.
    const isWhole = (line: string) => /^ *(\S+|runctl .*|.*[{}[\]].*)$/.test(line);
    const tooWide = context
      .out()
      .split('\n')
      .filter((line) => line.length > columns && !isWhole(line));
    expect(tooWide, words.join(' ')).toEqual([]);
  }
});

test('the options of a command itself come first in its help, --watch before all others', async () => {
  const { out } = await typed(['trigger', '--help']);
  const headings = [...out.matchAll(/^[A-Z]\w+:$/gm)].map(([heading]) => heading);
  expect(headings).toEqual(['Arguments:', 'Options:', 'Starting:', 'Following:', 'Examples:']);
  expect(out).toMatch(/Options:\n {2}-w, --watch /);
});

test.each(['trigger', 'watch'])(
  'the help of %s fits a screen, and says where the flags of all commands are',
  async (name) => {
    const { out } = await typed([name, '--help']);
    expect(out.trimEnd().split('\n').length).toBeLessThan(45);
    expect(out).toContain("'runctl help flags'");
    const flags = (await typed(['help', 'flags'])).out;
    for (const [flag = ''] of /Common flags:([^(]*)/.exec(out)?.[1]?.matchAll(/--?[a-z][a-z-]*/g) ?? [])
      expect(flags).toContain(flag);
  },
);

test('a command is recognized after a first `--`', async () => {
  expect((await typed(['--', 'explain', '3'])).out).toContain('run_timed_out');
  expect(await typed(['--', 'tigger'])).toMatchObject({ code: 2, err: expect.stringContaining('tigger') });
  expect((await typed(['--'])).out).toContain('Usage: runctl');
});

test('an unknown RUNCTL_ variable is named once, unless a hook or Kubernetes sets it', async () => {
  const odd = {
    ...settings(),
    RUNCTL_PROFLE: 'staging',
    RUNCTL_EXIT_CODE: '0',
    RUNCTL_PROJCT: '',
    RUNCTL_SERVICE_HOST: '10.0.0.1',
    RUNCTL_PORT_80_TCP: 'tcp://10.0.0.1:80',
  };
  const line = 'runctl: unknown variable RUNCTL_PROFLE (did you mean RUNCTL_PROFILE?)\n';
  const said = { 'list -q': line, 'explain 2 --json': line, version: '', 'list --help': '', 'doctor --offline -q': '' };
  for (const [words, expected] of Object.entries(said))
    expect([words, (await typed(words.split(' '), odd)).err]).toEqual([words, expected]);
  expect((await typed(['doctor', '--offline', '-q'], odd)).out).toContain('RUNCTL_PROFLE');
});

test.each([
  ['tigger nightly', 'did you mean trigger?'],
  ['tigger --help', 'did you mean trigger?'],
  ['help tigger', 'did you mean trigger?'],
  ['help xyz', 'topics are flags, settings, programs, troubleshooting, man'],
  ['cancel nightly', "the service can't cancel a run"],
  ['stop', "the service can't stop a run"],
  ['agent cancel', "the service can't cancel a run"],
  ['agent stop x', "the service can't stop a run"],
  ['agent logs x', "the service can't show logs of a run, but 'runctl result @last' prints its output"],
  ['logs nightly', "the service can't show logs of a run, but 'runctl result @last' prints its output"],
  ['start nightly', 'did you mean trigger?'],
  ['run nightly', 'did you mean trigger?'],
  ['lsit', 'did you mean list?'],
  ['config gte project', 'did you mean get?'],
  ['agent triger x', 'did you mean trigger?'],
  ['config xyzzy', "see 'runctl config --help'"],
  ['xyzzy', "see 'runctl --help'"],
  ['trigger a --timout 5s', 'did you mean --timeout?'],
  ['trigger a --watch=true', 'write --watch without a value'],
  ['trigger a --watch=false', '--watch is off by default: leave it out'],
  ['list --offline=no', '--offline is off by default: leave it out'],
  ['status --no-color=0', '--no-color is off by default: leave it out'],
  ['trigger a --no-watch', "see 'runctl trigger --help'"],
  ['trigger a --poll', "see 'runctl trigger --help'"],
  ['watch --poll', "see 'runctl watch --help'"],
  ['watch --al', 'did you mean --all?'],
  ['status --color', "see 'runctl status --help'"],
  ['trigger a -w=1', 'write -w without a value'],
  ['emulator -p 1', "for the port, type '--port 1'"],
  ['version --fast', "see 'runctl version --help'"],
  ['--watch trigger nightly', 'put --watch after trigger'],
  ['-w trigger nightly', 'put -w after trigger'],
  ['trigger a --profil x', 'did you mean --profile?'],
  ['nightly', "see 'runctl --help'"],
])('`runctl %s` is refused: %s', async (line, hint) => {
  const { code, err } = await typed(line.split(' '), {});
  const last = err
    .trim()
    .split('\n')
    .at(-1)
    ?.trim()
    .replace(/^\S+ (?=\S)/, '');
  expect([code, last]).toEqual([2, hint]);
});

test('the document of a refused command line names the command, and not the value of a flag', async () => {
  for (const line of [
    '--profile status trigger x --frob',
    'trigger --profile status x --frob',
    '-p list trigger --frob',
  ])
    expect(JSON.parse((await typed([...line.split(' '), '--json'])).out).runctl).toMatchObject({ command: 'trigger' });
  const inner = await typed(['config', 'set', '--frob', '--json']);
  expect(JSON.parse(inner.out).runctl.command).toBe('config set');
});

test.each([
  '--api-key sk1',
  '--api-key=sk1',
  '--token sk1',
  '--apikey=sk1',
  '--api_key sk1',
  '--access-token sk1',
  '-token',
])('the message about an API key that is given as %s says how to give it', async (flag) => {
  for (const line of [`trigger nightly ${flag}`, `${flag} trigger nightly`]) {
    const { code, err } = await typed(line.split(' '));
    expect([code, err]).toEqual([2, expect.stringMatching(/RUNCTL_API_KEY.*--api-key-file/)]);
    expect(err).not.toContain('sk1');
  }
});

test('an API key that was given with a flag is not repeated', async () => {
  const context = createMemory();
  const ofCommands = ['trigger nightly --api-key sk1', 'status --token=sk1', 'list --json=sk1', 'trigger -w=sk1'];
  const ofOthers = [
    'sk1 --token',
    '--token sk1',
    '--token sk1 list',
    'help --token sk1',
    'config --token sk1',
    'agent --token=sk1',
  ];
  for (const line of [...ofCommands, ...ofOthers]) expect(await runCli(line.split(' '), program, context)).toBe(2);
  expect(context.err().replace("unknown command 'sk1'", '')).not.toContain('sk1');
});

test.each([
  [['status'], ''],
  [['status', '--profile', 'staging'], ' --profile staging'],
  [['status', '--profile=staging', '--json'], ' --profile staging'],
  [['status', '--base-url', 'https://a.example/x y'], " --base-url 'https://a.example/x y'"],
  [
    ['status', '--profile', "o'b'c", '--base-url=https://b.example'],
    " --base-url https://b.example --profile 'o'\\''b'\\''c'",
  ],
  [['status', '-p', 'x', '--json'], ' --project x'],
  [['status', '--project=x'], ' --project x'],
  [['config', '--profile', 'x', 'list'], ' --profile x'],
  [['emulator', '--', 'runctl', '--profile', 'x'], ''],
])('the commands that a hint suggests after %j get the flags "%s"', (argv, flags) => {
  const typed = parse(argv, program, { columns: () => 80, write() {} });
  expect(connectionFlags(typed?.options ?? {})).toBe(flags);
});
