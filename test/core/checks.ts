import { expect } from 'vitest';
import { exitCodeOf } from '../../src/core/exit-codes.ts';
import { rowOf } from '../../src/core/failure.ts';
import { exitNameOf, type RunOrTriggerReport, type UnknownReport } from '../../src/core/report.ts';
import { isSameAutomation } from '../../src/core/run.ts';
import { dayMs } from '../../src/core/time.ts';
import { fold, isUnknown, isUnreported } from '../../src/journal/entries.ts';
import type { Command, World } from './commands.ts';
import { recordsOn } from './journal.ts';
import type { Request, ServiceRun } from './service.ts';

/** A run that a command started. */
type StartedRun = ServiceRun & { request: Request };

/** Checks what must hold whatever has happened, once nothing is left to happen. */
export function checkWorld(world: World): void {
  const runs = world.service.runs.filter((run): run is StartedRun => run.request !== undefined);
  for (const [index, run] of runs.entries()) {
    for (const earlier of runs.slice(0, index)) checkNotTwice(earlier.request, run.request, world);
    checkNotLost(run, runs);
  }
  for (const command of world.commands) {
    checkRequests(command);
    checkExit(command, runs);
    for (const report of command.reports) checkReport(report, command, runs, world);
  }
  for (const machine of world.machines) {
    const told = world.commands.filter((command) => command.machine === machine);
    const records = recordsOn(machine.lines);
    for (const record of records) {
      if (record.type !== 'reported') continue;
      const isTold = ({ remedy }: UnknownReport) => remedy !== undefined;
      expect(unknownKeys(told, isTold), 'told for the last time').toContain(record.key);
    }
    for (const { trigger } of fold(records).filter(isUnreported)) {
      const apiKey = trigger?.openSents[0]?.apiKeyHash;
      const sweeps = world.sweeps.filter(({ use }) => use.apiKey === apiKey);
      expect(unknownKeys(sweeps), 'told by a sweep').toContain(trigger?.idempotencyKey);
    }
  }
}

/** The keys of triggers that these commands have called unknown. */
const unknownKeys = (commands: Command[], isWanted = (_: UnknownReport) => true) =>
  commands
    .flatMap(({ reports }) => reports)
    .filter((report) => report.kind === 'unknown' && isWanted(report))
    .map(({ trigger }) => trigger?.idempotencyKey);

type Named = Pick<Request, 'key' | 'automation'>;
const isSame = (one: Named, other: Named) =>
  one.key === other.key && isSameAutomation(one.automation, other.automation);
const isMinted = (key: string) => key.startsWith('minted');

/** What the journal says, or said when it had so many lines. */
const entryOf = ({ key, automation }: Named, { machine }: Command, lines?: number) =>
  fold(recordsOn(machine.lines.slice(0, lines))).find(
    (each) => each.trigger?.idempotencyKey === key && isSameAutomation(each.automation, automation),
  );

/** A trigger has two runs only if the service forgot its key, and nobody could know that. */
function checkNotTwice(earlier: Request, later: Request, world: World): void {
  const { use, machine } = earlier.command;
  if (world.areKeysIgnored) expect(later.command, 'started two').not.toBe(earlier.command);
  // `--if-active wait` mints a key for each try.
  const isOneTrigger = isMinted(later.key)
    ? later.key.split('-')[1] === earlier.key.split('-')[1]
    : isSame(later, earlier) && later.command.use.apiKey === use.apiKey;
  if (!isOneTrigger || world.areKeysIgnored) return;
  const isKnown =
    later.command.machine === machine &&
    machine.setByMs === 0 &&
    world.commands.every((each) => !each.use.writeFaults && !each.use.isUnreadable);
  const isForgotten = later.sentMs - earlier.sentMs > dayMs;
  expect(isForgotten && !isKnown, `two runs of ${later.key}`).toBe(true);
}

