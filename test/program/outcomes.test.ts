// What becomes of a trigger, and what the other commands say of its run: start × status × flags. Each row is the exit code
// and the whole documents, but for times, ids and sentences, as `outcomes.jsonl` has them.
//
// A row that differs is a change of what scripts see. If it is meant, write the file anew and read its diff:
//   UPDATE_OUTCOMES=1 npx vitest run --project program test/program/outcomes.test.ts
// Without `CI`, a third of the rows is tried, another each day; with it, and when the file is written anew, all are.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Scenario } from '../fault-kit/scenario.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { environmentIn } from '../helpers/environment-in.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { rotating } from '../helpers/rotation.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const file = join(import.meta.dirname, 'outcomes.jsonl');
const isUpdate = process.env.UPDATE_OUTCOMES === '1';
const pinned = new Map<string, unknown>(
  isUpdate ? [] : jsonLines(readFileSync(file, 'utf8')).map(({ row, ...rest }) => [String(row), rest]),
);
const seen: string[] = [];
const situations = new Set<string>();
const tried = new Set(rotating([...pinned.keys()]));

afterAll(() => {
  if (isUpdate) writeFileSync(file, `${seen.join('\n')}\n`);
});

/** A test of a row whose turn it is, or that the file does not have. */
function testRow(row: string, compare: () => Promise<void>): void {
  situations.add(row);
  if (tried.has(row) || !pinned.has(row)) test(row, compare);
}

/** Compares a row with the file, or writes it there. */
function check(row: string, outcome: unknown): void {
  if (isUpdate) seen.push(JSON.stringify({ row, ...(outcome as object) }));
  expect(isUpdate || outcome).toEqual(isUpdate || pinned.get(row));
}

/** What may differ from run to run gets a name: ids in the order in which they appear, times, durations, sentences. */
function normalized(documents: readonly unknown[]): unknown[] {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id) ?? '';
  };
  const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
  const replacer = (key: string, value: unknown) => {
    if (key === 'message' && typeof value === 'string') return '…';
    if (/Ms$/.test(key) && typeof value === 'number') return 0;
    if (/At$|^(at|process|since)$/.test(key) && typeof value === 'string') return 'T';
    if (typeof value !== 'string') return value;
    return value.replace(uuid, idOf).replace(/127\.0\.0\.1:\d+/g, 'host');
  };
  return JSON.parse(JSON.stringify(documents, replacer));
}

/** How a trigger begins: what the service does, what happened before, and whether the idempotency key is given. */
interface Start {
  scenario?: Scenario;
  before?: 'here' | 'elsewhere';
  isFinished?: boolean; // the run of before
  isGiven?: boolean;
  isRefused?: boolean; // whatever the flags: no run ends
}

const named = { namesActiveRun: true };
const starts: Record<string, Start> = {
  new: {},
  'a new given key': { isGiven: true },
  'a given key of a finished run of this machine': { before: 'here', isFinished: true, isGiven: true },
  'a given key of an unfinished run of this machine': { before: 'here', isGiven: true },
  'a given key of a finished run of another machine': { before: 'elsewhere', isFinished: true, isGiven: true },
  'a given key of an unfinished run of another machine': { before: 'elsewhere', isGiven: true },
  'an active run that the service names': { scenario: named, before: 'elsewhere' },
  'an active run without a name': { before: 'elsewhere' },
  'no credits': { scenario: { credits: 0 }, isRefused: true },
  'a refused API key': { scenario: { faults: [{ on: 'trigger', do: 'status', status: 401 }] }, isRefused: true },
  'an unknown automation': { scenario: { faults: [{ on: 'trigger', do: 'status', status: 404 }] }, isRefused: true },
  'a first answer that is lost': { scenario: { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] } },
  'a lost answer under a given key': {
    scenario: { faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] },
    isGiven: true,
  },
  'a lost answer, then a conflict': {
    scenario: { ...named, order: 'activeFirst', faults: [{ on: 'trigger', nth: 1, do: 'loseAnswer' }] },
  },
  'answers that are all lost': { scenario: { faults: [{ on: 'trigger', do: 'loseAnswer' }] }, isRefused: true },
};

