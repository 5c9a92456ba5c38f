import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import { afterAll, expect, test } from 'vitest';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { going, withEmulator } from '../helpers/emulator.ts';
import { runProgram } from '../helpers/run-program.ts';
import { ScreenStream } from '../helpers/screen-stream.ts';

// Each section of docs/troubleshooting.md, tried: the command that it gives shows what it says to look for.

const page = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');

const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);

/** The command of a section, as words. */
function commandOf(title: string): string[] {
  const [, line] = /```sh\nrunctl (.*)\n```/.exec(sections.get(title) ?? '') ?? [];
  if (line === undefined) throw new Error(`no command under ${title}`);
  return line.split(' ');
}

interface Trouble {
  scenario?: Scenario;
  /** What was done before, with the exit code that brings somebody to the page. */
  before: readonly (readonly [argv: readonly string[], code: number])[];
  shows: RegExp;
  env?: Record<string, string>;
}

const sharedFolder = mkdtempSync(join(tmpdir(), 'runctl-shared-'));
chmodSync(sharedFolder, 0o775);
afterAll(() => rmSync(sharedFolder, { recursive: true }));

const trigger = ['trigger', 'nightly'];
const lost: Scenario = { ...going, order: 'activeFirst', faults: [loseResponse({ nth: 1 })] };

const troubles: Record<string, Trouble> = {
  'Exit code 12': {
    scenario: lost,
    before: [[trigger, 12]],
    shows: /the trigger of nightly at .*\+0000 would be sent again/,
  },
  "recover says that a trigger isn't sent again": {
    scenario: lost,
    before: [[trigger, 12]],
    env: { RUNCTL_IDEMPOTENCY_KEYS: 'ignored' },
    shows: /nightly at .*\+0000 isn't sent again: the service ignores[\s\S]*look in the service/,
  },
  'Exit code 7': {
    scenario: { ...going, faults: [{ on: 'status', do: 'status', status: 401 }] },
    before: [
      [trigger, 0],
      [['status', '@last'], 7],
    ],
    shows: /RUNCTL_API_KEY[\s\S]*the API key was refused/,
  },
  'Exit code 14, or an outage': {
    scenario: { ...going, faults: [{ on: 'status', to: 20, during: { for: '30s' }, do: 'status', status: 503 }] },
    before: [[['trigger', 'nightly', '--watch'], 14]],
    shows: /RUNNING +nightly/,
  },
  'name a run, or @last': {
    scenario: going,
    before: [
      [trigger, 0],
      [['status'], 2],
    ],
    shows: /RUNNING +nightly/,
  },
  NOT_FOUND: {
    scenario: { ...going, faults: [{ on: 'status', do: 'status', status: 422, body: { code: 'notFound' } }] },
    before: [
      [trigger, 0],
      [['list', '--status', 'FAILED'], 10],
    ],
    shows: /the service doesn't know/,
  },
  'It hangs': {
    scenario: going,
    before: [[trigger, 0]],
    shows: /status +RUNNING[\s\S]*started/,
  },
  'Exit code 10': {
    scenario: { ...going, faults: [{ on: 'status', do: 'html', status: 403 }] },
    before: [
      [trigger, 0],
      [['status', '@last'], 10],
    ],
    shows: /✖ service.*the response is an HTML page, "403"/,
  },
  'Two runs where there should be one': {
    scenario: { automations: { '*': { duration: '1ms' } } },
    before: [
      [trigger, 0],
      [trigger, 0],
    ],
    shows: /COMPLETED +nightly[\s\S]*COMPLETED +nightly/,
  },
  'UNKNOWN, or no run where there should be one': {
    scenario: lost,
    before: [[trigger, 12]],
    shows: /UNKNOWN +nightly/,
  },
  'Exit code 5, every morning': {
    scenario: going,
    before: [
      [trigger, 0],
      [trigger, 5],
    ],
    shows: /RUNNING +nightly/,
  },
  'Exit code 74': {
    scenario: going,
    before: [[trigger, 0]],
    env: { RUNCTL_STATE_DIR: '/proc/nothing' },
    shows: /✖ journal/,
  },
  "The journal isn't used, because others can write to it": {
    before: [],
    env: { RUNCTL_STATE_DIR: sharedFolder },
    shows: /✖ journal[\s\S]*chmod go-w/,
  },
};

test('on a terminal the page is wrapped, with the same words, code and tables, and links as text', async () => {
  const screen = new ScreenStream(new Terminal({ cols: 50, rows: 30, allowProposedApi: true }));
  const { stdout } = await runProgram(['help', 'troubleshooting'], { screen });
  const shown = page.trimEnd();
  const unmarked = shown
    .replace(/^```.*$/gm, '')
    .replace(/`([^`]+)`/g, "'$1'")
    .replace(/\[([^\]]*)\]\(([^)#]*)[^)]*\)/g, '$1 (docs/$2)');
  expect(stdout.split(/\s+/).filter(Boolean)).toEqual(unmarked.split(/\s+/));
  const isProse = (line: string) => !/^(?:[|#]| {4})|https?:/.test(line);
  const code = [...shown.matchAll(/^```.*\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n'));
  for (const line of code) expect(stdout.split('\n')).toContain(line && `    ${line}`);
  const prose = stdout.split('\n').filter(isProse);
  expect(prose.filter((line) => line.length > 50)).toEqual([]);
});

/** Their causes are around the process: test/e2e/troubleshooting.test.ts tries them. */
const aroundTheProcess = [
  'Exit code 1 or 9 from Node, or 124 from timeout',
  'Out of memory, although there is enough',
  'A CI log full of repeated lines or control characters',
];

test('every heading of the page is tried', () => {
  expect([...sections.keys()].toSorted()).toEqual([...Object.keys(troubles), ...aroundTheProcess].toSorted());
});

test.each(Object.entries(troubles))('%s: the command shows what to look for', async (title, trouble) => {
  const { env, clock } = await withEmulator(trouble.scenario ?? {});
  const run = (argv: readonly string[]) =>
    runProgram(argv, { env: { ...env, LANG: 'C.UTF-8', ...trouble.env }, clock });
  for (const [argv, code] of trouble.before) {
    const ended = await run([...argv, ...(argv[0] === 'trigger' ? ['--give-up-after', '1s'] : [])]);
    expect(ended.code, ended.stderr).toBe(code);
  }
  const { stdout, stderr } = await run(commandOf(title));
  expect(stdout + stderr).toMatch(trouble.shows);
});
