import type { RunEvent, WarningName } from '../run/events.ts';
import { exitNameOfSignal } from '../run/exit-codes.ts';
import { abortedFault, type Fault, isAborted, reasonOf } from '../run/fault.ts';
import type { LastConfirmed, OutcomeOf, RunHandle, TriggerInfo, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { type Answer, errorTextOf, type RunResult, type RunSnapshot } from '../run/service.ts';
import { graverStatus, isKnownStatus, isSameStatus, isSuccess } from '../run/statuses.ts';
import { type Clock, stopwatch } from '../system/clock.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { recordedErrorOf, recordNotFound } from './fetch-run.ts';
import { jitter, pollGapMs } from './poll-gap.ts';
import { Poller } from './poller.ts';
import type { Ports } from './ports.ts';

export type WatchOutcome = OutcomeOf<'status'> | OutcomeOf<'watch_ended'>;

/**
 * Follows one run until it has finished: polls, records its statuses, reads its result, reports
 * events and warnings.
 */
export async function watchRun(
  handle: RunHandle,
  ports: Ports,
  triggerInfo?: TriggerInfo,
): Promise<WatchOutcome> {
  const { run } = handle;
  const { journal, baseUrl, session } = ports;
  // The response to the trigger shows that the settings are right.
  if (handle.triggerResponse) session.answered();
  const watching: Ports = {
    ...ports,
    emit(event) {
      if (event.event !== 'status' || !event.changed) return show(event, run, ports);
      journal.recordStatus(baseUrl, run, event.snapshot);
      show(event, run, ports);
      warnOfUnknownStatus(run, event.snapshot, ports);
    },
  };
  const polled = await pollUntilFinal(handle, watching);
  if (polled.kind === 'ended') return stopped(polled, { run, triggerInfo }, ports);
  const { snapshot } = polled;
  watching.emit({ event: 'final', run, snapshot });
  const { result, requestFault } = await readResult(handle, snapshot, watching);
  const interruptedBy =
    requestFault && isAborted(requestFault) ? exitNameOfSignal(ports.signal) : undefined;
  if (!result)
    return withWarning(
      { kind: 'status', run, triggerInfo, snapshot, requestFault, interruptedBy },
      ports,
    );
  const graver = withGraverStatus(snapshot, result);
  journal.recordStatus(baseUrl, run, graver.snapshot, recordedErrorOf(result));
  return withWarning({ kind: 'status', run, triggerInfo, ...graver }, ports, {
    status: snapshot.status,
    result: result.status,
  });
}

async function stopped(
  { end, lastConfirmed }: EndedPolls,
  { run, triggerInfo }: Pick<OutcomeOf<'watch_ended'>, 'run' | 'triggerInfo'>,
  ports: Ports,
): Promise<WatchOutcome> {
  const isOwnRun = end.kind === 'polls_refused' && (await recordNotFound(run, end.fault, ports));
  const interruptedBy = end.kind === 'signal' ? exitNameOfSignal(ports.signal) : undefined;
  return { kind: 'watch_ended', run, triggerInfo, end, lastConfirmed, isOwnRun, interruptedBy };
}

/**
 * Waits for another run to finish. Records only its final status: an unresolved trigger may have
 * started it.
 */
export async function waitForActiveRun(
  handle: RunHandle,
  ports: Ports,
): Promise<FinishedPolls | EndedPolls> {
  const { run } = handle;
  const waiting: Ports = {
    ...ports,
    emit(event) {
      if (event.event === 'status' && event.snapshot.isFinal) return;
      const shown =
        event.event === 'waiting' && event.run ? ({ ...event, for: 'active_run' } as const) : event;
      show({ ...shown, isActiveRun: true }, run, ports);
    },
  };
  const snapshot = {
    executionId: run.executionId,
    status: 'RUNNING',
    isFinal: false,
    document: {},
  };
  const polled = await pollUntilFinal({ ...handle, triggerResponse: { snapshot } }, waiting);
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
  /** The last status that is known. */
  lastConfirmed?: LastConfirmed;
}

/** Polls until the run is finished or one of the reasons in `WatchEnd` stops it. */
async function pollUntilFinal(
  { run, triggerResponse, sinceTriggerMs, ...recorded }: RunHandle,
  ports: Ports,
): Promise<FinishedPolls | EndedPolls> {
  const { service, clock, random, signal, intervalMs, emit } = ports;
  const gapMs = (ageMs: number) => intervalMs ?? jitter(pollGapMs(ageMs), random);
  const watchedMs = stopwatch(clock);
  let snapshot = triggerResponse?.snapshot;
  let retryAfterMs = triggerResponse?.retryAfterMs;
  let statusAgeMs = stopwatch(clock);
  const lastConfirmed = () =>
    snapshot ? { snapshot, ageMs: statusAgeMs() } : recorded.lastConfirmed?.();
  const poller = new Poller({ run, resource: 'status', sinceTriggerMs, lastConfirmed }, ports);

  // A run that we just started needs no immediate poll, and runs started together are not polled
  // together.
  const spread = intervalMs === undefined ? 1 - random() / 2 : 1;
  let delayMs = snapshot ? spread * gapMs(0) : 0;
  if (snapshot) emit({ event: 'status', run, snapshot, changed: true });
  // docs/service.md, Final statuses stay.
  while (!snapshot?.isFinal) {
    await poller.wait(delayMs, retryAfterMs);
    const polled = await poller.poll((options) => service.status(run, signal, options));
    if (polled.kind !== 'ok') return { kind: 'ended', end: polled, lastConfirmed: lastConfirmed() };
    const changed = polled.value.status !== snapshot?.status;
    snapshot = polled.value;
    retryAfterMs = polled.retryAfterMs;
    statusAgeMs = stopwatch(clock);
    emit({ event: 'status', run, snapshot, changed });
    if (snapshot.isFinal) break;
    delayMs = gapMs(ageMs(snapshot, watchedMs(), clock));
  }
  return { kind: 'finished', snapshot };
}

const maxAgeMs = 48 * 3_600_000;

function ageMs({ startedAt = '' }: RunSnapshot, watchedMs: number, clock: Clock): number {
  const age = clock.nowMs() - Date.parse(startedAt);
  return age >= watchedMs && age < maxAgeMs ? age : watchedMs;
}

/** Reads the result of a run that has finished. */
async function readResult(
  { run, sinceTriggerMs }: RunHandle,
  snapshot: RunSnapshot,
  ports: Ports,
): Promise<
  { result: RunResult; requestFault?: undefined } | { result?: undefined; requestFault: Fault }
> {
  const { service, clock, signal } = ports;
  const statusAgeMs = stopwatch(clock);
  const lastConfirmed = () => ({ snapshot, ageMs: statusAgeMs() });
  const isPermanent = ({ kind }: Fault) => kind === 'too_large';
  const poller = new Poller(
    { run, resource: 'result', sinceTriggerMs, lastConfirmed, isPermanent },
    ports,
  );
  const polled = await poller.poll(async (options): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal, options);
    if (answer.kind === 'fault' || answer.value.isFinal) return answer;
    const { value: result } = answer;
    // A result with the unknown status of a finished run is final, whether it says when the run
    // ended or not.
    if (isSameStatus(result.status, snapshot.status))
      return { ...answer, value: { ...result, isFinal: true } };
    return {
      kind: 'fault',
      fault: { kind: 'unreadable', message: `the result still says ${result.status}` },
    };
  });
  switch (polled.kind) {
    case 'ok':
      return { result: polled.value };
    case 'signal':
      return { requestFault: abortedFault };
    case 'timed_out':
      return { requestFault: polled.fault ?? timeoutFault };
    default:
      return { requestFault: polled.fault };
  }
}

