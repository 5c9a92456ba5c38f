import type { RunEvent, WarningName } from '../run/events.ts';
import { interruptNameOf } from '../run/exit-codes.ts';
import { type Fault, interrupted, isInterruption, reasonOf } from '../run/fault.ts';
import type { FoundRun, OutcomeOf, Seen, Start, WatchEnd } from '../run/outcome.ts';
import type { Run } from '../run/run.ts';
import { type Answer, errorTextOf, type RunResult, type RunStatus } from '../run/service.ts';
import { endedWell, graverStatus, isKnownStatus, isSameStatus } from '../run/statuses.ts';
import { type Clock, stopwatch } from '../system/clock.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { isNowForgotten, recordedErrorOf } from './ask.ts';
import { jitter, pollGapMs } from './poll-gap.ts';
import { Poller } from './poller.ts';
import type { WatchPorts } from './ports.ts';

export type Watched = OutcomeOf<'known'> | OutcomeOf<'stopped'>;

/** Follows one run until it has finished: polls, records its statuses, reads its result, reports events and warnings. */
export async function watchRun(found: FoundRun, ports: WatchPorts, start?: Start): Promise<Watched> {
  const { run } = found;
  const { journal, baseUrl, deadline } = ports;
  // The response to the trigger shows that the settings are right.
  if (found.answer) deadline.answered();
  const watching: WatchPorts = {
    ...ports,
    observe(event) {
      if (event.event !== 'status' || !event.changed) return show(event, run, ports);
      journal.recordStatus(baseUrl, run, event.status);
      show(event, run, ports);
      warnOfUnknownStatus(run, event.status, ports);
    },
  };
  const polled = await pollUntilFinal(found, watching);
  const about = { target: run.target, run, start };
  if (polled.kind === 'ended') return stopped(polled, about, ports);
  const { status } = polled;
  watching.observe({ event: 'final', run, status });
  const { result, unread } = await readResult(found, status, watching);
  const interruptedBy = unread && isInterruption(unread) ? interruptNameOf(ports.signal) : undefined;
  if (!result) return warned({ kind: 'known', ...about, status, unread, interruptedBy }, ports);
  const graver = withGraverStatus(status, result);
  journal.recordStatus(baseUrl, run, graver.status, recordedErrorOf(result));
  return warned({ kind: 'known', ...about, ...graver }, ports, { status: status.status, result: result.status });
}

async function stopped(
  { end, seen }: EndedPolls,
  about: Pick<OutcomeOf<'stopped'>, 'target' | 'run' | 'start'>,
  ports: WatchPorts,
): Promise<Watched> {
  const isRecorded = end.kind === 'refused' && (await isNowForgotten(about.run, end.fault, ports));
  const interruptedBy = end.kind === 'interrupted' ? interruptNameOf(ports.signal) : undefined;
  return { kind: 'stopped', ...about, end, seen, isRecorded, interruptedBy };
}

/** Waits for another run to finish. Records only its final status: an unresolved trigger may have started it. */
export async function waitForOther(found: FoundRun, ports: WatchPorts): Promise<FinishedPolls | EndedPolls> {
  const { run } = found;
  const waiting: WatchPorts = {
    ...ports,
    observe(event) {
      if (event.event === 'status' && event.status.isFinal) return;
      const shown = event.event === 'waiting' && event.run ? ({ ...event, for: 'slot' } as const) : event;
      show({ ...shown, isActiveRun: true }, run, ports);
    },
  };
  const status = { executionId: run.executionId, status: 'RUNNING', isFinal: false, document: {} };
  const polled = await pollUntilFinal({ ...found, answer: { status } }, waiting);
  if (polled.kind === 'finished') ports.journal.recordStatus(ports.baseUrl, run, polled.status);
  return polled;
}

interface FinishedPolls {
  kind: 'finished';
  status: RunStatus;
}

interface EndedPolls {
  kind: 'ended';
  end: WatchEnd;
  seen?: Seen; // the last status that is known
}

/** Polls until the run is finished or one of the reasons in `WatchEnd` stops it. */
async function pollUntilFinal(
  { run, answer, sinceTriggerMs, ...found }: FoundRun,
  ports: WatchPorts,
): Promise<FinishedPolls | EndedPolls> {
  const { service, clock, random, signal, deadline, intervalMs, observe } = ports;
  const gapMs = (ageMs: number) => intervalMs ?? jitter(pollGapMs(ageMs), random);
  const watchedMs = stopwatch(clock);
  let status = answer?.status;
  let retryAfterMs = answer?.retryAfterMs;
  let seenAgeMs = stopwatch(clock);
  const seen = () => (status ? { status, ageMs: seenAgeMs() } : found.seen?.());
  const poller = new Poller({ run, operation: 'status', sinceTriggerMs, seen }, ports);

  // A run that we just started needs no immediate poll, and runs started together are not polled together.
  const spread = intervalMs === undefined ? 1 - random() / 2 : 1;
  let delayMs = status ? spread * gapMs(0) : 0;
  if (status) observe({ event: 'status', run, status, changed: true });
  // docs/service.md, Final statuses stay.
  while (!status?.isFinal) {
    await poller.wait(delayMs, retryAfterMs);
    const polled = await poller.poll((sending) => service.status(run, signal, sending));
    if (polled.kind !== 'ok') return { kind: 'ended', end: polled, seen: seen() };
    const changed = polled.value.status !== status?.status;
    status = polled.value;
    retryAfterMs = polled.retryAfterMs;
    seenAgeMs = stopwatch(clock);
    observe({ event: 'status', run, status, changed });
    if (status.isFinal) break;
    if (polled.isLast) return { kind: 'ended', end: deadline.timedOut(), seen: seen() };
    delayMs = gapMs(ageMs(status, watchedMs(), clock));
  }
  return { kind: 'finished', status };
}

