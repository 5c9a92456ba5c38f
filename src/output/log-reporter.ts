import type { Invocation } from '../context.ts';
import { type Reporter, type RunEvent, subjectOf } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import { heartbeatMs, laterSignOfLifeMs } from '../run/limits.ts';
import { automationNameOf } from '../run/run.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { printSentence } from './print-message.ts';
import type { OutputOptions } from './result.ts';
import { createSentences, howRetried, isShownQuietly } from './sentences.ts';
import { lastConfirmedText } from './status-text.ts';

/**
 * If the service will have been silent for this long before the next attempt, the log says so at
 * once. Otherwise the last line during an outage would be about a retry in 50 ms.
 */
const silenceMs = 10_000;

/**
 * Reports events on stderr: sentences, a line for each change of a run, and from time to time a
 * sign of life, because CI systems end a job that is silent for long.
 */
export function createLogReporter(context: Invocation, { quiet }: OutputOptions = {}): Reporter {
  const { clock, stderr } = context;
  const startMs = clock.elapsedMs();
  const sentenceOf = createSentences(clock);
  const reported = new Map<string, LinesOfRun>();
  const named = new Set<string>();

  return {
    emit(event) {
      if (quiet && !isShownQuietly(event)) return;
      const sentence = sentenceOf(event);
      if (sentence && event.event === 'triggered' && event.run) named.add(event.run.executionId);
      if (sentence) printSentence(sentence, context);
      else writeChange(event);
      if (event.event === 'run_done') reported.delete(event.run?.executionId ?? '');
    },
    stop() {},
  };

  function writeChange(event: RunEvent): void {
    const { target, executionId = '' } = subjectOf(event) ?? {};
    const text = changeOf(event, named.has(executionId));
    if (!target || text === undefined) return;
    const written = reported.get(executionId) ?? {
      lastMs: startMs,
      signs: 0,
      hasToldSilence: false,
    };
    const lastMs = clock.elapsedMs();
    if (isLongSilence(event) && !written.hasToldSilence) {
      reported.set(executionId, { lastMs, signs: 0, hasToldSilence: true });
    } else if (isSignOfLife(event)) {
      const gapMs = written.signs > 0 ? laterSignOfLifeMs : heartbeatMs;
      if (lastMs - written.lastMs < gapMs) return;
      reported.set(executionId, { ...written, lastMs, signs: written.signs + 1 });
    } else {
      reported.set(executionId, { lastMs, signs: 0, hasToldSilence: false });
    }
    stderr.write(
      `${localTime(clock.nowMs())} ${sanitizeLine(automationNameOf(target))} ${sanitizeLine(text)}\n`,
    );
  }
}

/** What the log has so far about one run. */
interface LinesOfRun {
  /** When the last one was written. */
  lastMs: number;
  /** How many signs of life in a row. */
  signs: number;
  /** Whether one of them told of silence. */
  hasToldSilence: boolean;
}

/** Will the service have been silent for `silenceMs` before the next attempt? */
const isLongSilence = (event: RunEvent) =>
  event.event === 'attempt_failed' && event.silentMs + event.retryInMs >= silenceMs;

function isSignOfLife(event: RunEvent): boolean {
  return event.event === 'waiting' || (event.event === 'attempt_failed' && event.failures > 1);
}

function changeOf(event: RunEvent, isNamed: boolean): string | undefined {
  switch (event.event) {
    case 'status': {
      const { run, status, changed } = event;
      if (!changed || status.isFinal) return undefined;
      return isNamed ? status.status : `${status.status} (run ${run.executionId})`;
    }
    case 'attempt_failed': {
      if (event.resource === 'trigger') return undefined;
      const { failures, silentMs, fault, lastConfirmed } = event;
      const silence = failures > 1 ? ` for ${formatDuration(silentMs)}` : '';
      const reason = `no valid response${silence}: ${reasonOf(fault)}`;
      return `${reason}; ${lastConfirmedText(lastConfirmed)}; ${howRetried(event)}`;
    }
    case 'service_back':
      return `responds again after ${formatDuration(event.afterMs)}`;
    case 'waiting':
      return event.run && event.lastConfirmed && `still ${event.lastConfirmed.status.status}`;
    case 'final':
      return event.status.status;
    default:
      return undefined;
  }
}
