import type { Invocation } from '../context.ts';
import { type Reporter, type RunEvent, subjectOf } from '../run/events.ts';
import { reasonOf } from '../run/fault.ts';
import { laterSignOfLifeMs, signOfLifeMs } from '../run/limits.ts';
import { automationNameOf } from '../run/run.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { formatDuration, localTime } from '../system/time-text.ts';
import { type OutputOptions, printSentence } from './print.ts';
import { createSentences, howRetried, isShownQuietly } from './sentences.ts';
import { lastConfirmedText } from './status-text.ts';

/** A log must not end with a retry in 50 ms while the service is away for a minute. */
const silenceMs = 10_000;

/** Writes to stderr: sentences, a line for each change of a run, and now and then a sign of life for CI. */
export function createLogReporter(context: Invocation, { quiet }: OutputOptions = {}): Reporter {
  const { clock, stderr } = context;
  const startMs = clock.elapsedMs();
  const sentenceOf = createSentences(clock);
  /** When the last line about each run was written, how many signs of life in a row, and whether one told of silence. */
  const reported = new Map<string, { atMs: number; signs: number; hasToldSilence: boolean }>();
  const named = new Set<string>();

  return {
    observe(event) {
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
    const last = reported.get(executionId);
    const nowMs = clock.elapsedMs();
    const isSign = isSignOfLife(event);
    const isFirstSilence = isDueBeforeRetry(event) && !last?.hasToldSilence;
    if (isSign && !isFirstSilence) {
      const gapMs = last && last.signs > 0 ? laterSignOfLifeMs : signOfLifeMs;
      if (nowMs - (last?.atMs ?? startMs) < gapMs) return;
    }
    const signs = isSign && !isFirstSilence ? (last?.signs ?? 0) + 1 : 0;
    const hasToldSilence = isFirstSilence || (isSign && last?.hasToldSilence === true);
    reported.set(executionId, { atMs: nowMs, signs, hasToldSilence });
    stderr.write(`${localTime(clock.nowMs())} ${sanitizeLine(automationNameOf(target))} ${sanitizeLine(text)}\n`);
  }
}

/** Will there have been silence for so long before the next attempt? */
const isDueBeforeRetry = (event: RunEvent) =>
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
      const { failures, silentMs, fault } = event;
      const silence = failures > 1 ? ` for ${formatDuration(silentMs)}` : '';
      return `no valid response${silence}: ${reasonOf(fault)}; ${lastConfirmedText(event.lastConfirmed)}; ${howRetried(event)}`;
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