const longestAgeMs = 48 * 3_600_000;

function ageMs({ startedAt = '' }: RunStatus, watchedMs: number, clock: Clock): number {
  const age = clock.nowMs() - Date.parse(startedAt);
  return age >= watchedMs && age < longestAgeMs ? age : watchedMs;
}

/** Reads the result of a run that has finished. */
async function readResult(
  { run, sinceTriggerMs }: FoundRun,
  status: RunStatus,
  ports: WatchPorts,
): Promise<{ result: RunResult; unread?: undefined } | { result?: undefined; unread: Fault }> {
  const { service, clock, signal } = ports;
  const seenAgeMs = stopwatch(clock);
  const seen = () => ({ status, ageMs: seenAgeMs() });
  const isHopeless = ({ kind }: Fault) => kind === 'too_large';
  const poller = new Poller({ run, operation: 'result', sinceTriggerMs, seen, isHopeless }, ports);
  const polled = await poller.poll(async (sending): Promise<Answer<RunResult>> => {
    const answer = await service.result(run, signal, sending);
    if (answer.kind === 'fault' || answer.value.isFinal) return answer;
    const { value: result } = answer;
    // A result with the unknown status of a finished run is final, whether it says when the run ended or not.
    if (isSameStatus(result.status, status.status)) return { ...answer, value: { ...result, isFinal: true } };
    return { kind: 'fault', fault: { kind: 'unreadable', message: `the result still says ${result.status}` } };
  });
  switch (polled.kind) {
    case 'ok':
      return { result: polled.value };
    case 'interrupted':
      return { unread: interrupted };
    case 'timed_out':
      return { unread: polled.fault ?? timeoutFault };
    default:
      return { unread: polled.fault };
  }
}

const timeoutFault: Fault = { kind: 'lost', message: '`--timeout` expired' };

/** A failed run is never hidden: if status and result differ, the more serious one counts. */
function withGraverStatus(status: RunStatus, result: RunResult): { status: RunStatus; result: RunResult } {
  if (isSameStatus(status.status, result.status)) return { status, result };
  const graver = graverStatus(status.status, result.status);
  return {
    status: { ...status, status: graver, document: { ...status.document, status: graver } },
    result: { ...result, status: graver, document: { ...result.document, status: graver } },
  };
}

/** Shows an event, and says so if the service asked for a long wait. */
function show(event: RunEvent, run: Run, { observe, debug }: WatchPorts): void {
  if (event.event === 'waiting' && event.run && event.askedUntilMs !== undefined && event.nextMs > minuteMs)
    observe({ event: 'warning', name: 'retry_after', message: waitText(event.nextMs, event.askedUntilMs), run });
  if (event.event === 'waiting') debug?.(`next poll of ${run.executionId} in ${Math.round(event.nextMs)} ms`);
  if (event.event === 'attempt_failed') debug?.(`${event.fault.kind}: ${event.fault.message}`);
  observe(event);
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

function warnOfUnknownStatus(run: Run, { status, isFinal }: RunStatus, { observe }: WatchPorts): void {
  if (isKnownStatus(status)) return;
  const what = isFinal ? 'the run has finished' : 'still watching';
  const message = `${status} is a status this version doesn't know; ${what}`;
  observe({ event: 'warning', name: 'unknown_status', message, run });
}

/** The outcome, after a warning about what its status and its exit code don't say. */
function warned(known: OutcomeOf<'known'>, ports: WatchPorts, said?: { status: string; result: string }): Watched {
  const warning = warningOf(known, said);
  if (warning) ports.observe({ event: 'warning', ...warning, run: known.run });
  return known;
}

function warningOf(
  { status: { status }, result, unread }: OutcomeOf<'known'>,
  said: { status: string; result: string } | undefined,
): { name: WarningName; message: string } | undefined {
  if (said && !isSameStatus(said.status, said.result)) {
    const message = `the service reports status ${said.status} for the run, but ${said.result} in its result, so the run counts as ${status}`;
    return { name: 'conflicting_status', message };
  }
  if (result?.error && endedWell(status)) {
    const message = `the run finished ${status}, though its result has an error: ${errorTextOf(result)}`;
    return { name: 'completed_with_error', message };
  }
  if (!unread || isInterruption(unread) || endedWell(status)) return undefined;
  const message = `the run finished ${status}, but its result couldn't be read: ${reasonOf(unread)}`;
  return { name: 'result_unavailable', message };
}
