import { type Failure, failureOf, rowOf } from './failure.ts';
import type { Ports } from './ports.ts';
import {
  decidingStatus,
  type RunReport,
  type StoppedReport,
  type UnreadableReport,
} from './report.ts';
import { maxRetryAfterMs, retry } from './retry.ts';
import type { Run, RunStatus } from './run.ts';

export interface WatchOptions {
  /** How long to go on without a valid answer. */
  patienceMs: number;
  /** `--give-up-after` was given, so it limits outages, too. */
  isPatienceGiven: boolean;
  /** Until when, by `clock.elapsedMs`. */
  deadlineMs: number;
  /** Fixes the pause between polls. */
  intervalMs?: number;
  /** The service has accepted the trigger of this run, which is a valid answer. */
  isAccepted: boolean;
  /** The journal has this run, so that "not found" may pass. */
  isRecorded: boolean;
}

/** Of one question. Without a deadline the patience alone limits it. */
type QuestionLimits = Pick<WatchOptions, 'patienceMs'> & Partial<WatchOptions>;

const minGapMs = 3000;
const maxGapMs = 15_000;

/** Polls a run until it reaches a final status, then reads its result. */
export async function watchRun(
  run: Run,
  options: WatchOptions,
  ports: Ports,
): Promise<RunReport | StoppedReport> {
  const { clock, signal } = ports;
  const { deadlineMs, intervalMs } = options;
  let isHeard = options.isAccepted;
  let status: RunStatus | undefined;
  const stopped = (why: Failure): StoppedReport => ({
    kind: 'stopped',
    ...run,
    failure: signal.aborted ? failureOf('interrupted') : why,
    status,
  });
  for (;;) {
    const answer = await askStatus(run, isHeard, options, ports);
    if (!answer.ok) return stopped(answer.failure);
    isHeard = true;
    status = answer.value;
    ports.emit({ type: 'status', run, status });
    if (status.isFinal) return readResult(run, status, options, ports);

    const leftMs = deadlineMs - clock.elapsedMs();
    const gapMs = intervalMs ?? pollGapMs(status, clock.nowMs());
    const askedMs = Math.min(status.retryAfterMs ?? 0, maxRetryAfterMs);
    if (leftMs <= 0) return stopped(failureOf('timeout'));
    await clock.sleep(Math.min(Math.max(gapMs, askedMs), leftMs), signal);
    if (askedMs > leftMs) return stopped(failureOf('timeout'));
  }
}

/**
 * Gaps in proportion to the run's age notice its end late by at most that proportion, with few
 * requests (docs/service.md).
 */
function pollGapMs({ startedAtMs }: RunStatus, nowMs: number): number {
  const ageMs = nowMs - (startedAtMs ?? nowMs);
  return Math.min(Math.max(0.05 * ageMs, minGapMs), maxGapMs);
}

/** One valid answer, which is recorded. After the first one, an outage ends nothing. */
async function askStatus(run: Run, isHeard: boolean, limits: QuestionLimits, ports: Ports) {
  const { patienceMs, deadlineMs, isPatienceGiven = false, isRecorded = false } = limits;
  const { service, clock, recorder } = ports;
  // What doesn't pass by itself ends a command that has heard nothing yet.
  const mayRetry = (failure: Failure) =>
    isHeard || rowOf(failure).retry || (isRecorded && failure.kind === 'not_found');
  // An outage costs no patience once the run was heard of, unless the user limits it.
  const isFree = (failure: Failure) => isHeard && rowOf(failure).retry && !isPatienceGiven;
  const answer = await retry(
    (timeoutMs) => service.status(run, timeoutMs),
    { run, patienceMs, deadlineMs, mayRetry, isFree },
    ports,
  );
  if (answer.ok) recorder.appendStatus(run, answer.value);
  const hasExpired = deadlineMs !== undefined && clock.elapsedMs() >= deadlineMs;
  if (answer.ok || !hasExpired || !mayRetry(answer.failure)) return answer;
  const { failure } = answer;
  const reason = `${failureOf('timeout').reason}, and ${failure.reason}`;
  return { ok: false as const, failure: failureOf('timeout', { ...failure, reason }) };
}

/** The current status, within the patience. */
export async function readStatus(
  run: Run,
  limits: Pick<QuestionLimits, 'patienceMs' | 'isRecorded'>,
  ports: Ports,
): Promise<RunReport | UnreadableReport> {
  const answer = await askStatus(run, false, limits, ports);
  return answer.ok
    ? { kind: 'run', ...run, status: answer.value }
    : { kind: 'unreadable', ...run, failure: answer.failure };
}

/** Once final, always final: whatever the result is, the run has finished. */
export async function readResult(
  run: Run,
  status: RunStatus,
  { patienceMs, deadlineMs }: QuestionLimits,
  ports: Ports,
): Promise<RunReport> {
  const { service, recorder, signal, emit } = ports;
  const { automation } = run;
  const report: RunReport = { kind: 'run', ...run, status };
  const answer = await retry(
    async (timeoutMs) => {
      const attempt = await service.result(run, timeoutMs);
      if (!attempt.ok || attempt.value.isFinal) return attempt;
      const reason = `the run is ${status.status}, but its result still says ${attempt.value.status}`;
      return { ok: false as const, failure: failureOf('in_progress', { reason }) };
    },
    { run, patienceMs, deadlineMs, mayRetry: () => true },
    ports,
  );
  if (!answer.ok) {
    const resultFailure = signal.aborted ? failureOf('interrupted') : answer.failure;
    return { ...report, resultFailure };
  }
  const result = answer.value;
  if (status.status !== result.status) {
    const text = `the status of ${automation.name} is ${status.status}, but its result says ${result.status}`;
    emit({ type: 'warning', automation, text });
  }
  const complete = { ...report, result };
  recorder.appendStatus(run, decidingStatus(complete) ?? status, result.error?.message);
  return complete;
}
