import { join } from 'node:path';
import type { CommandUnknownOpts } from 'commander';
import { describe, expect, test, vi } from 'vitest';

import { runCli } from '../../src/cli/run-cli.ts';
import { program } from '../../src/program.ts';
import { exitCodes } from '../../src/run/exit-codes.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { runProgram } from '../helpers/run-program.ts';
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
    [['tigger', 'nightly'], 'tigger'],
    // Names that every object answers to.
    [['constructor', '--help'], "unknown command 'constructor'"],
    [['help', 'toString'], "unknown command 'toString'"],
    [['config', '__proto__'], "unknown command 'config __proto__'"],
    [['trigger'], 'automation'],
    [['trigger', ''], 'is blank (is a variable unset?)'],
    [['trigger', '.'], '"."'],
    [['trigger', '..'], '".."'],
    [['trigger', `${projectId}/`], 'is empty'],
    [['trigger', '\uD800'], 'lone surrogate'],
    [['trigger', '@last'], 'names a run'],
    [['trigger', executionId], 'names a run'],
    [['trigger', `${projectId.slice(1)}/nightly`], "isn't a project ID"],
    [['status', `../${executionId}`], '".."'],
    [['help', 'nosuch'], 'nosuch'],
    [['nosuch', '--help'], 'nosuch'],
    [['config', 'nosuch'], 'nosuch'],
    [['completion', 'tcsh'], 'bash, zsh, fish'],
    [['trigger', 'a', '--nope'], '--nope'],
    [['trigger', 'a', '-watch'], 'did you mean --watch?'],
    [['trigger', 'a', '--api-key', 'secret'], '--api-key-file'],
    [['version', '—json'], 'did you mean --json?'],
    [['trigger', 'a', '--timeout', '5'], '5s, 5m or 5h'],
    [['trigger', 'a', '--timeout', '5m30'], "'5m30'"],
    [['trigger', 'a', '--give-up-after', '-1s'], '--give-up-after'],
    [['trigger', 'a', '--give-up-after', '0s'], 'greater than 0'],
    [['trigger', 'a', '--interval', '1 s'], "'1 s'"],
    [['trigger', 'a', '--rate', '0'], '--rate'],
    [['trigger', 'a', '--rate', 'many'], '--rate'],
    [['trigger', 'a', '--if-active', 'hope'], 'hope'],
    [['trigger', 'a', '--idempotency-key', 'two words'], '--idempotency-key'],
    [['trigger', 'a', '--idempotency-key', ''], 'is a variable unset?'],
    [['trigger', 'a', '--idempotency-key'], 'is a variable unset?'],
    [['trigger', 'a', '--idempotency-key', 'nightly-$DATE'], 'placeholder'],
    [['trigger', 'a', '--idempotency-key', 'nightly-{date}'], 'placeholder'],
    [['trigger', 'a', '--idempotency-key', 'nightly-<date>'], 'placeholder'],
    [['trigger', 'a', 'b', '--idempotency-key', 'k'], '--idempotency-key'],
    [['trigger', 'a', '--on-final', 'true'], '--watch'],
    [['trigger', 'a', '--project', 'x'], '--project'],
    [['trigger', 'a', '--profile', 'nobody'], 'nobody'],
    [['trigger', 'a', '--base-url', 'ftp://x.example'], '--base-url'],
    [['trigger', 'a', '--base-url', 'http://x.example'], '--base-url'],
    [['trigger', 'a', '--request-timeout', '1ms'], '--request-timeout'],
    [['trigger', 'a', '--api-key-file', '/no/such/file'], '/no/such/file'],
    [['status', 'nonsense'], 'nonsense'],
    [['status', executionId], executionId],
    [['status', `${projectId}/${executionId}`], "isn't a run"],
    [['status', `${projectId}/../${executionId}`], '".."'],
    [['status', '--json', '--field', 'a'], '--json'],
    [['status', '--field', 'a..b'], '--field'],
    [['status', 'a', 'b'], "too many arguments for 'status'"],
    [['result', '@last'], 'no run was started or watched here yet'],
    [['watch', 'nightly@last'], 'nightly'],
    [['watch', '--all', executionId], '--all'],
    [['list', '--limit', '0'], '--limit'],
    [['list', '--limit', '1.5'], '--limit'],
    [['agent'], 'trigger, status'],
    [['agent', 'trigger', 'x'], '"x"'],
    [['agent', 'status', projectId, 'x'], '"x"'],
    [['config', 'get', 'nope'], 'nope'],
    [['config', 'set', 'apiKey', 'abc'], 'command line'],
    [['config', 'set', 'project', 'x'], 'project'],
    [['config', 'set', 'baseUrl'], 'baseUrl'],
    [['explain', '99'], '99'],
    [['emulator', '--port', '70000'], '--port'],
    [['emulator', '--host', '0.0.0.0'], '--host'],
    [['emulator', '--scenario', 'nope'], 'nope'],
    [['emulator', '--speed', 'fast'], '--speed'],
    [['completion', 'tcsh'], 'tcsh'],
    [['completion'], 'bash, zsh, fish'],
    [['config', 'get'], 'baseUrl'],
    [['config', 'set', 'onExit', './tell', 'me'], 'quotes'],
    [['doctor', 'nightly'], "too many arguments for 'doctor'"],
    [['list', '--limit'], '--limit needs a value'],
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

  test.each([[[]], [['--']]])('with --json the refusal is a document too, after %j', async (first) => {
    const { out, code } = await typed([...first, 'trigger', 'a', '--timeout', '5', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      runctl: { exitCode: 2, outcome: 'usage', command: 'trigger', trigger: { started: 'no' } },
    });
    expect(code).toBe(2);
  });

  test('with --json the refusal names the command, and not the value of a flag that is one, too', async () => {
    const { out } = await typed(['list', '--json', '--field', 'status']);
    expect(JSON.parse(out).runctl).toMatchObject({ outcome: 'usage', command: 'list' });
  });

  test('a mistyped command is answered with the one that was meant', async () => {
    expect((await typed(['tigger'])).err).toContain('trigger');
  });
});

