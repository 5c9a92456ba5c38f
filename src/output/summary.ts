import { outcomeOf, type RunOrTriggerReport } from '../core/report.ts';
import type { RunResult } from '../core/run.ts';
import { plural } from '../text/plural.ts';
import { stateOf, stateText, statusOf } from './state.ts';
import { logTime, type Style, type View } from './style.ts';
import { table } from './table.ts';

/**
 * Runs that were followed, each with its output. Of several a table (in a log a line of each), and
 * summaries of those that didn't complete.
 */
export function summaries(
  runs: readonly RunOrTriggerReport[],
  view: View,
  isQuiet = false,
): string {
  const { style } = view;
  const isGood = (report: RunOrTriggerReport) => outcomeOf(report) === 'ok';
  // What isn't a run has its message.
  const isWanted = (report: RunOrTriggerReport) => report.kind === 'run' && !isGood(report);
  const wanted = isQuiet ? runs.filter(isWanted) : runs;
  if (runs.length > 1 && !style.isTerminal) {
    return wanted.map((report) => summaryOf(report, view)).join('');
  }
  const hasTable = runs.length > 1 && !isQuiet;
  const texts = wanted
    .filter((report) => report.kind === 'run' && !(hasTable && isGood(report)))
    .map((report) => summaryOf(report, view) + outputBelow(report, style));
  return [...(hasTable ? [table(runs, view)] : []), ...texts].join('\n');
}

/**
 * `nightly COMPLETED in 5m 2s`, the error, and what else is known: on a terminal indented lines, in
 * a log one line with its time.
 */
export function summaryOf(report: RunOrTriggerReport, view: View): string {
  const { style, nowMs } = view;
  const { automation } = report;
  const state = stateOf(report, nowMs);
  const { tone, reason = '' } = state;
  const head = `${style.line(automation.name)} ${stateText(state, style)}`;
  const facts = factsOf(report, view);
  if (!style.isTerminal) {
    const said = reason ? `${head}: ${style.line(reason)}` : head;
    return `${logTime(nowMs)} ${[said, facts].filter(Boolean).join(', ')}\n`;
  }
  const first = `${style.tint(tone, style.glyphs[tone])} ${head}`;
  const lines = [first, ...style.lines(reason).split('\n'), style.dim(facts)];
  return `${style.wrap(lines.filter(Boolean).join('\n'))}\n`;
}

function factsOf(report: RunOrTriggerReport, { style, nowMs }: View): string {
  if (report.kind !== 'run') return '';
  const { result, executionId } = report;
  const { startedAtMs, creditsCharged } = statusOf(report) ?? {};
  const started = startedAtMs === undefined ? '' : `started ${style.time(startedAtMs, nowMs)}`;
  const credits = creditsCharged === undefined ? '' : plural(creditsCharged, 'credit');
  const facts = [result ? stepsText(result) : started, credits, `run ${executionId}`];
  return facts.filter(Boolean).join(', ');
}

/** Below the summary, on a terminal after an empty line. */
function outputBelow(report: RunOrTriggerReport, style: Style): string {
  const output = (report.kind === 'run' && report.result?.output) || '';
  const text = style.lines(output).replace(/\n*$/, '\n');
  return text === '\n' ? '' : `${style.isTerminal ? '\n' : ''}${text}`;
}

/** `3 steps`, `3 steps (1 skipped)`, `2 of 3 steps succeeded`. */
function stepsText({ steps }: RunResult): string {
  if (!steps || steps.count === 0) return '';
  const { count, succeeded, skipped } = steps;
  const all = plural(count, 'step');
  const isAll = succeeded + skipped >= count;
  const skip = skipped > 0 ? ` (${skipped} skipped)` : '';
  return `${isAll ? all : `${succeeded} of ${all} succeeded`}${skip}`;
}
