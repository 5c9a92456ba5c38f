// What becomes of a trigger, and what the other commands say of its run: start × status × flags. Each row is the exit code
// and the whole documents, but for ids and sentences, as `outcomes.jsonl` has them. Time passes in pauses alone, and begins
// at the same moment, so that every time and duration is pinned with its unit. Combinations that show nothing new are left out: without a watch, a run that isn't replayed has only begun, whatever its end.
//
// A row that differs is a change of what scripts see. If it is meant, write the file anew and read its diff:
//   UPDATE_OUTCOMES=1 npx vitest run --project program test/program/outcomes.test.ts
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Fault, loseResponse, type Scenario } from '../fault-kit/scenario.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createLeapingClock } from '../helpers/leaping-clock.ts';
import { withMachine } from '../helpers/machine.ts';

const file = join(import.meta.dirname, 'outcomes.jsonl');
const isUpdate = process.env.UPDATE_OUTCOMES === '1';
const pinned = new Map<string, unknown>(
  isUpdate ? [] : jsonLines(readFileSync(file, 'utf8')).map(({ row, ...rest }) => [String(row), rest]),
);
const seen = new Map<string, string>();

afterAll(() => {
  if (isUpdate) writeFileSync(file, `${[...seen.values()].join('\n')}\n`);
});

/** Compares a row with the file, or writes it there. */
function check(row: string, outcome: object): void {
  seen.set(row, JSON.stringify({ row, ...outcome }));
  expect(isUpdate || outcome).toEqual(isUpdate || pinned.get(row));
}

/** What may differ from run to run gets a name: ids in the order in which they appear, and sentences. */
function normalized(documents: readonly unknown[]): unknown[] {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id) ?? '';
  };
  const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;
  const replacer = (key: string, value: unknown) => {
    if (key === 'message' && typeof value === 'string') return '…';
    if (typeof value !== 'string') return value;
    return value.replace(uuid, idOf).replace(/127\.0\.0\.1:\d+/g, 'host');
  };
  return JSON.parse(JSON.stringify(documents, replacer));
}

const statuses = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'RUNNING'] as const;
type Status = (typeof statuses)[number];
const [completed, failed] = statuses;

const machineFor = (scenario: Scenario) => {
  return withMachine(scenario, {}, createLeapingClock(Date.parse('2026-01-02T03:04:05.678Z')));
};
const random = () => 0.5;

/** A service whose runs end so. */
const serviceOf = (status: Status, more: Scenario = {}): Scenario => ({
  automations: { '*': status === 'RUNNING' ? { duration: '3h' } : { duration: '20s', finalStatus: status } },
  ...more,
});

/** How a trigger begins: what the service does, what happened before, and whether the idempotency key is given. */
interface Start {
  scenario?: Scenario;
  before?: 'here' | 'elsewhere';
  isFinished?: boolean; // the run of before
  isGiven?: boolean;
  /** How the run ends, with --watch; by default it doesn't matter. */
  watched?: readonly Status[];
}

const named = { namesActiveRun: true };
const refused = (status: number): Scenario => ({ faults: [{ on: 'trigger', do: 'status', status }] });
const lost = (nth?: number): Scenario => ({ faults: [loseResponse({ nth })] });
const ends = statuses.filter((status) => status !== 'RUNNING');
const used = { isGiven: true, watched: [completed, failed] };

const starts: Record<string, Start> = {
  new: { watched: statuses },
  'a new given key': { ...used, watched: statuses },
  'a given key of a finished run of this machine': { ...used, before: 'here', isFinished: true, watched: ends },
  'a given key of an unfinished run of this machine': { ...used, before: 'here', watched: statuses },
  'a given key of a finished run of another machine': { ...used, before: 'elsewhere', isFinished: true },
  'a given key of an unfinished run of another machine': { ...used, before: 'elsewhere' },
  'an active run that the service names': { scenario: named, before: 'elsewhere' },
  'an active run without a name': { before: 'elsewhere' },
  'no credits': { scenario: { credits: 0 } },
  'a refused API key': { scenario: refused(401) },
  'an unknown automation': { scenario: refused(404) },
  'a first answer that is lost': { scenario: lost(1), watched: [completed, failed] },
  'a lost answer under a given key': { ...used, scenario: lost(1) },
  'a lost answer, then a conflict': { scenario: { ...named, order: 'activeFirst', ...lost(1) } },
  'answers that are all lost': { scenario: lost() },
};

