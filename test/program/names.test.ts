// What is no name is refused for all arguments together, before anything is sent.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { runProgram } from '../helpers/run-program.ts';

const id = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
const project = '00000000-0000-4000-8000-000000000001';
const blanks = ['', ' ', '\u00A0', '\u3000', '\u200B', '\uFEFF', '\u0085'];
const dashes = [...'–—‐‑‒―−﹘-'];

async function refused(argv: string[]) {
  const { env, emulator } = await withEmulator({});
  const { code, stdout, stderr } = await runProgram([...argv, '--json'], { env });
  expect([code, emulator.requests.length]).toEqual([2, 0]);
  const [{ runctl } = { runctl: undefined }] = jsonLines(stdout);
  return { stderr, next: (runctl as { next: string | null } | undefined)?.next };
}

test.each<[argv: string[], why: RegExp, next?: string | null, hint?: RegExp]>([
  [['trigger', 'nightly', '–watch'], /"–watch" begins with a dash/],
  [['trigger', '—w', 'nightly'], /"—w" begins with a dash/],
  [['trigger', 'nightly', '–timeout', '5m'], /"–timeout" begins with a dash/],
  [
    ['trigger', 'a', 'b ', 'c,d', '“e”'],
    /"b " begins or ends with a blank; "c,d" contains a comma.*; "“e”" has a typographic quote/,
  ],
  [['trigger', './nightly', 'weekly/'], /".\/nightly" contains a slash.*; "weekly\/" contains a slash/],
  [['trigger', '“night', 'shift”'], /"“night" has a typographic quote/],
  [['trigger', 'nightly', '*'], /"\*" contains an asterisk/],
  [['trigger', 'myproj/nightly'], /isn't a project ID/],
  [['trigger', 'a,b', '--idempotency-key', 'a,b'], /"a,b" contains a comma/],
  [['trigger', '–help'], /begins with a dash/],
  [['trigger', 'nightly', `nightly/${id}`], /names a run, not an automation/, `runctl watch nightly/${id}`],
  [['trigger', '@last'], /names a run/, 'runctl watch @last'],
  [['recover', 'nightly', '@last'], /names a run/, 'runctl watch @last'],
  [['watch', 'run/nightly'], /contains a slash/],
  [['watch', 'a,b'], /contains a comma/],
  [['status', 'nightly/106e12ed'], /contains a slash/],
  [['status', 'status,output'], /contains a comma/],
  [['result', `a,b/${id}`], /contains a comma/],
  [['list', 'nightly', ' weekly'], /begins or ends with a blank/],
  [['list', 'failed'], /is a status/, null, /--status FAILED/],
  [['trigger', 'nightly\n--watch'], /contains a line break/],
  [['trigger', 'nightly\u00A0--watch'], /contains a blank that is no plain space/],
  [['trigger', 'nightly --watch'], /contains a blank and a dash/],
  [['trigger', 'nightly –w'], /contains a blank and a dash/],
  ...['<automation>', '[name]', '{name}', '$NAME', 'a;b', 'a\\', 'night…'].map((name): [string[], RegExp] => [
    ['trigger', name],
    /placeholder/,
  ]),
  [['trigger', 'list'], /is a command of runctl/],
  [['trigger', 'nightly', 'ls', 'help'], /"help" is a command of runctl/],
  [['recover', 'status'], /is a command of runctl/],
  [['watch', 'trigger'], /is a command of runctl/],
])('%j: %s', async (argv, why, next = `runctl ${argv[0]} --help`, hint = why) => {
  const said = await refused(argv);
  expect(said.stderr).toMatch(why);
  expect(said.stderr).toMatch(hint);
  expect(said.next).toBe(next);
});

test('a status that does not exist is refused before the runs are polled', async () => {
  const { env, emulator } = await withEmulator({});
  await runProgram(['trigger', 'nightly'], { env });
  const { code, stderr } = await runProgram(['list', '--status', 'NOPE'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is no status "NOPE"')]);
  expect(emulator.requests).toHaveLength(1);
});

test.each(['EU - Asia', 'C++ (nightly)', 'a & b', "it's", 'Übersicht', '夜間', 'a.b_c~d!', 'back-up'])(
  'an automation can be called %s',
  async (name) => {
    const { env, emulator } = await withEmulator({});
    expect((await runProgram(['trigger', name], { env })).code).toBe(0);
    expect(emulator.runs()).toMatchObject([{ target: { automationName: name } }]);
  },
);

test('an automation that is called like a command can be named once it is known', async () => {
  const { env, emulator } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  await runProgram(['trigger', `${project}/list`], { env });
  for (const command of ['trigger', 'status', 'watch'])
    expect((await runProgram([command, 'list'], { env })).code, command).toBe(0);
  expect(emulator.runs()).toHaveLength(2);
});

test.each([
  ['trigger nightly --idempotency-key --watch', '--idempotency-key'],
  ['trigger --profile -w nightly', '--profile'],
  ['--profile --json trigger nightly', '--profile'],
  ['watch --on-final --quiet', '--on-final'],
  ['list -n --json', '-n'],
  ['config set project x --profile --json', '--profile'],
])('in `%s`, %s needs a value, because its variable may be unset', async (line, flag) => {
  const { stderr } = await refused(line.split(' '));
  expect(stderr).toContain(`${flag} needs a value (is a variable unset?)`);
});

test('a value that begins with a dash follows an equals sign, and behind -- nothing is a flag', async () => {
  const { env, emulator } = await withEmulator({});
  expect((await runProgram(['trigger', 'nightly', '--idempotency-key=-x'], { env })).code).toBe(0);
  expect(emulator.requests[0]?.headers['idempotency-key']).toBe('-x');
  expect((await runProgram(['trigger', '--', '--profile', '-x'], { env })).stderr).not.toContain('needs a value');
});

test('an argument too many that begins with another dash is said to', async () => {
  const { stderr } = await refused(['status', 'nightly', '–q']);
  expect(stderr).toContain('"–q" begins with another dash than a flag');
});

test.each([...blanks, ...dashes.map((dash) => `${dash}x`), ...dashes])(
  'nobody means the automation %j, before and behind --',
  async (name) => {
    if (!name.startsWith('-')) await refused(['trigger', 'nightly', name]);
    const { env, emulator } = await withEmulator({});
    expect((await runProgram(['trigger', '--', 'nightly', name], { env })).code).toBe(2);
    expect(emulator.requests).toEqual([]);
  },
);

test.each(['-nightly', '--nightly'])('%j behind -- is a name, and not called a flag', async (name) => {
  const { env } = await withEmulator({});
  const { code, stderr } = await runProgram(['trigger', '--', name], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('begins with a dash')]);
  expect(stderr).not.toContain('unknown option');
});

test.each([[['agent', 'trigger', 'nightly']], [['agent', 'status', id, '@last']], [['trigger', 'night\uD800']]])(
  '%j is refused, and what to give instead is said',
  async (argv) => {
    const { env } = await withEmulator({});
    const { code, stderr } = await runProgram(argv, { env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/\n +-> give .+\n$/)]);
  },
);

test.each(['a,b', '-nightly', ' x', '“q”'])('the message says how %j is given, and so it is taken', async (name) => {
  const { env, emulator } = await withEmulator({});
  const { stderr } = await runProgram(['trigger', '--', name], { env });
  expect(stderr).toContain('<projectId>/<name> takes any name');
  expect((await runProgram(['trigger', `${project}/${name}`], { env })).code).toBe(0);
  expect(emulator.runs().map(({ target }) => target)).toMatchObject([{ automationName: name }]);
});

test('what is no name is never suggested, and an automation without a run neither', async () => {
  const { env } = await withEmulator({ faults: [{ on: 'trigger', from: 2, do: 'status', status: 402 }] });
  await runProgram(['trigger', `${project}/–watch`], { env });
  expect((await runProgram(['trigger', 'nightly'], { env })).code).toBe(8);
  expect((await runProgram(['trigger'], { env })).stderr).toContain('see `runctl trigger --help`');
  expect((await runProgram(['trigger', '--dry-run', 'watch'], { env })).stderr).not.toContain('–watch');
});

test.each(['status', 'result', 'watch'])(
  'a journal that cannot be read is not one without runs to %s',
  async (command) => {
    const { env } = await withEmulator({});
    mkdirSync(join(env.RUNCTL_STATE_DIR ?? '', 'journal.jsonl'), { recursive: true });
    expect((await runProgram([command, 'nightly'], { env })).code).toBe(74);
  },
);
