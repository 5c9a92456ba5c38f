import { expect } from 'vitest';
import { isUnknown, type JournalEntry, stillCounts } from '../../src/journal/entries.ts';
import { fold } from '../../src/journal/fold.ts';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import type { FailureKind } from '../../src/run/failure.ts';
import type { NotStartedReport, UnknownReport } from '../../src/run/report.ts';
import { isSameAutomation } from '../../src/run/run.ts';
import { dayMs } from '../../src/run/time.ts';
import type { Command, World } from './commands.ts';
import { recordsOn } from './journal.ts';
import type { Request } from './service.ts';

/** A run that a command started. */
interface StartedRun {
  executionId: string;
  request: Request;
  command: Command;
}

/** Checks what must hold whatever has happened, once nothing is left to happen. */
export function checkWorld(world: World): void {
  const runs = world.service.runs.flatMap(({ executionId, request }): StartedRun[] => {
    const command = request && world.commands[request.by];
    return command ? [{ executionId, request, command }] : [];
  });
  for (const [index, run] of runs.entries()) {
    for (const earlier of runs.slice(0, index)) checkNotTwice(earlier, run, world);
    checkNotLost(run, runs);
  }
  for (const command of world.commands) {
    checkRequests(command);
    checkExit(command, runs);
    checkReports(command, runs, world);
  }
  for (const machine of world.machines) {
    const commands = world.commands.filter((command) => command.machine === machine);
    const records = recordsOn(machine.lines);
    for (const { type, key } of records.flatMap((each) => (each.type === 'status' ? [] : each))) {
      if (type === 'reported') expect(unknownKeys(commands)).toContain(key);
    }
    const sweeps = commands.filter(({ number }) => number >= world.played);
    for (const { trigger } of fold(records).filter(stillCounts)) {
      const apiKey = trigger?.openSents[0]?.apiKey;
      const named = unknownKeys(sweeps.filter(({ use }) => use.apiKey === apiKey));
      expect(named, 'named by a calm sweep').toContain(trigger?.idempotencyKey);
    }
  }
}

/** Of which triggers commands have said that they are unknown. */
const unknownKeys = (commands: Command[]) =>
  commands
    .flatMap(({ reports }) => reports)
    .flatMap(({ kind, trigger }) => (kind === 'unknown' ? trigger?.idempotencyKey : []));

type Named = Pick<Request, 'key' | 'automation'>;
const isMinted = (key: string) => key.startsWith('minted');
const isOf =
  ({ key, automation }: Named) =>
  ({ request }: StartedRun) =>
    request.key === key && isSameAutomation(request.automation, automation);

/** What the journal says, or said when it had so many lines. */
function entryOf(
  { key, automation }: Named,
  { machine }: Command,
  lines?: number,
): JournalEntry | undefined {
  return fold(recordsOn(machine.lines.slice(0, lines))).find(
    (each) => each.trigger?.idempotencyKey === key && isSameAutomation(each.automation, automation),
  );
}

/** A trigger has two runs only if the service forgot its key, and nobody could know that. */
function checkNotTwice(earlier: StartedRun, later: StartedRun, world: World): void {
  if (world.areKeysIgnored) expect(later.command, 'a command').not.toBe(earlier.command);
  // `--if-active wait` mints a key for each try.
  const isSame = isMinted(later.request.key)
    ? later.request.key.split('-')[1] === earlier.request.key.split('-')[1]
    : later.request.apiKey === earlier.request.apiKey && isOf(later.request)(earlier);
  if (!isSame || world.areKeysIgnored) return;
  const { machine } = earlier.command;
  const isKnown =
    later.command.machine === machine &&
    machine.setByMs === 0 &&
    world.commands.every(({ use }) => !use.writeFaults && !use.isUnreadable);
  const isForgotten = later.request.sentMs - earlier.request.sentMs > dayMs;
  expect(isForgotten && !isKnown, `two runs of ${later.request.key}`).toBe(true);
}

/** A run is in the journal, or is what an unknown trigger may have started. */
function checkNotLost({ executionId, request, command }: StartedRun, runs: StartedRun[]): void {
  const { machine, hasWarned, exit } = command;
  const isAccepted = recordsOn(machine.lines).some(
    (each) =>
      each.type === 'accepted' && each.key === request.key && each.executionId === executionId,
  );
  const entry = entryOf(request, command);
  const isOpen = entry !== undefined && isUnknown(entry);
  // A given key that was ignored, forgotten, or sent with two API keys names only one of its runs.
  const isOneOfSeveral = runs.filter(isOf(request)).length > 1;
  const isFound = isAccepted || isOpen || hasWarned || isOneOfSeveral;
  expect(isFound, `${executionId} of ${request.key} is lost`).toBe(true);
  if (request.answer?.ok && exit && !hasWarned) expect(isAccepted, 'accepted').toBe(true);
}

