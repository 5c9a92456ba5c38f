import { expect } from 'vitest';
import { isUnknown, type JournalEntry } from '../../src/journal/entries.ts';
import { fold } from '../../src/journal/fold.ts';
import type { ExitName } from '../../src/run/exit-codes.ts';
import type { RunOrTriggerReport } from '../../src/run/report.ts';
import { type Automation, isSameAutomation } from '../../src/run/run.ts';
import type { Command, World } from './commands.ts';
import { recordsOn } from './journal.ts';
import type { Request, ServiceRun } from './service.ts';
import { dayMs } from './time.ts';

/** How often what happened, so that a test can see that anything did. */
export const tally: Record<string, number> = {};
const count = (what: string) => {
  tally[what] = (tally[what] ?? 0) + 1;
};

/** A run that a command started. */
type StartedRun = ServiceRun & { request: Request };

/** Checks, once nothing is left to happen, what must hold whatever has happened. */
export function checkHistory(world: World): void {
  const runs = world.service.runs.filter((run): run is StartedRun => run.request !== undefined);
  for (const [index, run] of runs.entries()) {
    for (const other of runs.slice(0, index)) checkNotTwice(other.request, run.request, world);
    checkNotLost(run, runs, world);
  }
  for (const command of world.commands) {
    count(`exit ${command.exit}`);
    checkDay(command);
    checkExit(command, runs);
    for (const report of command.reports) {
      if (report.kind !== 'done') checkReport(report, command, runs, world);
    }
  }
  checkReported(world);
}

const isMinted = (key: string) => key.startsWith('key-');
/** A command with `--if-active wait` mints a key for each try. */
const triggerOf = ({ apiKey, automation, key }: Request) =>
  isMinted(key) ? key.split('-')[1] : `${apiKey} ${automation.projectId} ${key}`;

/** Two runs of one trigger: only if keys are ignored, or if nobody could know that its day was over. */
function checkNotTwice(earlier: Request, later: Request, world: World): void {
  if (world.areKeysIgnored) return expect(later.by, 'a command starts one run').not.toBe(earlier.by);
  if (triggerOf(earlier) !== triggerOf(later)) return;
  const machines = [earlier, later].map(({ by }) => world.commands[by]?.use.machine);
  const isKnown =
    machines[0] === machines[1] &&
    world.machines[machines[0] ?? 0]?.setByMs === 0 &&
    world.commands.every(({ use }) => use.writeFaults.length === 0 && !use.isUnreadable);
  const isForgotten = later.sentMs - earlier.sentMs > dayMs;
  expect(isForgotten && !isKnown, `${later.key} has one run`).toBe(true);
}

/** No attempt is made a day after, or before, the trigger was first meant to be sent. */
function checkDay({ requests, keySinceMs }: Command): void {
  for (const { key, sentNowMs } of requests) {
    const ageMs = Math.abs(sentNowMs - (keySinceMs.get(key) ?? sentNowMs));
    expect(ageMs, `the age of ${key}`).toBeLessThanOrEqual(dayMs);
  }
}

/** A run that was started is known to the journal, or may be for all that it says. */
function checkNotLost(
  { executionId, request }: StartedRun,
  runs: StartedRun[],
  world: World,
): void {
  const { key, automation, by } = request;
  const { use, hasWarned } = world.commands[by] as Command;
  const records = recordsOn(world.disks[use.machine] ?? { lines: [] });
  const isAccepted = records.some(
    (each) => each.type === 'accepted' && each.key === key && each.executionId === executionId,
  );
  const entry = entryOf(request, fold(records));
  const isOpen = entry !== undefined && isUnknown(entry);
  if (process.env.DBG && !isAccepted && !isOpen) console.log(JSON.stringify({ records, entries: fold(records), commands: world.commands }, null, 1));
  count(isAccepted ? 'accepted' : isOpen ? 'left unknown' : 'not in the journal');
  // A given key that was ignored, forgotten, or sent with two API keys names only one of its runs.
  const isOneOfSeveral = !isMinted(key) && runs.filter(isOf(key, automation)).length > 1;
  expect(isAccepted || isOpen || hasWarned || isOneOfSeveral, `${executionId} of ${key} is lost`).toBe(true);
}

const isOf =
  (key: string, automation: Automation) =>
  ({ request }: StartedRun) =>
    request.key === key && isSameAutomation(request.automation, automation);

const entryOf = ({ key, automation }: Request, entries: JournalEntry[]) =>
  entries.find(
    (each) =>
      each.trigger?.idempotencyKey === key && isSameAutomation(each.automation, automation),
  );

/** After these a trigger may be typed again. */
const repeatable: ExitName[] = [
  'usage',
  'already_active',
  'not_found',
  'unauthorized',
  'no_credits',
  'rate_limited',
  'unavailable',
  'rejected',
];

function checkExit(command: Command, runs: StartedRun[]): void {
  const { use, exit, requests, keySinceMs, hasWarned } = command;
  if (hasWarned && use.isUnreadable) return;
  if (use.command === 'recover' || !exit || !repeatable.includes(exit)) return;
  const started = runs.filter(
    ({ request }) =>
      requests.includes(request) || (isMinted(request.key) && keySinceMs.has(request.key)),
  );
  expect(started, `runs after ${exit}`).toEqual([]);
}

function checkReport(
  report: RunOrTriggerReport,
  command: Command,
  allRuns: StartedRun[],
  world: World,
): void {
  const { kind, automation, executionId, trigger } = report;
  const { idempotencyKey: key = '', started } = trigger ?? {};
  count(`${kind}, started ${started}`);
  const runs = allRuns.filter(isOf(key, automation));
  const own = runs.filter(({ request }) => command.requests.includes(request));
  if (started === 'yes') expect([...command.keySinceMs.keys()].filter(isMinted)).toContain(key);
  if (started === 'no') expect(own, 'runs of a command that started none').toEqual([]);
  if (executionId !== undefined) {
    expect(runs.map((run) => run.executionId)).toContain(executionId);
  } else {
    expect(started).toBe(kind === 'unknown' ? 'unknown' : 'no');
  }
  if (kind !== 'not_started') return;
  const { use, hasWarned, requests, lookedMs } = command;
  if (report.failure.kind === 'not_repeated') {
    expect(requests.filter((request) => request.key === key)).toEqual([]);
  } else if (isMinted(key)) {
    if (!hasWarned || !use.isUnreadable) expect(runs, 'runs that were not started').toEqual([]);
  } else if (!use.isUnreadable) {
    // Whoever sent the key before the last look was seen by it.
    const seen = runs.filter(({ request }) => {
      const other = world.commands[request.by] as Command;
      const isSameJournal = other.use.machine === use.machine && !other.hasWarned;
      return isSameJournal && request.sentMs < lookedMs;
    });
    expect(seen, 'runs that the journal knew').toEqual([]);
  }
}

/** What counts no more was printed. */
function checkReported({ commands, disks }: World): void {
  for (const [machine, disk] of disks.entries()) {
    const printed = commands
      .filter(({ use }) => use.machine === machine)
      .flatMap(({ reports }) => reports)
      .flatMap((each) => (each.kind === 'unknown' ? each.trigger?.idempotencyKey : []));
    for (const record of recordsOn(disk)) {
      if (record.type === 'reported') expect(printed).toContain(record.key);
    }
  }
}
