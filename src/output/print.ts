import type { Context } from '../context.ts';
import { exitNameOf, outcomeOf, type Report, type RunOrTriggerReport } from '../run/report.ts';
import type { JsonObject } from '../run/run.ts';
import { clean, cleanJson } from '../text/clean.ts';
import { createCommandLine } from './command-line.ts';
import { documentOf, valueAt, type Warning } from './document.ts';
import { formatFix, formatMessage, type MessageContext, messageOf } from './message.ts';
import { loadStyle, type Style } from './style.ts';
import { logLine, runStatus, runSummary } from './summary.ts';
import { countLine, pipeRows, table } from './table.ts';

export interface Output {
  reports: readonly Report[];
  /**
   * How reports are printed for people: the ids of runs (`trigger`), the current status, summaries
   * of runs that were followed, outputs of runs, or rows.
   */
  show: 'ids' | 'status' | 'summaries' | 'outputs' | 'rows' | 'text';
}

/** Writes everything about a finished command. `warnings`: those that it told while it worked. */
export async function print(
  output: Output,
  context: Context,
  warnings: readonly Warning[] = [],
): Promise<void> {
  const { reports, show } = output;
  const { flags, stdout, stderr } = context;
  const isNeeded = reports.some(isAboutRun);
  const { project, areKeysIgnored = false } = isNeeded ? await readSettings(context) : {};
  const about: MessageContext = {
    context,
    commandLine: createCommandLine(context, project),
    isWatch: show === 'summaries',
    isResult: show === 'outputs',
    areKeysIgnored,
  };
  if (flags.json || flags.field !== undefined) {
    for (const report of reports) printDocument(documentOf(report, about, warnings), context);
  } else {
    const text = textOf(output, context, await loadStyle(stdout, context), project);
    if (text !== '') stdout.write(text);
  }
  const style = await loadStyle(stderr, context);
  const messages = reports.map((report) => stderrTextOf(report, show, about, style));
  // Rows say how runs stand. If some couldn't be polled, it is usually for one reason.
  const told = messages.filter((text) => text !== '').slice(0, show === 'rows' ? 1 : undefined);
  // The terminal has written ^C, which a message covers.
  const start = context.signal.aborted && style.isTerminal ? '\r' : '';
  if (told.length > 0) stderr.write(start + told.join(''));
}

const isAboutRun = (report: Report): report is RunOrTriggerReport => report.kind !== 'done';

/** Empty if a setting is wrong, which the command has said. */
async function readSettings(context: Context) {
  const { resolveSettings } = await import('../settings/resolve.ts');
  try {
    const { project, idempotencyKeys } = resolveSettings(context);
    return { project: project?.value, areKeysIgnored: idempotencyKeys.value === 'ignored' };
  } catch {
    return {};
  }
}

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

/** What stdout gets if a person or a shell reads it. `project`: the one in force. */
function textOf(
  { reports, show }: Output,
  context: Context,
  style: Style,
  project: string | undefined,
): string {
  const runs = reports.filter(isAboutRun);
  const nowMs = context.clock.nowMs();
  const options = { style, nowMs, project };
  switch (show) {
    case 'ids':
      return idsOf(runs, context);
    case 'outputs':
      return runs.map((report) => outputOf(report, context)).join('');
    case 'status':
      return runs
        .map((report) => (report.kind === 'run' ? runStatus(report, style, nowMs) : ''))
        .join('');
    case 'summaries':
      return summariesOf(runs, context, style, project);
    case 'rows': {
      if (runs.length === 0) return '';
      if (!style.isTerminal) return pipeRows(runs, options);
      return table(runs, context.stdout.columns(), options) + countLine(runs, options);
    }
    case 'text':
      return reports
        .flatMap((report) => (report.kind === 'done' && report.text ? `${report.text}\n` : []))
        .join('');
  }
}

/** Of several, line n is argument n's, empty without a run. */
function idsOf(runs: readonly RunOrTriggerReport[], { command, flags }: Context): string {
  if (command === 'recover' && flags.quiet) return '';
  const lines = runs.map(({ executionId = '' }) => `${executionId}\n`).join('');
  return lines === '\n' ? '' : lines;
}

/** As the service sent it, but for a terminal. */
function outputOf(report: RunOrTriggerReport, { stdout }: Context): string {
  const output = (report.kind === 'run' && report.result?.output) || '';
  return stdout.isTTY && output ? clean(output).replace(/\n?$/, '\n') : output;
}

/** Of several a table, and summaries of those that didn't complete. In a log a line of each. */
function summariesOf(
  runs: readonly RunOrTriggerReport[],
  { stdout, flags, clock }: Context,
  style: Style,
  project: string | undefined,
): string {
  const nowMs = clock.nowMs();
  const isGood = (report: RunOrTriggerReport) => outcomeOf(report) === 'ok';
  const wanted = flags.quiet ? runs.filter((report) => !isGood(report)) : runs;
  const isSeveral = runs.length > 1;
  if (isSeveral && !style.isTerminal) {
    return wanted.map((report) => logLine(report, style, nowMs)).join('');
  }
  const hasTable = isSeveral && !flags.quiet;
  const overview = hasTable ? [table(runs, stdout.columns(), { style, nowMs, project })] : [];
  const summaries = wanted
    .filter((report) => report.kind === 'run')
    .filter((report) => !hasTable || !isGood(report))
    .map((report) => runSummary(report, style, nowMs));
  return [...overview, ...summaries].join('\n');
}

function stderrTextOf(
  report: Report,
  show: Output['show'],
  about: MessageContext,
  style: Style,
): string {
  const { context, commandLine } = about;
  const { flags, command, clock } = context;
  // Rows say themselves how their runs stand.
  if (show === 'rows' && exitNameOf(report) === 'ok') return '';
  const isUnknown = report.kind === 'unknown' && report.isRecoverable !== false;
  const isAskedAgain = isUnknown && command === 'recover';
  const isSkipped = report.kind === 'not_started' && report.isSkipped;
  if (flags.quiet && (isAskedAgain || isSkipped)) return '';
  const message = messageOf(report, about);
  // What was printed on stdout has said it already.
  const isForPeople = !flags.json && flags.field === undefined;
  const isSaid = report.kind === 'done' && report.text && isForPeople;
  if (message) return (isSaid ? formatFix : formatMessage)(message, style, commandLine);
  // `result` has no output to print, and the exit code alone doesn't say why.
  const isWithoutOutput = show === 'outputs' && isForPeople && outcomeOf(report) !== 'ok';
  return isWithoutOutput && report.kind === 'run' ? runSummary(report, style, clock.nowMs()) : '';
}
