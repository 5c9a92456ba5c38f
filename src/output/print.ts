import type { Context } from '../context.ts';
import { exitNameOf, type Report, type RunOrTriggerReport } from '../core/report.ts';
import type { JsonObject } from '../core/run.ts';
import { clean, cleanJson } from '../text/clean.ts';
import { createCommandLine } from './command-line.ts';
import { documentOf, valueAt, type Warning } from './document.ts';
import { formatFix, formatMessage, type MessageContext, messageOf, type Show } from './message.ts';
import { loadStyle, type View } from './style.ts';
import { summaries, summaryOf } from './summary.ts';
import { countLine, pipeRows, table } from './table.ts';

export interface Output {
  reports: readonly Report[];
  show: Show;
}

export interface PrintOptions {
  /** Those that the command told while it worked. */
  warnings: readonly Warning[];
  /** The one in force. */
  project: string | undefined;
}

/** Writes everything about a finished command. */
export async function print(
  { reports, show }: Output,
  context: Context,
  { warnings, project }: PrintOptions,
): Promise<void> {
  const { stdout, stderr, clock, signal } = context;
  const about: MessageContext = {
    context,
    commandLine: createCommandLine(context, project),
    style: await loadStyle(stderr, context),
    show,
  };
  if (isForPrograms(context)) {
    for (const report of reports) printDocument(documentOf(report, about, warnings), context);
  } else {
    const style = await loadStyle(stdout, context);
    const view = { style, nowMs: clock.nowMs(), columns: stdout.columns(), project };
    const text = textOf({ reports, show }, context, view);
    if (text !== '') stdout.write(text);
  }
  const messages = reports
    .map((report) => messageText(report, about))
    .filter((text) => text !== '');
  // If some rows couldn't be polled, it is usually for one reason.
  const told = show === 'rows' ? messages.slice(0, 1) : messages;
  // The terminal has written ^C, which a message covers.
  const start = signal.aborted && about.style.isTerminal ? '\r' : '';
  if (told.length > 0) stderr.write(start + told.join(''));
}

const isForPrograms = ({ flags }: Context): boolean =>
  Boolean(flags.json) || flags.field !== undefined;

/** A line of JSON, or with `--field` one raw value. */
function printDocument(document: JsonObject, { stdout, stderr, flags }: Context): void {
  if (flags.json || flags.field === undefined) {
    const json = JSON.stringify(document);
    stdout.write(`${stdout.isTTY ? cleanJson(json) : json}\n`);
    return;
  }
  const value = valueAt(document, flags.field);
  const text = typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
  stdout.write(`${stdout.isTTY ? clean(text) : text}\n`);
  const isMissing = value === undefined && !flags.quiet;
  if (isMissing) stderr.write(`runctl: the document has no field "${clean(flags.field)}"\n`);
}

/** What stdout gets if a person or a shell reads it. */
function textOf({ reports, show }: Output, context: Context, view: View): string {
  const runs = reports.filter((report) => report.kind !== 'done');
  switch (show) {
    case 'ids':
      return idsOf(runs, context);
    case 'outputs':
      return runs.map((report) => rawOutput(report, context)).join('');
    case 'status':
      return runs
        .filter(({ kind }) => kind === 'run')
        .map((report) => summaryOf(report, view))
        .join('');
    case 'summaries':
      return summaries(runs, view, context.flags.quiet);
    case 'rows':
      if (runs.length === 0) return '';
      return view.style.isTerminal
        ? table(runs, view) + countLine(runs, view)
        : pipeRows(runs, view);
    case 'text':
      return reports
        .flatMap((report) => (report.kind === 'done' && report.text ? `${report.text}\n` : []))
        .join('');
  }
}

/**
 * Of several arguments, line n is argument n's, empty without a run. Nobody named the triggers that
 * `recover` sends, so its lines have no place.
 */
function idsOf(runs: readonly RunOrTriggerReport[], { command, flags }: Context): string {
  const isOfRecover = command === 'recover';
  if (isOfRecover && flags.quiet) return '';
  const lines = runs.map(({ executionId = '' }) => `${executionId}\n`);
  const isDense = isOfRecover || runs.length === 1;
  return lines.filter((line) => !isDense || line !== '\n').join('');
}

/** As the service sent it, but for a terminal. */
function rawOutput(report: RunOrTriggerReport, { stdout }: Context): string {
  const output = (report.kind === 'run' && report.result?.output) || '';
  return stdout.isTTY && output ? clean(output).replace(/\n?$/, '\n') : output;
}

function messageText(report: Report, about: MessageContext): string {
  const { flags, command } = about.context;
  // Rows say themselves how their runs stand.
  if (about.show === 'rows' && exitNameOf(report) === 'ok') return '';
  const isAskedAgain = command === 'recover' && report.kind === 'unknown' && !report.remedy;
  const isSkipped = report.kind === 'not_started' && report.isSkipped;
  if (flags.quiet && (isAskedAgain || isSkipped)) return '';
  const message = messageOf(report, about);
  if (!message) return '';
  const isOnlyHint = message.happened === '';
  if (isOnlyHint && (flags.quiet || isForPrograms(about.context))) return '';
  // What was printed on stdout has said it already.
  const isSaid = report.kind === 'done' && report.text && !isForPrograms(about.context);
  return isSaid || isOnlyHint ? formatFix(message, about) : formatMessage(message, about);
}
