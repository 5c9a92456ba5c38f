import type { Failure } from '../core/failure.ts';
import { decidingStatus, type RunOrTriggerReport } from '../core/report.ts';
import { isKnownFinal, type RunResult, type RunStatus } from '../core/run.ts';
import { minuteMs } from '../core/time.ts';
import { formatDuration } from '../text/duration.ts';
import type { Style, Tone } from './style.ts';

/** How a run or trigger stands, for people. The service's texts in it aren't cleaned. */
export interface State {
  /** The status, UNKNOWN, NOT_STARTED or NOT_FOUND; `-` if nobody asked. */
  word: string;
  tone: Tone;
  startedAtMs?: number;
  /** How long it took, or how long it has been running. */
  tookMs?: number;
  isFinal?: boolean;
  /** Of a run that hasn't finished: `usually 5m`, `usually 5m, late`. */
  usual?: string;
  reason?: string;
}

export function stateOf(report: RunOrTriggerReport, nowMs: number): State {
  const { kind, atMs: startedAtMs, statusAgeMs } = report;
  const reason = reasonOf(report);
  if (kind === 'unknown') return { word: 'UNKNOWN', tone: 'unknown', startedAtMs, reason };
  if (kind === 'not_started') {
    return { word: 'NOT_STARTED', tone: 'attention', startedAtMs, reason };
  }
  if (kind === 'unreadable' && report.failure.kind === 'not_found') {
    return { word: 'NOT_FOUND', tone: 'attention', startedAtMs };
  }
  const status = statusOf(report);
  if (!status) return { word: '-', tone: 'attention', startedAtMs, reason };
  const isOld = statusAgeMs !== undefined && !status.isFinal;
  const age = isOld && `status is ${formatDuration(statusAgeMs)} old`;
  const usualMs = kind === 'run' ? report.usualMs : undefined;
  const why = [age, reason].filter(Boolean).join(': ');
  return { startedAtMs, ...stateOfStatus(status, nowMs, usualMs), reason: why };
}

/** The status that decides, or the last one that is known. */
export const statusOf = (report: RunOrTriggerReport): RunStatus | undefined =>
  report.kind === 'run' ? decidingStatus(report) : report.status;

function reasonOf(report: RunOrTriggerReport): string | undefined {
  if (report.kind === 'run') return errorText(report.result) ?? report.reason;
  if (report.kind === 'unknown') return 'response lost';
  // That a run is no longer followed, and why, is a message.
  return report.kind === 'stopped' ? undefined : report.failure.reason;
}

export function stateOfStatus(status: RunStatus, nowMs: number, usualMs?: number): State {
  const { status: word, isFinal, startedAtMs } = status;
  const times = startedAtMs === undefined ? {} : { startedAtMs };
  const took = tookMs(status, nowMs);
  const usual = isFinal || usualMs === undefined ? undefined : usuallyText(usualMs, took);
  return { word, isFinal, tone: toneOf(status), ...times, tookMs: took, usual };
}

function toneOf({ status, isFinal }: RunStatus): Tone {
  if (!isFinal) return 'active';
  if (status === 'COMPLETED') return 'good';
  return isKnownFinal(status) && status !== 'CANCELLED' ? 'bad' : 'attention';
}

/** How long a run took, or has been running. Undefined if the service doesn't say. */
export function tookMs(status: RunStatus, nowMs: number): number | undefined {
  const endMs = status.isFinal ? status.completedAtMs : nowMs;
  if (status.startedAtMs === undefined || endMs === undefined) return undefined;
  // The service's clock may be ahead of this machine's.
  return Math.max(0, endMs - status.startedAtMs);
}

/** `COMPLETED in 5m 2s`, `FAILED after 3m 10s`, `RUNNING for 41m, usually 38m`. */
export function stateText({ word, tone, isFinal, tookMs, usual }: State, style: Style): string {
  const text = style.tint(tone, style.line(word));
  if (tookMs === undefined) return text;
  const ended = word === 'COMPLETED' ? 'in' : 'after';
  const took = `${text} ${isFinal ? ended : 'for'} ${formatDuration(tookMs)}`;
  return usual ? `${took}, ${usual.replace('late', style.tint('attention', 'late'))}` : took;
}

function usuallyText(usualMs: number, runningMs = 0): string {
  const unitMs = usualMs < minuteMs ? 1000 : minuteMs;
  const roundMs = Math.max(1, Math.round(usualMs / unitMs)) * unitMs;
  return `usually ${formatDuration(roundMs)}${runningMs > 2 * usualMs ? ', late' : ''}`;
}

/** `Step "Send the report": the mail server said no (step_failed)` */
export function errorText(result: RunResult | undefined): string | undefined {
  if (!result?.error) return undefined;
  const { message, type } = result.error;
  return message ? `${message} (${type})` : type;
}

/** What HTTP said: `HTTP 422 runAlreadyActive`. */
export const httpFact = ({ httpStatus, code }: Failure): string =>
  [httpStatus && `HTTP ${httpStatus}`, code].filter(Boolean).join(' ');