const timeoutFault: Fault = { kind: 'lost', message: '`--timeout` expired' };

/** A failed run is never hidden: if status and result differ, the more serious one counts. */
function withGraverStatus(
  snapshot: RunSnapshot,
  result: RunResult,
): { snapshot: RunSnapshot; result: RunResult } {
  if (isSameStatus(snapshot.status, result.status)) return { snapshot, result };
  const graver = graverStatus(snapshot.status, result.status);
  return {
    snapshot: { ...snapshot, status: graver, document: { ...snapshot.document, status: graver } },
    result: { ...result, status: graver, document: { ...result.document, status: graver } },
  };
}

/** Shows an event, and says so if the service asked for a long wait. */
function show(event: RunEvent, run: Run, { emit, debug }: Ports): void {
  if (
    event.event === 'waiting' &&
    event.run &&
    event.askedUntilMs !== undefined &&
    event.nextMs > minuteMs
  )
    emit({
      event: 'warning',
      name: 'retry_after',
      message: waitText(event.nextMs, event.askedUntilMs),
      run,
    });
  if (event.event === 'waiting')
    debug?.(`next poll of ${run.executionId} in ${Math.round(event.nextMs)} ms`);
  if (event.event === 'attempt_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
  emit(event);
}

const minuteMs = 60_000;
const roundMs = 10_000;

/** Said even with `--quiet`, because nothing else happens meanwhile. */
function waitText(nextMs: number, untilMs: number): string {
  // Runs that get the same wait together are reported together.
  const rounded = (ms: number) => Math.ceil(ms / roundMs) * roundMs;
  const [wait, at] = [formatDuration(rounded(nextMs)), localTime(rounded(untilMs))];
  return `the service asked for a wait; polling resumes in ${wait}, at ${at}`;
}

function warnOfUnknownStatus(run: Run, { status, isFinal }: RunSnapshot, { emit }: Ports): void {
  if (isKnownStatus(status)) return;
  const what = isFinal ? 'the run has finished' : 'still watching';
  const message = `${status} is a status this version doesn't know; ${what}`;
  emit({ event: 'warning', name: 'unknown_status', message, run });
}

/** The outcome, after a warning about what its status and its exit code don't say. */
function withWarning(
  outcome: OutcomeOf<'status'>,
  ports: Ports,
  reported?: { status: string; result: string },
): WatchOutcome {
  const warning = warningOf(outcome, reported);
  if (warning) ports.emit({ event: 'warning', ...warning, run: outcome.run });
  return outcome;
}

function warningOf(
  { snapshot: { status }, result, requestFault }: OutcomeOf<'status'>,
  reported: { status: string; result: string } | undefined,
): { name: WarningName; message: string } | undefined {
  if (reported && !isSameStatus(reported.status, reported.result)) {
    const message = `the service reports status ${reported.status} for the run, but ${reported.result} in its result, so the run counts as ${status}`;
    return { name: 'conflicting_status', message };
  }
  if (result?.error && isSuccess(status)) {
    const message = `the run finished ${status}, though its result has an error: ${errorTextOf(result)}`;
    return { name: 'completed_with_error', message };
  }
  if (!requestFault || isAborted(requestFault) || isSuccess(status)) return undefined;
  const message = `the run finished ${status}, but its result couldn't be read: ${reasonOf(requestFault)}`;
  return { name: 'result_unavailable', message };
}