function checkRequests({ use, requests, keySinceMs, reports, exit }: Command): void {
  for (const { key, sentNowMs, answer } of requests) {
    if (use.command === 'trigger') expect(key).toBe(use.key ?? key);
    const ageMs = Math.abs(sentNowMs - (keySinceMs.get(key) ?? sentNowMs));
    expect(ageMs, 'no attempt after the day of its key').toBeLessThanOrEqual(dayMs);
    if (!answer?.ok || !exit) continue;
    expect(reports.map((each) => each.executionId)).toContain(answer.value.executionId);
  }
}

/** It could neither write the journal nor read it. */
const isBlind = ({ use, hasWarned }: Command) => hasWarned && use.isUnreadable;

/** After 2 and 5 to 11 the trigger may be typed again. */
function checkExit(command: Command, runs: StartedRun[]): void {
  const { use, exit, requests, keySinceMs } = command;
  const code = exit ? exitCodeOf(exit) : 0;
  const saysNone = use.command === 'trigger' && (code === 2 || (code >= 5 && code <= 11));
  if (!saysNone || isBlind(command)) return;
  const own = runs.filter(
    ({ request }) =>
      requests.includes(request) || (isMinted(request.key) && keySinceMs.has(request.key)),
  );
  expect(own, `runs after ${exit}`).toEqual([]);
}

function checkReports(command: Command, runs: StartedRun[], world: World): void {
  for (const report of command.reports) {
    const { kind, automation, executionId, trigger } = report;
    const { idempotencyKey: key = '', started } = trigger ?? {};
    const named = { key, automation };
    const its = runs.filter(isOf(named));
    if (executionId) expect(its.map((run) => run.executionId)).toContain(executionId);
    else expect(started).toBe(kind === 'unknown' ? 'unknown' : 'no');
    if (started === 'yes') expect(isMinted(key) && command.keySinceMs.has(key)).toBe(true);
    if (started === 'no') expect(its.filter((run) => run.command === command)).toEqual([]);
    if (kind === 'not_started') checkNotStarted(report, named, command, its);
    if (kind === 'unknown' && command.use.command === 'trigger') {
      checkUnknown(report, named, command, world);
    }
  }
}

/** No run of a minted key, ever; of a given one, of nobody who had sent it before the last look. */
function checkNotStarted(
  { failure }: NotStartedReport,
  { key }: Named,
  command: Command,
  its: StartedRun[],
): void {
  const { machine, look, requests } = command;
  if (failure.kind === 'not_repeated') {
    expect(requests.filter((request) => request.key === key)).toEqual([]);
  } else if (!isMinted(key)) {
    const seen = its.filter(
      (run) =>
        run.command.machine === machine && !run.command.hasWarned && run.request.sentMs < look.atMs,
    );
    expect(seen, 'runs that the journal knew').toEqual([]);
  } else if (!isBlind(command)) {
    expect(its, 'runs of a trigger that started none').toEqual([]);
  }
}

/** After these an attempt surely started nothing. */
const refusals: FailureKind[] = [
  'unreachable',
  'tls',
  'rate_limited',
  'unauthorized',
  'no_credits',
  'already_active',
  'rejected',
  'interrupted',
];

/** There is a reason to doubt, and the journal had no run when it was last looked at. */
function checkUnknown(_: UnknownReport, named: Named, command: Command, world: World): void {
  const { use, requests, look, machine, number } = command;
  const isDoubtful = requests.some(
    ({ answer }) => answer?.ok === false && !refusals.includes(answer.failure.kind),
  );
  const isShared = recordsOn(machine.lines).some((each) => {
    const sender = each.type === 'sent' && each.key === named.key && each.id.split('-')[1];
    return sender && sender !== String(number) && Number(sender) < world.played;
  });
  expect(isDoubtful || isShared || use.writeFaults || use.isUnreadable).toBeTruthy();
  if (!use.isUnreadable) expect(entryOf(named, command, look.lines)?.executionId).toBeUndefined();
}
