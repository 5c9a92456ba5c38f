import type { CommandContext } from '../context.ts';
import { type FailedAttempt, type Reporter, type RunEvent, subjectOf } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import { heartbeatMs, laterHeartbeatMs } from '../run/limits.ts';
import type { LastConfirmed } from '../run/outcome.ts';
import { quotedName } from '../run/quote.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import type { OutputOptions } from './command-result.ts';
import { printSentence } from './print-message.ts';
import { createSentences, howRetried, isShownQuietly } from './sentences.ts';
import { lastConfirmedText } from './status-text.ts';

/**
 * If the service will have been silent for this long before the next attempt, the log says so at
 * once. Otherwise the last line during an outage would be about a retry in 50 ms.
 */
const silenceMs = 10_000;

/**
 * Reports events on stderr: sentences, a line for each change of a run, and heartbeats, because CI
 * systems end a job that prints nothing for long.
 */
export function createLogReporter(
  context: CommandContext,
  { quiet }: OutputOptions = {},
): Reporter {
  const { clock, stderr } = context;
  const startMs = clock.elapsedMs();
  const sentenceOf = createSentences(clock);
  const histories = new Map<string, LineHistory>(); // by the run's id
  const named = new Set<string>(); // the ids that a sentence has printed

  return {
    emit(event) {
      if (quiet && !isShownQuietly(event)) return;
      const sentence = sentenceOf(event);
      if (sentence && event.event === 'trigger_ended' && event.run)
        named.add(event.run.executionId);
      if (sentence) printSentence(sentence, context);
      else writeLine(event);
      if (event.event === 'run_done') histories.delete(event.run?.executionId ?? '');
    },
    stop() {},
  };

  function writeLine(event: RunEvent): void {
    const { target, executionId = '' } = subjectOf(event) ?? {};
    const text = lineTextOf(event, named.has(executionId));
    if (!target || text === undefined) return;
    const nowMs = clock.elapsedMs();
    const earlier = histories.get(executionId) ?? firstLine(startMs);
    const history = historyWith(event, earlier, nowMs);
    if (!history) return;
    histories.set(executionId, history);
    const name = sanitizeLine(quotedName(target));
    stderr.write(`${localTime(clock.nowMs())} ${name} ${sanitizeLine(text)}\n`);
  }
}

/** What decides whether another line about the same run is due. */
interface LineHistory {
  /** When the last line was written. */
  lastMs: number;
  /** How many heartbeats the last lines are. */
  heartbeats: number;
  /** The last lines say that the service is silent. */
  hasReportedSilence: boolean;
}

const firstLine = (lastMs: number): LineHistory => ({
  lastMs,
  heartbeats: 0,
  hasReportedSilence: false,
});

/**
 * The history after a line about this event. Undefined if the event is a heartbeat and isn't due.
 */
function historyWith(
  event: RunEvent,
  earlier: LineHistory,
  nowMs: number,
): LineHistory | undefined {
  if (isLongSilence(event) && !earlier.hasReportedSilence) {
    return { lastMs: nowMs, heartbeats: 0, hasReportedSilence: true };
  }
  if (!isHeartbeat(event)) return firstLine(nowMs);
  const gapMs = earlier.heartbeats > 0 ? laterHeartbeatMs : heartbeatMs;
  if (nowMs - earlier.lastMs < gapMs) return undefined;
  return { ...earlier, lastMs: nowMs, heartbeats: earlier.heartbeats + 1 };
}

/** Whether the service will have been silent for `silenceMs` before the next attempt. */
const isLongSilence = (event: RunEvent) =>
  event.event === 'attempt_failed' && event.silentMs + event.retryInMs >= silenceMs;

/** Only repeats that nothing has changed. */
const isHeartbeat = (event: RunEvent) =>
  event.event === 'waiting' || (event.event === 'attempt_failed' && event.failures > 1);

/**
 * The text of a line, after the time and the name. `isNamed`: the id of the run was printed before.
 * Undefined for an event that has no line.
 */
function lineTextOf(event: RunEvent, isNamed: boolean): string | undefined {
  switch (event.event) {
    case 'status': {
      const { run, snapshot, changed } = event;
      if (!changed || snapshot.isFinal) return undefined;
      return isNamed ? snapshot.status : `${snapshot.status} (run ${run.executionId})`;
    }
    case 'attempt_failed':
      return event.resource === 'trigger' ? undefined : failedPollText(event);
    case 'service_back':
      return `responds again after ${formatDuration(event.afterMs)}`;
    case 'waiting':
      return event.run && event.lastConfirmed && `still ${event.lastConfirmed.snapshot.status}`;
    case 'final':
      return event.snapshot.status;
    default:
      return undefined;
  }
}

function failedPollText(event: FailedAttempt & { lastConfirmed?: LastConfirmed }): string {
  const { failures, silentMs, fault, lastConfirmed } = event;
  const silence = failures > 1 ? ` for ${formatDuration(silentMs)}` : '';
  const reason = `no valid response${silence}: ${reasonOf(fault)}`;
  return `${reason}; ${lastConfirmedText(lastConfirmed)}; ${howRetried(event)}`;
}