/** A run is in the journal, or is what an unknown trigger may have started. */
function checkNotLost({ executionId, request }: StartedRun, runs: StartedRun[]): void {
  const { command, key, answer } = request;
  const isAccepted = recordsOn(command.machine.lines).some(
    (each) => each.type === 'accepted' && each.key === key && each.executionId === executionId,
  );
  const entry = entryOf(request, command);
  const isOpen = entry !== undefined && isUnknown(entry);
  // A given key that was ignored, forgotten, or sent with two API keys names only one of its runs.
  const isOneOfSeveral = runs.filter((run) => isSame(run.request, request)).length > 1;
  const isFound = isAccepted || isOpen || command.hasWarned || isOneOfSeveral;
  expect(isFound, `${executionId} of ${key} is lost`).toBe(true);
  if (answer?.ok && command.exit && !command.hasWarned) expect(isAccepted, 'accepted').toBe(true);
}

function checkRequests({ use, requests, minted, reports, exit }: Command): void {
  for (const { key, sentNowMs, answer } of requests) {
    if (use.command === 'trigger') expect(key).toBe(use.key ?? key);
    const ageMs = Math.abs(sentNowMs - (minted.get(key) ?? sentNowMs));
    expect(ageMs, 'no attempt after the day of its key').toBeLessThanOrEqual(dayMs);
    if (!answer?.ok || !exit) continue;
    expect(reports.map((each) => each.executionId)).toContain(answer.value.executionId);
  }
}

/** It could neither write the journal nor read it. */
const isBlind = ({ use, hasWarned }: Command) => hasWarned && use.isUnreadable;

/** After 2 and 5 to 11 the trigger may be typed again. */
function checkExit(command: Command, runs: StartedRun[]): void {
  const { use, exit, minted } = command;
  const code = exit ? exitCodeOf(exit) : 0;
  const saysNone = use.command === 'trigger' && (code === 2 || (code >= 5 && code <= 11));
  if (!saysNone || isBlind(command)) return;
  const own = runs.filter(({ request }) => request.command === command || minted.has(request.key));
  expect(own, `runs after ${exit}`).toEqual([]);
}

function checkReport(
  report: RunOrTriggerReport,
  command: Command,
  allRuns: StartedRun[],
  world: World,
): void {
  const { kind, automation, executionId, trigger } = report;
  const { idempotencyKey: key = '', started } = trigger ?? {};
  const runs = allRuns.filter(({ request }) => isSame(request, { key, automation }));
  if (executionId) expect(runs.map((run) => run.executionId)).toContain(executionId);
  else expect(started).toBe(kind === 'unknown' ? 'unknown' : 'no');
  if (started === 'yes') expect([...command.minted.keys()]).toContain(key);
  if (started === 'no') expect(runs.filter((run) => run.request.command === command)).toEqual([]);
  const isSent = command.requests.some((request) => isSame(request, { key, automation }));
  if (executionId && !isSent) expect(started, 'sent nothing').toBe('no');
  if (kind === 'unknown') checkUnknown({ key, automation }, command, world);
  if (kind !== 'not_started') return;
  if (report.failure.kind === 'not_repeated') {
    expect(command.requests.filter((request) => request.key === key)).toEqual([]);
    expect(exitNameOf(report)).toBe('rejected');
  } else if (!isMinted(key)) {
    // Somebody else's given key may be sent at any time, but not before this command looked.
    const seen = runs.filter(
      ({ request: { command: sender, sentMs } }) =>
        sender.machine === command.machine && !sender.hasWarned && sentMs < command.look.atMs,
    );
    expect(seen, 'runs that the journal knew').toEqual([]);
  } else if (!isBlind(command)) {
    expect(runs, 'runs of a trigger that started none').toEqual([]);
  }
}

/** There is a reason to doubt, and the journal had no run when it was last looked at. */
function checkUnknown(named: Named, command: Command, world: World): void {
  const { use, requests, look, machine } = command;
  if (use.command === 'recover') return;
  const isDoubtful = requests.some(
    ({ answer }) => answer && !answer.ok && rowOf(answer.failure).effect === 'unknown',
  );
  const others = world.commands.filter((each) => each !== command && !world.sweeps.includes(each));
  const senders = recordsOn(machine.lines).flatMap((each) =>
    each.type === 'sent' && each.key === named.key ? Number(each.id.split('-')[1]) : [],
  );
  const isShared = others.some(({ number }) => senders.includes(number));
  expect(isDoubtful || isShared || use.writeFaults || use.isUnreadable).toBeTruthy();
  if (!use.isUnreadable) expect(entryOf(named, command, look.lines)?.executionId).toBeUndefined();
}
