import { type Failure, failure, rowOf } from './failure.ts';
import type { Ports } from './ports.ts';
import { decidingStatus, type RunReport, type StoppedReport } from './report.ts';
import { retry } from './retry.ts';
import type { Run, RunResult, RunStatus } from './run.ts';

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

const minGapMs = 3000;
const maxGapMs = 15_000;
const maxRetryAfterMs = 600_000;

/** Polls a run until it reaches a final status, then reads its result. */
export async function watchRun(
  run: Run,
  options: WatchOptions,
  ports: Ports,
): Promise<RunReport | StoppedReport> {
  const { clock, signal, journal } = ports;
  const stopped = (why: Failure): StoppedReport => ({
    kind: 'stopped',
    ...run,
    failure: signal.aborted ? failure('interrupted') : why,
    status,
  });
  let isHeard = options.isAccepted;
  let status: RunStatus | undefined;
  for (;;) {
    const answer = await poll(run, isHeard, options, ports);
    if (!answer.ok) return stopped(answer.failure);
    isHeard = true;
    status = answer.value;
    journal.appendStatus(run, status);
    ports.emit({ type: 'status', run, status });
    if (status.isFinal) return readResult(run, status, options, ports);

    const leftMs = options.deadlineMs - clock.elapsedMs();
    const gapMs = pollGapMs(status, options.intervalMs, clock.nowMs());
    const askedMs = Math.min(status.retryAfterMs ?? 0, maxRetryAfterMs);
    if (leftMs <= 0) return stopped(failure('timeout'));
    await clock.sleep(Math.min(Math.max(gapMs, askedMs), leftMs), signal);
    if (askedMs > leftMs) return stopped(failure('timeout'));
  }
}

/** One valid answer. After the first one, an outage ends nothing. */
async function poll(run: Run, isHeard: boolean, options: WatchOptions, ports: Ports) {
  const { patienceMs, isPatienceGiven, deadlineMs, isRecorded } = options;
  const mayRetry = (failed: Failure) =>
    isHeard || rowOf(failed).retry || (isRecorded && failed.kind === 'not_found');
  const answer = await retry(
    (timeoutMs) => ports.service.status(run, timeoutMs),
    {
      patienceMs,
      deadlineMs,
      mayRetry,
      isFree: (failed) => isHeard && rowOf(failed).retry && !isPatienceGiven,
      onRetry: (failed, times) =>
        ports.emit({ type: 'retry', automation: run.automation, failure: failed, ...times }),
    },
    ports,
  );
  const hasExpired = ports.clock.elapsedMs() >= deadlineMs;
  if (answer.ok || !hasExpired || !mayRetry(answer.failure)) return answer;
  return { ok: false as const, failure: failure('timeout') };
}

/** Once final, always final: whatever the result is, the run has finished. */
export async function readResult(
  run: Run,
  status: RunStatus,
  { patienceMs, deadlineMs }: Pick<WatchOptions, 'patienceMs' | 'deadlineMs'>,
  ports: Ports,
): Promise<RunReport> {
  const report: RunReport = { kind: 'run', ...run, status };
  const answer = await retry(
    async (timeoutMs) => {
      const attempt = await ports.service.result(run, timeoutMs);
      if (!attempt.ok || attempt.value.isFinal) return attempt;
      const reason = `the run is ${status.status}, but its result still says ${attempt.value.status}`;
      return { ok: false as const, failure: failure('in_progress', { reason }) };
    },
    {
      patienceMs,
      deadlineMs,
      mayRetry: () => true,
      onRetry: (failed, times) =>
        ports.emit({ type: 'retry', automation: run.automation, failure: failed, ...times }),
    },
    ports,
  );
  const isCutShort = !answer.ok && ports.signal.aborted;
  if (isCutShort) return { ...report, resultFailure: failure('interrupted') };
  if (!answer.ok) return { ...report, resultFailure: answer.failure };
  return withResult({ ...report, result: answer.value }, answer.value, ports);
}

function withResult(report: RunReport, result: RunResult, { journal, emit }: Ports): RunReport {
  const { automation, executionId, status } = report;
  if (status && status.status !== result.status) {
    const text = `the status of ${automation.name} is ${status.status}, but its result says ${result.status}`;
    emit({ type: 'warning', automation, text });
  }
  const decided = decidingStatus(report);
  if (decided) journal.appendStatus({ automation, executionId }, decided, result.error?.message);
  return report;
}

/**
 * Gaps in proportion to the run's age notice its end late by at most that proportion, with few
 * requests (docs/service.md).
 */
function pollGapMs(
  { startedAtMs }: RunStatus,
  intervalMs: number | undefined,
  nowMs: number,
): number {
  if (intervalMs !== undefined) return intervalMs;
  const ageMs = nowMs - (startedAtMs ?? nowMs);
  return Math.min(Math.max(0.05 * ageMs, minGapMs), maxGapMs);
}