describe('a missing setting is named with the ways to give it', () => {
  test.each([
    ['RUNCTL_BASE_URL', ['--base-url', 'RUNCTL_BASE_URL', 'runctl config']],
    ['RUNCTL_API_KEY', ['--api-key-file', 'RUNCTL_API_KEY', 'runctl config']],
    ['RUNCTL_PROJECT', ['--project', 'RUNCTL_PROJECT', 'runctl config']],
  ])('%s', async (variable, ways) => {
    const { code, err } = await typed(['trigger', 'nightly'], { ...settings(), [variable]: '' });
    for (const way of ways) expect(err).toContain(way);
    expect(code).toBe(2);
  });
});

test('explain shows the table of exit codes, and each of them by number and by name', async () => {
  const { out } = await typed(['explain']);
  expect(out.match(/^ *\d+ {2}\w/gm)).toHaveLength(exitCodes.length);
  for (const { code, outcome, meaning } of exitCodes) {
    for (const asked of [String(code), outcome])
      expect((await typed(['explain', asked])).out.replaceAll('\n', ' ')).toContain(meaning);
  }
});

test('every command has a help that says what it does', async () => {
  const { out } = await typed(['--help']);
  const [index = ''] = out.split('Examples:');
  const commands = [...index.matchAll(/^ {2}(\w+).* {2}\S/gm)].map(([, name]) => name ?? '');
  expect(commands).toEqual(
    expect.arrayContaining(['trigger', 'status', 'result', 'watch', 'list', 'recover', 'agent']),
  );
  for (const command of commands.filter((name) => name !== 'help')) {
    const help = await typed([command, '--help']);
    expect(help.out).toContain(`runctl ${command}`);
    expect(help.code).toBe(0);
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
    expect(out).toContain('`runctl help flags`');
    const flags = (await typed(['help', 'flags'])).out;
    for (const [flag = ''] of /Common flags:([^(]*)/.exec(out)?.[1]?.matchAll(/--?[a-z][a-z-]*/g) ?? [])
      expect(flags).toContain(flag);
  },
);

test('a command after a first `--` is a command', async () => {
  expect((await typed(['--', 'explain', '3'])).out).toContain('run_timed_out');
  expect(await typed(['--', 'tigger'])).toMatchObject({ code: 2, err: expect.stringContaining('tigger') });
  expect((await typed(['--'])).out).toContain('Usage: runctl');
});

test.each([
  ['n', 0],
  ['y', 130],
] as const)('no arguments at all offer to set up runctl on a terminal: %s', async (answer, code) => {
  const folder = temporaryFolder();
  const context = createMemory({ RUNCTL_CONFIG_DIR: folder, RUNCTL_STATE_DIR: folder });
  Object.assign(context.stdin(), { isTTY: true });
  Object.assign(context.stdout, { isTTY: true });
  Object.assign(context.stderr, { isTTY: true });
  let asked = '';
  context
    .terminal()
    .setEncoding('utf8')
    .on('data', (text) => {
      asked += text;
    });
  const running = runCli([], program, context);
  await vi.waitUntil(() => asked.includes('[Y/n]'));
  context.stdin().write(`${answer}\r`);
  if (answer === 'y') {
    await vi.waitUntil(() => asked.includes('base URL of the service'));
    context.interrupt('SIGINT');
  }
  expect(await running).toBe(code);
  expect(context.out().trimEnd().split('\n')).toHaveLength(10);
  expect(context.out()).toContain('runctl --help');
  // The path of the config file, which may be long, stands in the same sentence.
  const said = context.err().replace(/\s+/g, ' ');
  expect(said).toContain(answer === 'n' ? 'runctl config' : 'Ctrl-C cancels without saving');
});

test("a trigger that isn't an automation names those that were triggered here before", async () => {
  const { env } = await withEmulator({});
  expect((await runProgram(['trigger'], { env })).stderr).toContain('see `runctl trigger --help`');
  await runProgram(['trigger', 'nightly', 'weekly report'], { env });
  const { code, stderr } = await runProgram(['trigger'], { env });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "runctl: missing required argument 'automation'\n  -> known on this machine: 'weekly report', nightly; see `runctl trigger --help`\n",
  });
});

test('no arguments at all show the help', async () => {
  const { out, code } = await typed([]);
  expect(out).toContain('Usage: runctl');
  expect(code).toBe(0);
});

test('a variable that is none of runctl is named once, and one of a hook or of Kubernetes is not', async () => {
  const odd = {
    ...settings(),
    RUNCTL_PROFLE: 'staging',
    RUNCTL_EXIT_CODE: '0',
    RUNCTL_PROJCT: '',
    RUNCTL_SERVICE_HOST: '10.0.0.1',
    RUNCTL_PORT_80_TCP: 'tcp://10.0.0.1:80',
  };
  const line = "runctl: RUNCTL_PROFLE is set, but isn't a variable of runctl\n";
  const said = { 'list -q': line, 'explain 2 --json': line, version: '', 'list --help': '', 'doctor --offline -q': '' };
  for (const [words, expected] of Object.entries(said))
    expect([words, (await typed(words.split(' '), odd)).err]).toEqual([words, expected]);
  expect((await typed(['doctor', '--offline', '-q'], odd)).out).toContain('RUNCTL_PROFLE');
});