const flags = {
  '': { isWatched: false },
  '--watch': { isWatched: true },
  '--if-active skip': { isWatched: false },
  '--if-active wait --timeout 10s': { isWatched: false },
  '--dry-run': { isWatched: false },
};

const statuses = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'RUNNING'] as const;

/** A service whose runs of `nightly` end so, a machine, and what happened before. */
async function situation({ scenario, before, isFinished }: Start, status: string, beforeArgv: string[]) {
  const plan = status === 'RUNNING' ? { duration: '3h' } : { duration: '20s', outcome: status as 'FAILED' };
  const { emulator, env, clock, endRuns } = await withEmulator({ automations: { '*': plan }, ...scenario });
  const machine = before === 'elsewhere' ? environmentIn(temporaryFolder(), emulator) : env;
  if (before) await runProgram(beforeArgv, { env: machine, clock });
  if (isFinished) endRuns();
  return { env, clock, emulator };
}

describe.each(Object.entries(starts))('a trigger with %s', (name, start) => {
  for (const [flag, { isWatched }] of Object.entries(flags)) {
    // Without a watch, only the end of an earlier run makes a difference.
    const isSame = start.isRefused || !(isWatched || start.isFinished);
    const differing = isSame ? (['COMPLETED'] as const) : statuses;
    for (const status of differing.filter((each) => each !== 'RUNNING' || !start.isFinished)) {
      const row = `trigger ${flag} | ${name} | ${status}`;
      testRow(row, async () => {
        const key = start.isGiven ? ['--idempotency-key', 'k'] : [];
        const { env, clock, emulator } = await situation(start, status, ['trigger', 'nightly', ...key]);
        const limit = isWatched ? ['--timeout', status === 'RUNNING' ? '1m' : '10m'] : [];
        const argv = ['trigger', 'nightly', ...key, ...flag.split(' ').filter(Boolean), ...limit, '--json'];
        const { code, stdout } = await runProgram([...argv, '--give-up-after', '5s'], { env, clock });
        check(row, { exit: code, runs: emulator.runs().length, documents: normalized(jsonLines(stdout)) });
      });
    }
  }
});

const others = [
  'status nightly',
  'status nightly --exit-status',
  'result nightly',
  'watch nightly --timeout 1m',
  'watch --all --timeout 1m',
  'list',
  'list --offline',
  'recover',
];

describe.each(others)('%s', (line) => {
  const isOfOne = /^(status|result|watch)/.test(line);
  for (const status of isOfOne ? statuses : (['COMPLETED', 'FAILED', 'RUNNING'] as const)) {
    for (const damage of ['', 'the result cannot be read', 'the trigger was lost'] as const) {
      const row = `${line} | ${damage || 'all is well'} | ${status}`;
      testRow(row, async () => {
        const faults = [
          ...(damage === 'the result cannot be read' ? [{ on: 'result', do: 'status', status: 500 } as const] : []),
          ...(damage === 'the trigger was lost' ? [{ on: 'trigger', nth: 1, do: 'loseAnswer' } as const] : []),
        ];
        const isFinished = status !== 'RUNNING';
        const start = { scenario: { faults }, before: 'here', isFinished } as const;
        const { env, clock } = await situation(start, status, ['trigger', 'nightly', '--give-up-after', '1ms']);
        const flags = isOfOne ? ['--give-up-after', '5s'] : [];
        const { code, stdout } = await runProgram([...line.split(' '), ...flags, '--json'], { env, clock });
        check(row, { exit: code, documents: normalized(jsonLines(stdout)) });
      });
    }
  }
});

test('the file has no row of a situation that is gone', () => {
  expect([...pinned.keys()].filter((row) => !situations.has(row))).toEqual([]);
});
