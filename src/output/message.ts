import type { Context } from '../context.ts';
import { type Failure, rowOf } from '../core/failure.ts';
import {
  type DoneReport,
  decidingStatus,
  type NotStartedReport,
  outcomeOf,
  type Problem,
  type Report,
  type RunReport,
  type StoppedReport,
  type UnknownReport,
} from '../core/report.ts';
import { clean } from '../text/clean.ts';
import { formatDuration } from '../text/duration.ts';
import type { CommandLine } from './command-line.ts';
import { errorText, httpFact } from './state.ts';
import type { Style } from './style.ts';

/** What is said about a failure. The service's texts in it aren't cleaned. */
export interface Message {
  /** What happened to what, and what that means for the run. Empty if stdout says it. */
  happened: string;
  why?: string;
  /** For the brackets at the end: `3 attempts in 10m`, and what HTTP said. */
  facts?: readonly string[];
  /** The command to type, as words after `runctl`, or complete. */
  fix?: readonly string[] | string;
}

/**
 * How reports are printed for people: the ids of runs (`trigger`), the current status, summaries of
 * runs that were followed, outputs of runs, rows, or the text that a report has.
 */
export type Show = 'ids' | 'status' | 'summaries' | 'outputs' | 'rows' | 'text';

/** What a message needs to know of the command. */
export interface MessageContext {
  context: Context;
  commandLine: CommandLine;
  /** That of stderr. */
  style: Style;
  show: Show;
}

/** Undefined if there is nothing to say, as of a run that failed: its summary has its error. */
export function messageOf(report: Report, about: MessageContext): Message | undefined {
  switch (report.kind) {
    case 'done':
      return report.error && { happened: report.error.message, fix: report.error.command };
    case 'run':
      return runMessage(report, about);
    case 'stopped':
      return stoppedMessage(report, about);
    case 'not_started':
      return notStartedMessage(report, about);
    case 'unknown':
      return unknownMessage(report, about);
    case 'unreadable': {
      const { automation, failure } = report;
      const what = about.show === 'outputs' ? 'result' : 'status';
      const happened = `the ${what} of ${automation.name} couldn't be read`;
      return { happened, ...causeOf(failure, about), fix: fixOf(failure) };
    }
  }
}

/** The message as it is printed. */
export function formatMessage(message: Message, about: MessageContext): string {
  const { happened, why, facts = [] } = message;
  const { wrap, line } = about.style;
  const sentence = why ? `${happened}: ${why}` : happened;
  const brackets = facts.length > 0 ? ` (${facts.join(', ')})` : '';
  return `${wrap(`runctl: ${line(sentence + brackets)}`)}\n${formatFix(message, about)}`;
}

/** The command to type, alone on its line and never broken. Empty if there is none. */
export function formatFix({ fix }: Message, { style, commandLine }: MessageContext): string {
  const command = fix ? commandLine.complete(fix) : '';
  // Without its invisible characters, a name would mean another run.
  const isTypable = command !== '' && clean(command) === command;
  return isTypable ? `  ${style.glyphs.arrow} ${style.bold(command)}\n` : '';
}

/** A thrown problem, as the report of a command that did nothing else. */
export const problemReport = ({ message, exit, command }: Problem): DoneReport => ({
  kind: 'done',
  exit,
  document: {},
  error: { message, command },
});

function runMessage(report: RunReport, about: MessageContext): Message | undefined {
  const { automation, result, resultFailure } = report;
  const { status: word } = decidingStatus(report) ?? {};
  const run = about.commandLine.run(report);
  if (resultFailure) {
    const happened = `${automation.name} ${word}, but its result couldn't be read`;
    return { happened, ...causeOf(resultFailure, about), fix: ['result', run] };
  }
  const outcome = outcomeOf(report);
  if (outcome === 'unrecognized_status') {
    const happened = `${automation.name} finished with a status that this version doesn't know`;
    return { happened: `${happened} (${word})` };
  }
  if (outcome === 'ok') return undefined;
  // Of a run that failed, only its result says why.
  const isAtEnd = about.show === 'status' && outcome !== 'still_running';
  if (isAtEnd) return { happened: '', fix: ['result', run] };
  if (about.show !== 'outputs') return undefined;
  return outcome === 'still_running'
    ? { happened: `${automation.name} hasn't finished (${word})`, fix: ['watch', run] }
    : { happened: `${automation.name} ${word}`, why: errorText(result) };
}

function stoppedMessage(report: StoppedReport, about: MessageContext): Message {
  const { automation, failure, status, trigger } = report;
  const { name } = automation;
  const isGone = failure.kind === 'not_found';
  const isSeen = !isGone && (status || trigger);
  const happened = `${name} ${isSeen ? 'continues, but is no longer' : "isn't"} watched`;
  const again = isGone ? undefined : ['watch', about.commandLine.run(report)];
  const fix = rowOf(failure).retry ? again : (fixOf(failure) ?? again);
  return { happened, ...causeOf(failure, about), fix };
}

