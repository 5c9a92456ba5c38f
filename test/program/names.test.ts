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

test.each<[argv: string[], meant: string]>([
  [['trigger', 'nightly', '–watch'], 'runctl trigger nightly --watch --json'],
  [['trigger', '—w', 'nightly'], 'runctl trigger -w nightly --json'],
  [['trigger', 'nightly', '–timeout', '5m'], 'runctl trigger nightly --timeout 5m --json'],
  [['trigger', 'a', 'b ', 'c,d', '“e”'], 'runctl trigger a b c d e --json'],
  [['trigger', './nightly', 'weekly/'], 'runctl trigger nightly weekly --json'],
  [['trigger', '“night', 'shift”'], 'runctl trigger --help'],
  [['trigger', 'nightly', '*'], 'runctl trigger --help'],
  [['trigger', 'myproj/nightly'], 'runctl trigger nightly --json'],
  [['watch', 'run/nightly'], 'runctl watch nightly --json'],
  [['trigger', 'a,b', '--idempotency-key', 'a,b'], 'runctl trigger --help'],
  [['trigger', '–help'], 'runctl trigger --help'],
  [['trigger', 'nightly', `nightly/${id}`], `runctl watch nightly/${id}`],
  [['trigger', '@last'], 'runctl watch @last'],
  [['recover', 'nightly', '@last'], 'runctl watch @last'],
  [['watch', 'a,b'], 'runctl watch a b --json'],
  [['status', 'nightly/106e12ed'], 'runctl status 106e12ed --json'],
  [['result', `a,b/${id}`], 'runctl result --help'],
  [['list', 'nightly', ' weekly'], 'runctl list nightly weekly --json'],
  [['status', 'nightly', '–q'], 'runctl status nightly -q --json'],
])('%j: %s', async (argv, meant) => {
  expect((await refused(argv)).next).toBe(meant);
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

test.each(['nightly\u200B', '\uFEFFnightly'])(
  'for %j no line is printed that would start another automation',
  async (name) => {
    const { stderr, next } = await refused(['trigger', name]);
    expect([next, stderr]).toEqual(['runctl trigger nightly --json', expect.not.stringContaining('/nightly')]);
  },
);

test.each(['-nightly', '--nightly'])('%j behind -- is a name, and not called a flag', async (name) => {
  const { env } = await withEmulator({});
  const { code, stderr } = await runProgram(['trigger', '--', name], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`runctl trigger -- ${project}/${name}`)]);
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

test('the message says how such a name is given, and that line starts it', async () => {
  const { stderr } = await refused(['trigger', 'a,b', '--quiet']);
  expect(stderr).toContain(`\`runctl trigger ${project}/a,b --quiet --json\``);
  const { env, emulator } = await withEmulator({});
  expect((await runProgram(['trigger', `${project}/a,b`], { env })).code).toBe(0);
  expect(emulator.runs().map(({ target }) => target)).toMatchObject([{ automationName: 'a,b' }]);
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
