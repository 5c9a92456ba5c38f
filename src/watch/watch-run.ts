import type { Ports } from '../ports.ts';
import type { RunEvent } from '../run/events.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { isInterruption } from '../run/fault.ts';
import type { LastConfirmed, OutcomeOf, RunHandle, TriggerInfo, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import type { RunSnapshot } from '../run/service.ts';
import { type Clock, stopwatch } from '../system/clock.ts';
import { recordNotFoundIfOwn } from './fetch-run.ts';
import { jitter, pollGapMs } from './poll-gap.ts';
import { Poller } from './poller.ts';
import { recordedErrorOf } from './read-errors.ts';
import { readResult, withGraverStatus } from './read-result.ts';
import {
  emitWatchEvent,
  warnOfResult,
  warnOfUnknownStatus,
  warnOfUnreadResult,
} from './watch-events.ts';

export type WatchOutcome = OutcomeOf<'status'> | OutcomeOf<'watch_ended'>;

/**
 * Watches one run until it has finished: polls, records its statuses, reads its result, and emits
 * events and warnings.
 */
export async function watchRun(
  handle: RunHandle,
  ports: Ports,
  triggerInfo?: TriggerInfo,
): Promise<WatchOutcome> {
  const { run } = handle;
  const { journal, baseUrl, session, signal, emit } = ports;
  // The response to the trigger shows that the settings are right.
  if (handle.triggerResponse) session.noteValidResponse();
  const watchPorts: Ports = { ...ports, emit: (event) => emitWatchEvent(event, run, ports) };
  const polled = await pollUntilFinal(handle, watchPorts, (snapshot, changed) => {
    if (changed) journal.recordStatus(baseUrl, run, snapshot);
    emit({ event: 'status', run, snapshot, changed });
    if (changed) warnOfUnknownStatus(run, snapshot, ports);
  });
  if (polled.kind === 'ended') return outcomeOfEndedPolls(polled, run, triggerInfo, ports);

  const { snapshot } = polled;
  emit({ event: 'final', run, snapshot });
  const answer = await readResult(handle, snapshot, watchPorts);
  if (answer.kind === 'fault') {
    const requestFault = answer.fault;
    warnOfUnreadResult(run, snapshot, requestFault, ports);
    const interruptedBy = isInterruption(requestFault) ? exitNameOfSignal(signal) : undefined;
    return { kind: 'status', run, triggerInfo, snapshot, requestFault, interruptedBy };
  }
  const graver = withGraverStatus(snapshot, answer.value);
  // If the result lags behind the status and has no error yet, its error is to be read later.
  journal.recordStatus(baseUrl, run, graver.snapshot, recordedErrorOf(answer.value));
  const reported = { status: snapshot.status, inResult: answer.value.status };
  warnOfResult(run, reported, graver, ports);
  return { kind: 'status', run, triggerInfo, ...graver };
}

async function outcomeOfEndedPolls(
  { end, lastConfirmed }: EndedPolls,
  run: Run,
  triggerInfo: TriggerInfo | undefined,
  ports: Ports,
): Promise<WatchOutcome> {
  const outcome = { kind: 'watch_ended', run, triggerInfo, end, lastConfirmed } as const;
  switch (end.kind) {
    case 'cannot_poll': {
      const startedWithThisApiKey = await recordNotFoundIfOwn(run, end.fault, ports);
      return { ...outcome, startedWithThisApiKey };
    }
    case 'interrupted':
      return { ...outcome, interruptedBy: exitNameOfSignal(ports.signal) };
    case 'timed_out':
    case 'gave_up':
      return outcome;
  }
}

/**
 * Waits for another run to finish. Records only its final status, because an unresolved trigger may
 * have started it.
 */
export async function waitForActiveRun(
  handle: RunHandle,
  ports: Ports,
): Promise<FinishedPolls | EndedPolls> {
  const { run } = handle;
  const emit = (event: RunEvent) => emitWatchEvent({ ...event, isActiveRun: true }, run, ports);
  const waitPorts: Ports = {
    ...ports,
    emit(event) {
      const isWait = event.event === 'waiting' && event.run !== undefined;
      emit(isWait ? { ...event, for: 'active_run' } : event);
    },
  };
  // The refusal of the trigger has just said that this run is active, so the first poll waits.
  const snapshot = {
    executionId: run.executionId,
    status: 'RUNNING',
    isFinal: false,
    document: {},
  };
  const activeHandle = { ...handle, triggerResponse: { snapshot } };
  const polled = await pollUntilFinal(activeHandle, waitPorts, (snapshot, changed) => {
    // The end of that run isn't the end of ours, so it isn't shown.
    if (!snapshot.isFinal) emit({ event: 'status', run, snapshot, changed });
  });
  if (polled.kind === 'finished') ports.journal.recordStatus(ports.baseUrl, run, polled.snapshot);
  return polled;
}

interface FinishedPolls {
  kind: 'finished';
  snapshot: RunSnapshot;
}

interface EndedPolls {
  kind: 'ended';
  end: WatchEnd;
  lastConfirmed?: LastConfirmed;
}

/**
 * Polls until the run has finished, or until something in `WatchEnd` ends the polls first. Each
 * status is passed to `onStatus`, with whether it differs from the one before.
 */
async function pollUntilFinal(
  handle: RunHandle,
  ports: Ports,
  onStatus: (snapshot: RunSnapshot, changed: boolean) => void,
): Promise<FinishedPolls | EndedPolls> {
  const { run, triggerResponse, sinceTriggerMs } = handle;
  const { service, clock, signal } = ports;
  const watchedMs = stopwatch(clock);
  let snapshot = triggerResponse?.snapshot;
  let retryAfterMs = triggerResponse?.retryAfterMs;
  let snapshotAgeMs = stopwatch(clock);
  const lastConfirmed = () =>
    snapshot ? { snapshot, ageMs: snapshotAgeMs() } : handle.lastConfirmed?.();
  const poller = new Poller({ run, resource: 'status', sinceTriggerMs, lastConfirmed }, ports);

  if (snapshot) onStatus(snapshot, true);
  let delayMs = snapshot ? firstGapMs(ports) : 0;
  // A final status never changes (docs/service.md, Final statuses stay).
  while (!snapshot?.isFinal) {
    await poller.wait(delayMs, retryAfterMs);
    const polled = await poller.poll((options) => service.status(run, signal, options));
    if (polled.kind !== 'ok') return { kind: 'ended', end: polled, lastConfirmed: lastConfirmed() };
    const changed = polled.value.status !== snapshot?.status;
    snapshot = polled.value;
    retryAfterMs = polled.retryAfterMs;
    snapshotAgeMs = stopwatch(clock);
    onStatus(snapshot, changed);
    const runAgeMs = runAgeMsOf(snapshot, watchedMs(), clock);
    delayMs = gapMs(runAgeMs, ports);
  }
  return { kind: 'finished', snapshot };
}

/** The time until the next poll of a run of this age. */
function gapMs(runAgeMs: number, { watchOptions, random }: Ports): number {
  return watchOptions.interval ?? jitter(pollGapMs(runAgeMs), random);
}

/**
 * The time until the first poll of a run that was just started. It varies more than the later ones,
 * so that runs that were started together aren't polled together.
 */
function firstGapMs(ports: Ports): number {
  const { watchOptions, random } = ports;
  const share = watchOptions.interval === undefined ? 1 - random() / 2 : 1;
  return share * gapMs(0, ports);
}

/** An older start isn't believed: no run takes this long, so the clocks must differ. */
const maxRunAgeMs = 48 * 3_600_000;

/** How long the run has been running. If its start can't be right, how long it has been watched. */
function runAgeMsOf({ startedAt = '' }: RunSnapshot, watchedMs: number, clock: Clock): number {
  const ageMs = clock.nowMs() - Date.parse(startedAt);
  return ageMs >= watchedMs && ageMs < maxRunAgeMs ? ageMs : watchedMs;
}
