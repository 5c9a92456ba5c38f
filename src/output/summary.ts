import { outcomeOf, type RunOrTriggerReport, type RunReport } from '../run/report.ts';
import { errorText, plural, stateOf, stateText, statusOf, stepsText } from './state.ts';
import type { Style } from './style.ts';
import { logTime, shortTime } from './time.ts';

/** A run that was followed: `nightly COMPLETED in 5m 2s`, what else is known, and its output. */
export function runSummary(report: RunReport, style: Style, nowMs: number): string {
  const { result, resultFailure } = report;
  const credits = statusOf(report)?.creditsCharged;
  // Of a run that completed the message says it.
  const isUnread = resultFailure && outcomeOf(report) !== 'result_unavailable';
  const unread = isUnread && `its result couldn't be read: ${resultFailure.reason}`;
  const facts = [
    result && stepsText(result),
    credits === undefined ? undefined : plural(credits, 'credit'),
    `run ${report.executionId}`,
  ];
  const text = paragraph(report, unread || errorText(result), facts, style, nowMs);
  const output = style.lines(result?.output ?? '').replace(/\n*$/, '\n');
  return output === '\n' ? text : `${text}${style.isTerminal ? '\n' : ''}${output}`;
}

/** `nightly RUNNING for 41m, usually 38m`, and when it started. */
export function runStatus(report: RunReport, style: Style, nowMs: number): string {
  const { startedAtMs } = stateOf(report, nowMs);
  const started = startedAtMs === undefined ? undefined : startText(startedAtMs, style, nowMs);
  return paragraph(report, undefined, [started, `run ${report.executionId}`], style, nowMs);
}

/** One of several runs and triggers, as a line of a log. */
export function logLine(report: RunOrTriggerReport, style: Style, nowMs: number): string {
  if (report.kind !== 'run') {
    return paragraph(report, stateOf(report, nowMs).reason, [], style, nowMs);
  }
  const result = report.result && { ...report.result, output: null };
  return runSummary({ ...report, result }, style, nowMs);
}

/** On a terminal indented lines; in a log one line, with its time. */
function paragraph(
  report: RunOrTriggerReport,
  error: string | undefined,
  facts: readonly (string | undefined)[],
  style: Style,
  nowMs: number,
): string {
  const state = stateOf(report, nowMs);
  const head = `${style.line(report.automation.name)} ${stateText(state, style)}`;
  const known = facts.filter(Boolean).join(', ');
  if (!style.isTerminal) {
    const said = error ? `${head}: ${style.line(error)}` : head;
    return `${logTime(nowMs)} ${[said, known].filter(Boolean).join(', ')}\n`;
  }
  const glyph = style.tint(state.tone, style.glyphs[state.tone]);
  const lines = [`${glyph} ${head}`, ...style.lines(error ?? '').split('\n'), style.dim(known)];
  return `${style.wrap(lines.filter(Boolean).join('\n'))}\n`;
}

/** `started 02:00:01 today`, `started Fri 23:15`. */
function startText(startedAtMs: number, style: Style, nowMs: number): string {
  if (!style.isTerminal) return `started ${logTime(startedAtMs)}`;
  const short = shortTime(startedAtMs, nowMs);
  const isToday = !short.includes(' ');
  return isToday ? `started ${logTime(startedAtMs).slice(11, 19)} today` : `started ${short}`;
}