function notStartedMessage(report: NotStartedReport, about: MessageContext): Message {
  const { automation, failure, trigger, isSkipped } = report;
  const happened = `${automation.name} wasn't started`;
  if (isSkipped) return { happened, why: failure.reason };
  if (failure.kind === 'already_active' && report.isUnknownBefore) {
    const { why, facts } = causeOf(failure, about);
    const words = ['recover', about.commandLine.automation(automation), ...givenWatchFlag(about)];
    return { happened, why: `${why}, maybe because of an earlier trigger`, facts, fix: words };
  }
  const fix = fixOf(failure, about.commandLine.automation(automation));
  const key = trigger?.isKeyGiven ? keyFlag(trigger) : [];
  const flags = fix?.[0] === 'trigger' ? [...givenWatchFlag(about), ...key] : [];
  return { happened, ...causeOf(failure, about), fix: fix && [...fix, ...flags] };
}

/** Only a trigger that was refused gets a row that names its automation. */
const fixOf = (failure: Failure, automation = ''): string[] | undefined =>
  rowOf(failure)
    .fix?.split(' ')
    .map((word) => (word === '<automation>' ? automation : word));

const givenWatchFlag = ({ show }: MessageContext) => (show === 'summaries' ? ['--watch'] : []);
/** In one word, because the key may begin with a dash. */
const keyFlag = ({ idempotencyKey }: { idempotencyKey: string }) =>
  idempotencyKey.startsWith('-')
    ? [`--idempotency-key=${idempotencyKey}`]
    : ['--idempotency-key', idempotencyKey];

function unknownMessage(report: UnknownReport, about: MessageContext): Message {
  const { automation, failure, last = failure, attempts = 1, tookMs = 0, atMs } = report;
  const at = atMs === undefined ? '' : ` at ${timeText(atMs, about)}`;
  const history = attempts > 1 ? [`${attempts} attempts in ${formatDuration(tookMs)}`] : [];
  return {
    happened: `${automation.name} may have been started${at}`,
    why: whyUnknown(report, about),
    facts: [...history, ...causeOf(last, about).facts],
    fix: recoveryOf(report, about),
  };
}

function whyUnknown(report: UnknownReport, about: MessageContext): string {
  const { failure, last = failure, notSentBecause, remedy, atMs } = report;
  const then = last.kind === 'interrupted' ? 'runctl was interrupted' : last.reason;
  const parts = [failure.reason, ...(last.kind === failure.kind ? [] : [then])];
  if (notSentBecause) parts.push(`runctl doesn't send it again (${notSentBecause})`);
  const why = parts.join(', and ');
  if (remedy) {
    const orElse = remedy === 'repeat' ? ', or send it again with its key' : '';
    const when = atMs ? 'then' : `at about ${timeText(about.context.clock.nowMs(), about)}`;
    return `${why}. Look in the service for a run that started ${when}${orElse}`;
  }
  if (last.kind !== 'already_active') return why;
  return `${why}, maybe because of this trigger. recover finds out once that run has finished`;
}

function recoveryOf(report: UnknownReport, about: MessageContext): string[] | undefined {
  const { automation, trigger, failure, last = failure, isRecorded = true, remedy } = report;
  const { command, stderr } = about.context;
  // With a renewed API key, the same idempotency key would start another run.
  if (last.kind === 'redirected' || last.kind === 'unauthorized') return ['doctor'];
  // Nothing but another API key helps, which this command line doesn't have.
  const isOfAnotherKey = report.notSentBecause !== undefined && !remedy;
  if (remedy === 'look' || isOfAnotherKey) return undefined;
  const words = [about.commandLine.automation(automation), ...givenWatchFlag(about)];
  // A log may be read on a machine without this journal.
  const isReadHere = command !== 'trigger' || stderr.isTTY;
  if (!trigger || (isRecorded && isReadHere && !remedy)) return ['recover', ...words];
  return ['trigger', ...words, ...keyFlag(trigger)];
}

function causeOf(failure: Failure, about: MessageContext) {
  const { reason: why, retryAfterMs } = failure;
  const atMs = about.context.clock.nowMs() + (retryAfterMs ?? 0);
  const again = retryAfterMs ? `retry after ${timeText(atMs, about)}` : '';
  return { why, facts: [httpFact(failure), again].filter(Boolean) };
}

const timeText = (ms: number, { context, style }: MessageContext) =>
  style.time(ms, context.clock.nowMs());