/** What is typed behind each start, and how its run ends. */
function variantsOf({ before, isFinished, watched = [completed] }: Start): [flag: string, Status][] {
  const isReplayed = before === 'here' && isFinished;
  return [
    ...(isReplayed ? ends : [completed]).map((status): [string, Status] => ['', status]),
    ...watched.map((status): [string, Status] => ['--watch', status]),
    ['--if-active skip', completed],
    ['--if-active wait --timeout 10s', completed],
  ];
}

async function checkTrigger(name: string, start: Start, flag: string, status: Status): Promise<void> {
  const { scenario, before, isFinished, isGiven } = start;
  const { run, elsewhere, endRuns, ids } = await machineFor(serviceOf(status, scenario));
  const line = `trigger nightly${isGiven ? ' --idempotency-key k' : ''}`;
  if (before) await (before === 'here' ? run : elsewhere)(line, { random });
  if (isFinished) endRuns();
  const limit = flag === '--watch' ? ` --timeout ${status === 'RUNNING' ? '1m' : '10m'}` : '';
  const { code, documents } = await run(`${line}${flag && ` ${flag}`}${limit} --json --give-up-after 5s`, { random });
  const row = `trigger ${flag} | ${name} | ${status}`;
  check(row, { exit: code, runs: ids().length, documents: normalized(documents) });
}

describe.each(Object.entries(starts))('a trigger with %s', (name, start) => {
  test.each(variantsOf(start))('%s, whose run is %s', (flag, status) => checkTrigger(name, start, flag, status));
});

test.each(['new', 'a new given key', 'a given key of a finished run of this machine'])(
  'a trigger with %s, --dry-run',
  (name) => checkTrigger(name, starts[name] ?? {}, '--dry-run', completed),
);

const noResult: Fault = { on: 'result', do: 'status', status: 500 };
const damages = {
  'all is well': {},
  'the result cannot be read': { faults: [noResult] },
  'the trigger was lost': lost(1),
} satisfies Record<string, Scenario>;

type Other = [line: string, damage: keyof typeof damages, statuses: readonly Status[]];
const some = [completed, failed, 'RUNNING'] as const;

const others: Other[] = [
  ...['status nightly', 'status nightly --exit-status', 'result nightly', 'watch nightly --timeout 1m'].flatMap(
    (line): Other[] => [
      [line, 'all is well', statuses],
      [line, 'the result cannot be read', line.startsWith('watch') ? statuses : some],
      [line, 'the trigger was lost', [completed]],
    ],
  ),
  ...['watch --all --timeout 1m', 'list', 'list --offline', 'recover'].flatMap((line): Other[] => [
    [line, 'all is well', some],
    [line, 'the trigger was lost', [completed, 'RUNNING']],
  ]),
];
const rows = others.flatMap(([line, damage, all]) => all.map((status) => [line, damage, status] as const));

test.each(rows)('%s, where %s and the run is %s', async (line, damage, status) => {
  const { run, endRuns, clock } = await machineFor(serviceOf(status, damages[damage]));
  await run('trigger nightly --give-up-after 1ms', { random });
  clock.leap(90_000);
  if (status !== 'RUNNING') endRuns();
  const isOfOne = /^(status|result|watch)/.test(line);
  const { code, documents } = await run(`${line}${isOfOne ? ' --give-up-after 5s' : ''} --json`, { random });
  check(`${line} | ${damage} | ${status}`, { exit: code, documents: normalized(documents) });
});

test('the file has no row of a situation that was removed', () => {
  expect([...pinned.keys()].filter((row) => !seen.has(row))).toEqual([]);
});
