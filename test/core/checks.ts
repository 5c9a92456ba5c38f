import { expect } from 'vitest';
import { isUnknown, stillCounts } from '../../src/journal/entries.ts';
import { fold } from '../../src/journal/fold.ts';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import { rowOf } from '../../src/run/failure.ts';
import type { NotStartedReport, UnknownReport } from '../../src/run/report.ts';
import { isSameAutomation } from '../../src/run/run.ts';
import type { Command, World } from './commands.ts';
import { recordsOn } from './journal.ts';
import type { Request } from './service.ts';
import { dayMs } from './time.ts';

/** A run that a command started. */
interface StartedRun {
  executionId: string;
  request: Request;
  command: Command;
}

const isMinted = (key: string) => key.startsWith('minted');
const isOf =
  (key: string | undefined, automation: Request['automation']) =>
  ({ request }: StartedRun) =>
    request.key === key && isSameAutomation(request.automation, automation);

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
  for (const command of world.commands) checkCommand(command, runs, world);
  for (const machine of world.machines) {
    const printed = world.commands
      .filter((command) => command.machine === machine)
      .flatMap(({ reports }) => reports)
      .flatMap(({ kind, trigger }) => (kind === 'unknown' ? trigger?.idempotencyKey : []));
    const records = recordsOn(machine);
    for (const each of records) if (each.type === 'reported') expect(printed).toContain(each.key);
    for (const each of fold(records).filter(stillCounts)) {
      expect(printed, 'found or named by a sweep').toContain(each.trigger?.idempotencyKey);
    }
  }
}

/** A key has two runs only if the service forgot it, and nobody could know. */
function checkNotTwice(earlier: StartedRun, later: StartedRun, world: World): void {
  const { machine } = earlier.command;
  if (world.areKeysIgnored) expect(later.command, 'one command, one run').not.toBe(earlier.command);
  const isSame = isMinted(later.request.key)
    ? earlier.request.key.split('-')[1] === later.request.key.split('-')[1]
    : earlier.request.apiKey === later.request.apiKey &&
      isOf(later.request.key, later.request.automation)(earlier);
  if (!isSame || world.areKeysIgnored) return;
  const isKnown =
    later.command.machine === machine &&
    machine.setByMs === 0 &&
    world.commands.every(({ use }) => !use.writeFaults && !use.isUnreadable);
  const isForgotten = later.request.sentMs - earlier.request.sentMs > dayMs;
  expect(isForgotten && !isKnown, `two runs of ${later.request.key}`).toBe(true);
}

/** A run is in the journal, or is what an unknown trigger may have started. */
function checkNotLost({ executionId, request, command }: StartedRun, runs: StartedRun[]): void {
  const { key, automation } = request;
  const records = recordsOn(command.machine);
  const isAccepted = records.some(
    (each) => each.type === 'accepted' && each.key === key && each.executionId === executionId,
  );
  const isOpen = fold(records).some(
    (each) =>
      each.trigger?.idempotencyKey === key &&
      isSameAutomation(each.automation, automation) &&
      isUnknown(each),
  );
  // A key that was ignored, forgotten, or sent with two API keys names only one of its runs.
  const isOneOfSeveral = runs.filter(isOf(key, automation)).length > 1;
  const isFound = isAccepted || isOpen || command.hasWarned || isOneOfSeveral;
  expect(isFound, `${executionId} of ${key} is lost`).toBe(true);
}

function checkCommand(command: Command, runs: StartedRun[], world: World): void {
  const { use, keySinceMs, requests, reports, exit } = command;
  for (const { key, sentNowMs, answer } of requests) {
    const ageMs = Math.abs(sentNowMs - (keySinceMs.get(key) ?? sentNowMs));
    expect(ageMs, 'no attempt after the day of its key').toBeLessThanOrEqual(dayMs);
    if (answer?.ok && exit) {
      expect(reports.map((each) => each.executionId)).toContain(answer.value.executionId);
    }
  }
  const own = runs.filter(
    ({ request }) =>
      requests.includes(request) || (isMinted(request.key) && keySinceMs.has(request.key)),
  );
  const code = exit && exitCodeOf(exit);
  const saysNone = code === 2 || (code && code >= 5 && code <= 11);
  if (use.command === 'trigger' && saysNone && !isBlind(command)) expect(own, exit).toEqual([]);

  for (const report of reports) {
    const { kind, automation, executionId, trigger } = report;
    const { idempotencyKey: key = '', started } = trigger ?? {};
    const its = runs.filter(isOf(key, automation));
    if (executionId) expect(its.map((run) => run.executionId)).toContain(executionId);
    else expect(started).toBe(kind === 'unknown' ? 'unknown' : 'no');
    if (started === 'yes') expect(isMinted(key) && keySinceMs.has(key)).toBe(true);
    if (started === 'no') expect(its.filter((run) => run.command === command)).toEqual([]);
    if (kind === 'not_started') checkNotStarted(report, command, its);
    if (kind === 'unknown' && use.command === 'trigger') checkUnknown(report, command, world);
  }
}

/** It could neither write the journal nor read it. */
const isBlind = ({ use, hasWarned }: Command) => hasWarned && use.isUnreadable;

/** No run of the key, ever. Of a given key: of nobody who had sent it before the last look. */
function checkNotStarted(report: NotStartedReport, command: Command, its: StartedRun[]): void {
  const { machine, lookedMs, use } = command;
  if (report.failure.kind === 'not_repeated' || isBlind(command)) return;
  const seen = its.filter(
    (run) =>
      run.command.machine === machine && !run.command.hasWarned && run.request.sentMs < lookedMs,
  );
  expect(isMinted(report.trigger?.idempotencyKey ?? '') ? its : seen, 'not started').toEqual([]);
}

/** There is a reason to doubt. */
function checkUnknown({ trigger }: UnknownReport, command: Command, world: World): void {
  const key = trigger?.idempotencyKey;
  const { use, requests } = command;
  const isDoubtful = requests.some(
    ({ answer }) => answer && !answer.ok && rowOf(answer.failure).effect === 'unknown',
  );
  const others = world.commands.filter((each) => each !== command);
  const isShared = others.some((each) => each.use.key === key || each.use.command === 'recover');
  expect(isDoubtful || isShared || use.writeFaults || use.isUnreadable).toBeTruthy();
}
