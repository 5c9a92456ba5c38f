// What `--json` prints, for every command. The documents in docs/samples are such ones; `UPDATE_SAMPLES=1` renews them.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { branch } from '../../docs/samples/branch.ts';
import { program } from '../../src/program.ts';
import { loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';
import { needs } from '../helpers/needs.ts';
import { runProgram } from '../helpers/run-program.ts';
import { executionId } from '../helpers/scripted-service.ts';

interface Sample {
  argv: string[];
  scenario?: Scenario;
  earlier?: string[];
}

const watched = ['trigger', 'nightly', '--watch', '--interval', '5s'];
const failing: Scenario = {
  automations: {
    '*': { duration: '1m', finalStatus: 'FAILED', error: { type: 'step_failed', message: 'Step "mail" failed' } },
  },
};

const samples: Record<string, Sample> = {
  started: { argv: ['trigger', 'nightly', '--json'] },
  completed: { argv: [...watched, '--json'] },
  failed: { argv: [...watched, '--json'], scenario: failing },
  'already-active': { argv: ['trigger', 'nightly', '--json'], earlier: ['trigger', 'nightly'] },
  skipped: { argv: ['trigger', 'nightly', '--if-active', 'skip', '--json'], earlier: ['trigger', 'nightly'] },
  replayed: {
    argv: ['trigger', 'nightly', '--idempotency-key', 'day-1', '--json'],
    earlier: ['trigger', 'nightly', '--idempotency-key', 'day-1'],
  },
  'outcome-unknown': {
    argv: ['trigger', 'nightly', '--give-up-after', '1ms', '--json'],
    scenario: { faults: [loseResponse()] },
  },
  recovered: {
    argv: ['recover', '--json'],
    earlier: ['trigger', 'nightly', '--give-up-after', '1ms'],
    scenario: { faults: [loseResponse({ nth: 1 })] },
  },
  'no-credits': { argv: ['trigger', 'nightly', '--json'], scenario: { credits: 0 } },
  'still-running': { argv: ['status', '@last', '--json'], earlier: ['trigger', 'nightly'] },
  listed: { argv: ['list', '--json'], earlier: ['trigger', 'nightly'] },
  'listed-offline': { argv: ['list', '--offline', '--json'], earlier: ['trigger', 'nightly'] },
  usage: { argv: ['trigger', '..', '--json'] },
};

const folder = join(import.meta.dirname, '../../docs/samples');
const pathOf = (name: string) => join(folder, `${name}.json`);

/** The same text on every day, at any port, and with ids that are easy to tell apart. */
function settled(text: string): string {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `${String(ids.size + 1).padStart(8, '0')}-0000-4000-8000-000000000000`);
    return ids.get(id) ?? '';
  };
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-02T03:04:05.678Z')
    .replace(/("(?:age|silent|retryIn|next|after|duration)Ms":\s*)\d+/g, '$160000')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080');
}

/** Without the sentences, which may change in any version. */
const printed = (stdout: string) => settled(`${JSON.stringify(JSON.parse(stdout), withoutSentence, 2)}\n`);
const withoutSentence = (key: string, value: object) => (key === 'problem' ? { ...value, message: '…' } : value);

test.each(Object.entries(samples))('docs/samples has what is printed of: %s', async (name, sample) => {
  const { argv, scenario = {}, earlier } = sample;
  const { env, clock } = await withEmulator(scenario);
  if (earlier) await runProgram(earlier, { env, clock });
  // The service's dates have no fractions of a second: what began within one could have begun before or after.
  clock.leap(10_000);
  const { stdout } = await runProgram(argv, { env, clock });
  if (process.env.UPDATE_SAMPLES) writeFileSync(pathOf(name), printed(stdout));
  expect(printed(stdout)).toBe(readFileSync(pathOf(name), 'utf8'));
});

