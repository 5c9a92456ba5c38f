// What is no name is refused for all arguments together, before anything is sent.
import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { splitLine } from '../../src/commands/complete.ts';
import { projectId } from '../fault-kit/start.ts';
import { failing } from '../helpers/emulator.ts';
import { withMachine } from '../helpers/machine.ts';
import { printedCommands } from '../helpers/printed-commands.ts';

const id = '6f1c9f5e-3a53-4c1b-9f0a-0d6f2c1f8a11';
const blanks = ['', ' ', '\u00A0', '\u3000', '\u200B', '\uFEFF', '\u0085'];
const dashes = [...'–—‐‑‒―−﹘-'];

async function refused(argv: string[]) {
  const { run, emulator } = await withMachine();
  const { code, documents, stderr } = await run([...argv, '--json']);
  expect([argv, code, emulator.requests]).toEqual([argv, 2, []]);
  return { stderr, next: documents[0]?.runctl.next };
}

test.each<[argv: string[], why: RegExp, next?: string | null]>([
  [['trigger', 'nightly', '–watch'], /"–watch" .*dash.*did you mean --watch\?/s],
  [['trigger', '—w', 'nightly'], /"—w" .*dash.*did you mean -w\?/s],
  [['trigger', 'nightly', '–timeout', '5m'], /"–timeout" .*dash/, null],
  [['trigger', '–help'], /dash/],
  [['trigger', 'a', 'b ', 'c,d', '“e”'], /"b " .*blank; "c,d" .*comma.*; "“e”" .*quote/],
  [['trigger', './nightly', 'weekly/'], /".\/nightly" .*slash.*; "weekly\/" .*slash/],
  [['trigger', '“night', 'shift”'], /"“night" .*quote/],
  [['trigger', 'nightly', '*'], /"\*" .*asterisk/],
  [['trigger', 'myproj/nightly'], /isn't a project ID/],
  [['trigger', 'a,b', '--idempotency-key', 'a,b'], /"a,b" .*comma/],
  [['trigger', 'nightly', `nightly/${id}`], /a run/, `runctl watch nightly/${id}`],
  [['trigger', '@last'], /a run/, 'runctl watch @last'],
  [['recover', 'nightly', '@last'], /a run/, 'runctl watch @last'],
  [['watch', 'run/nightly'], /slash/],
  [['watch', 'a,b'], /comma/],
  [['status', 'nightly/106e12ed'], /slash/],
  [['status', 'status,output'], /comma/],
  [['result', `a,b/${id}`], /comma/],
  [['list', 'nightly', ' weekly'], /blank/],
  [['list', 'failed'], /--status FAILED/],
  [['trigger', 'nightly\n--watch'], /line break/],
  [['trigger', 'nightly\u00A0--watch'], /no plain space/],
  [['trigger', 'nightly --watch'], /blank and a dash/],
  [['trigger', 'nightly –w'], /blank and a dash/],
  ...['<automation>', '[name]', '{name}', '$NAME', 'a;b', 'a\\', 'night…'].map((name): [string[], RegExp] => [
    ['trigger', name],
    /placeholder/,
  ]),
  [['trigger', 'nightly\r'], /carriage return.*\n.*dos2unix/],
  [['status', `${id}\r`], /carriage return.*\n.*dos2unix/],
  [['list', 'nightly\r'], /carriage return/],
  [['trigger', '"nightly"'], /has quotes around it.*\n.*leave out the quotes/],
  [['watch', `"${id}"`], /has quotes around it.*\n.*leave out the quotes/],
  [['trigger', id, 'nightly'], new RegExp(`is a UUID.*\\n.*write ${id}/nightly\\n`)],
  [['recover', id, 'nightly'], new RegExp(`write ${id}/nightly\\n`)],
  [['status', id, 'nightly'], new RegExp(`too many arguments.*\\n.*write ${id}/nightly\\n`)],
  [['agent', 'trigger', id, 'nightly'], /too many arguments.*\n.*--help'\n/, 'runctl agent trigger --help'],
  [['status', id.replaceAll('-', '')], new RegExp(`no run here matches.*\\n.*did you mean ${id}\\?`)],
  [['trigger', 'a,b'], /separate names with spaces\n +if that is really the name, write <projectId>\/<name>\n/],
  [['trigger', 'nightly --watch'], /put the flag after the closing quote\n/],
  [['trigger', 'nightly \u2E3A\u2212watch'], /blank and a dash/],
  [['trigger', 'nightly\u2060'], /invisible character/],
  [['trigger', '\u00ADnightly'], /invisible character/],
  [['trigger', 'nightly\u0007x'], /control character/],
  [['trigger', 'n\uFFFDchtlich'], /UTF-8/],
  [['trigger', 'list'], /is a command/],
  [['trigger', 'nightly', 'ls', 'help'], /"help" is a command/],
  [['recover', 'status'], /is a command/],
  [['watch', 'trigger'], /is a command/],
])('%j: %s', async (argv, why, next = null) => {
  const said = await refused(argv);
  expect(said.stderr).toMatch(why);
  expect(said.next).toBe(next);
});

test.each([...blanks, ...dashes.map((dash) => `${dash}x`), ...dashes])(
  '%j is refused as the name of an automation, before and behind --',
  async (name) => {
    if (!name.startsWith('-')) await refused(['trigger', 'nightly', name]);
    const { run, emulator } = await withMachine();
    const { code, stderr } = await run(['trigger', '--', 'nightly', name]);
    expect([code, emulator.requests]).toEqual([2, []]);
    expect(stderr).not.toContain('unknown option');
  },
);

describe('the name of an automation', () => {
  test.each(['EU - Asia', 'C++ (nightly)', 'a & b', "it's", 'Übersicht', '夜間', 'a.b_c~d!', 'back-up'])(
    'can be %s',
    async (name) => {
      const { run, emulator } = await withMachine();
      expect((await run(['trigger', name])).code).toBe(0);
      expect(emulator.runs()).toMatchObject([{ target: { automationName: name } }]);
    },
  );

  test.each(['a,b', '-nightly', ' x', '“q”'])('can be %j if it is given as the message says', async (name) => {
    const { run, emulator } = await withMachine();
    expect((await run(['trigger', '--', name])).stderr).toContain('<projectId>/<name>');
    expect((await run(['trigger', `${projectId}/${name}`])).code).toBe(0);
    expect(emulator.runs()).toMatchObject([{ target: { automationName: name } }]);
  });

  test.each(['nightly', 'a,b', '-nightly', '@last', id])(
    'is printed with its project unless it can be typed alone, so that the command starts a run of it: %j',
    async (name) => {
      const { run, emulator } = await withMachine(failing);
      const { stderr } = await run(['trigger', `${projectId}/${name}`, '--watch']);
      const commands = printedCommands(stderr).filter((line) => line.startsWith('runctl trigger'));
      for (const command of commands) await run(splitLine(command).words.slice(1));
      const runOfIt = { target: { automationName: name } };
      expect(emulator.runs()).toMatchObject([runOfIt, runOfIt]);
    },
  );

  test('can be the name of a command once the journal has it', async () => {
    const { run, ids } = await withMachine({ automations: { '*': { duration: '1ms' } } });
    await run(`trigger ${projectId}/list`);
    for (const command of ['trigger', 'status', 'watch']) expect((await run(`${command} list`)).code, command).toBe(0);
    expect(ids()).toHaveLength(2);
  });

  test('is never suggested if it is no valid name or has no run', async () => {
    const { run } = await withMachine({ faults: [{ on: 'trigger', from: 2, do: 'status', status: 402 }] });
    await run(`trigger ${projectId}/–watch`);
    expect((await run('trigger nightly')).code).toBe(8);
    expect((await run('trigger')).stderr).toContain("see 'runctl trigger --help'");
    expect((await run('trigger --dry-run watch')).stderr).not.toContain('–watch');
  });
});

describe('a flag', () => {
  test.each([
    ['trigger nightly --idempotency-key --watch', '--idempotency-key'],
    ['trigger --profile -w nightly', '--profile'],
    ['--profile --json trigger nightly', '--profile'],
    ['watch @last --on-final --quiet', '--on-final'],
    ['list -n --json', '-n'],
    ['config set project x --profile --json', '--profile'],
  ])('needs a value, because its variable may be unset: in `%s`, %s', async (line, flag) => {
    expect((await refused(line.split(' '))).stderr).toContain(`${flag} needs a value`);
  });

  test('accepts a value that begins with a dash behind an equals sign, and is no flag behind --', async () => {
    const { run, keys } = await withMachine();
    expect((await run('trigger nightly --idempotency-key=-x')).code).toBe(0);
    expect(keys()).toEqual(['-x']);
    expect((await run('trigger -- --profile -x')).stderr).not.toContain('needs a value');
  });

  test('with a typographic dash is named as that if it is an argument too many', async () => {
    expect((await refused(['status', 'nightly', '–q'])).stderr).toMatch(/"–q" .*dash/);
  });
});

test.each([[['agent', 'trigger', 'nightly']], [['agent', 'status', id, '@last']], [['trigger', 'night\uD800']]])(
  '%j is refused, and what to give instead is said',
  async (argv) => {
    expect((await refused(argv)).stderr).toMatch(/\n +-- give .+\n$/);
  },
);

test.each(['nosuch', 'runctl.nosuch'])('a field that no document has starts no run: %s', async (path) => {
  const { run, emulator } = await withMachine();
  expect([(await run(`trigger nightly --field ${path}`)).code, emulator.requests]).toEqual([2, []]);
});

test.each(['status', 'result', 'watch'])(
  'a journal that can not be read is not treated as empty by %s',
  async (command) => {
    const { run, journal } = await withMachine();
    mkdirSync(journal, { recursive: true });
    expect((await run(`${command} nightly`)).code).toBe(74);
  },
);
