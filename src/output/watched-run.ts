import type { Context } from '../context.ts';
import type { Failure } from '../core/failure.ts';
import type { RunEvent } from '../core/ports.ts';
import type { Automation, RunStatus } from '../core/run.ts';
import { formatDuration } from '../text/duration.ts';
import { httpFact, stateOfStatus, stateText } from './state.ts';
import type { Style } from './style.ts';

/** One run or trigger, as far as events have told. */
export interface WatchedRun {
  automation: Automation;
  executionId?: string;
  /** This command started it. */
  isStarted?: boolean;
  isWatched?: boolean;
  /** `--if-active wait` */
  isWaiting?: boolean;
  usualMs?: number;
  status?: RunStatus;
  /** There is no valid answer, since this moment by `clock.elapsedMs`. */
  silence?: { failure: Failure; startMs: number };
}

export type ProgressContext = Omit<Context, 'emit'>;

/** Shows runs. `update` is called whenever one of them may have changed. */
export interface ProgressView {
  update(): void;
  stop(): void;
}

export type ProgressEvent = Exclude<RunEvent, { type: 'note' | 'warning' }>;

/** A response that is lost and repaired within this time isn't worth a word. */
const minSilenceMs = 5000;

/** What an event tells of its run. */
export function changeBy(event: ProgressEvent, elapsedMs: number): Partial<WatchedRun> {
  const silence = undefined;
  switch (event.type) {
    case 'started':
      return { silence, isStarted: true, isWaiting: false };
    case 'watching':
      return { silence, isWatched: true, usualMs: event.usualMs };
    case 'status':
      return { silence, status: event.status };
    case 'waiting':
      return { silence, isWaiting: true };
    case 'retry': {
      const { failure, silentMs } = event;
      // An interrupted command doesn't try again.
      const isWorthIt = silentMs >= minSilenceMs && failure.kind !== 'interrupted';
      return isWorthIt ? { silence: { failure, startMs: elapsedMs - silentMs } } : {};
    }
  }
}

/** There is something to say about it while it lasts. */
export const isShown = ({ isWatched, isWaiting, silence }: WatchedRun): boolean =>
  Boolean(isWatched || isWaiting || silence);

export const isFinished = ({ status }: WatchedRun): boolean => status?.isFinal ?? false;

/** `RUNNING for 4m 12s, usually 5m`, without the name. */
export function progressText(run: WatchedRun, style: Style, { clock }: ProgressContext): string {
  const { status, silence, isWaiting, isStarted, usualMs } = run;
  const start = isWaiting ? 'is already running, waiting for it to finish' : isStarted && 'started';
  const state = status && stateOfStatus(status, clock.nowMs(), silence ? undefined : usualMs);
  const parts = [state ? stateText(state, style) : start];
  if (silence) {
    const { failure, startMs } = silence;
    const why = (failure.httpStatus ?? 0) < 400 ? failure.reason : httpFact(failure);
    const silent = formatDuration(clock.elapsedMs() - startMs);
    parts.push(`no response for ${silent}, still trying (${why})`);
  }
  return parts.filter(Boolean).join(', ');
}