test('every command prints documents that are valid by the schema', async () => {
  // In this order on one machine. That each document is true of its schema is checked wherever one is printed.
  const lines = [
    'trigger nightly --watch',
    'trigger failing --watch',
    'trigger lost --give-up-after 1ms',
    'trigger a b --dry-run',
    'trigger',
    'status failing --exit-status',
    'result failing',
    'watch nightly',
    'list',
    'recover',
    'config list',
    'config get baseUrl',
    'config path',
    `config set project ${executionId}`,
    'config unset project',
    'doctor',
    'explain 12',
    'version',
    `agent trigger ${executionId}`,
    `agent status ${executionId} ${executionId}`,
  ];
  const { env, clock } = await withEmulator({
    automations: { '*': {}, failing: { finalStatus: 'FAILED' } },
    faults: [loseResponse({ automation: 'lost', to: 2 })],
  });
  for (const line of lines) {
    const { stdout } = await runProgram([...line.split(' '), '--json'], { env, clock });
    expect(jsonLines(stdout), line).not.toEqual([]);
  }
  const printing = new Set([...lines.map((line) => line.split(' ')[0]), 'completion', 'emulator', 'help']);
  expect(program.commands.map((command) => command.name()).filter((name) => !printing.has(name))).toEqual([]);
});

test.each([
  ['trigger nightly', 9, 99_999_000],
  [`status nightly/${executionId}`, 9, 99_999_000],
  [`result nightly/${executionId}`, 9, 99_999_000],
  // A watch waits, here for a minute of it.
  [`watch nightly/${executionId} --timeout 1m`, 124, 99_939_000],
])('the problem of `%s` has what support and scripts ask for', async (line, exitCode, retryAfterMs) => {
  const headers = { 'x-request-id': 'req-8f2c', 'retry-after': '99999' };
  const refusal = { do: 'status', status: 429, headers, body: { code: 'slowDown' } } as const;
  const { run } = await withMachine({ faults: [refusal] }, {}, createLeapingClock(0));
  const { code, documents } = await run(`${line} --json`);
  expect([code, documents[0].runctl.exitCode]).toEqual([exitCode, exitCode]);
  const facts = { httpStatus: 429, serviceCode: 'slowDown', requestId: 'req-8f2c', retryAfterMs };
  expect(documents[0].runctl.problem).toMatchObject(facts);
});

/** What the scripts do about six of them. */
const decisions = {
  completed: 'done',
  failed: 'look at the run: runctl result 00000001-0000-4000-8000-000000000000',
  'already-active': 'later',
  skipped: 'done',
  'outcome-unknown': 'do not repeat: runctl recover',
  'no-credits': 'no run was started: no_credits',
};

describe('what to do next is decided, for each of them,', () => {
  const paths = Object.keys(decisions).map(pathOf);
  const said = (file: string, ...args: string[]) =>
    spawnSync(file, args, { encoding: 'utf8' }).stdout.trim().split('\n');

  test.each(Object.entries(decisions))('by the script in TypeScript: %s', (name, decision) => {
    expect(branch(JSON.parse(readFileSync(pathOf(name), 'utf8')))).toBe(decision);
  });

  test('by whether the command is safe to repeat, if the outcome is unknown', () => {
    const runctl = { outcome: 'outcome_unknown', next: 'runctl recover' };
    const trigger = { started: 'unknown', safeToRepeat: true } as const;
    expect(branch({ runctl: { ...runctl, trigger } })).toBe('later');
    expect(branch({ runctl: { ...runctl, trigger: { ...trigger, safeToRepeat: false } } })).toMatch(/^do not repeat/);
  });

  test('by the script in Python', (context) => {
    needs(context, 'python3');
    const each = `
import runpy, sys
for path in sys.argv[2:]:
    sys.stdin = open(path)
    runpy.run_path(sys.argv[1])`;
    expect(said('python3', '-c', each, join(folder, 'branch.py'), ...paths)).toEqual(Object.values(decisions));
  });

  test('by the script for jq', (context) => {
    needs(context, 'jq');
    expect(said('jq', '-r', '-f', join(folder, 'branch.jq'), ...paths)).toEqual(Object.values(decisions));
  });
});
