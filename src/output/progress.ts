import type { RunEvent, RunOrAutomation } from '../core/ports.ts';
import { isSameAutomation } from '../core/run.ts';
import type { Warning } from './document.ts';
import { createSpinner } from './spinner.ts';
import { logTime, plainStyle } from './style.ts';
import {
  changeBy,
  isFinished,
  isShown,
  type ProgressContext,
  type ProgressView,
  progressText,
  type WatchedRun,
} from './watched-run.ts';

/** What a command tells while it works. */
export interface Progress {
  emit(event: RunEvent): void;
  /** Those that it told, for `print`. */
  warnings: readonly Warning[];
  /** Erases what is redrawn. Called before anything is printed, also if a command throws. */
  stop(): void;
}

/** On a terminal lines that are redrawn, elsewhere a line for each change. */
export function createProgress(context: ProgressContext): Progress {
  const { stderr, flags, clock } = context;
  const warnings: Warning[] = [];
  const runs: WatchedRun[] = [];
  const style = plainStyle(stderr, context);
  const createView = style.isTerminal ? createSpinner : createLog;
  const view = flags.quiet ? undefined : createView(runs, context);
  const say = (text: string) => stderr.write(`${style.wrap(`runctl: ${style.line(text)}`)}\n`);
  return {
    stop: () => view?.stop(),
    warnings,
    emit(event) {
      if (event.type === 'note') {
        if (!flags.quiet) say(event.text);
      } else if (event.type === 'warning') {
        say(`warning: ${event.text}`);
        warnings.push(event);
      } else {
        const run = runOf(event.run, runs);
        Object.assign(run, changeBy(event, clock.elapsedMs()));
        view?.update();
      }
    },
  };
}

/** The run that an event is about. Before the service has given its id, its automation names it. */
function runOf({ automation, executionId }: RunOrAutomation, runs: WatchedRun[]) {
  let run = runs.find(
    (each) =>
      isSameAutomation(each.automation, automation) &&
      (!executionId || !each.executionId || each.executionId === executionId),
  );
  if (!run) {
    run = { automation };
    runs.push(run);
  }
  run.executionId ??= executionId;
  return run;
}

/** Silence makes CI systems end a job. */
const maxQuietMs = 300_000;

/** A line with its time for each change, and one every five minutes. */
function createLog(runs: readonly WatchedRun[], context: ProgressContext): ProgressView {
  const { stderr, clock, flags } = context;
  const style = plainStyle(stderr, context);
  const hasSummary = !flags.json && flags.field === undefined;
  const toldChanges = new Map<WatchedRun, string>();
  const toldIds = new Set<string>();

  const write = (text: string) => stderr.write(`${logTime(clock.nowMs())} ${text}\n`);
  const textOf = (run: WatchedRun) =>
    `${style.line(run.automation.name)} ${progressText(run, style, context)}`;

  function tellChange(run: WatchedRun): void {
    const change = changeOf(run);
    if (change === undefined || toldChanges.get(run) === change) return;
    toldChanges.set(run, change);
    const isSummaryNext = isFinished(run) && hasSummary && runs.length === 1;
    if (isSummaryNext) return;
    const { executionId } = run;
    const isNew = executionId !== undefined && !toldIds.has(executionId);
    if (isNew) toldIds.add(executionId);
    write(isNew ? `${textOf(run)}, run ${executionId}` : textOf(run));
  }

  function tellUnfinished(): void {
    const unfinished = runs.filter((run) => isShown(run) && !isFinished(run));
    if (unfinished.length > 0) write(unfinished.map(textOf).join(', '));
  }

  // It doesn't keep the process alive.
  const timer = setInterval(tellUnfinished, maxQuietMs).unref();
  return {
    update: () => runs.filter(isShown).forEach(tellChange),
    stop: () => clearInterval(timer),
  };
}

/** What a line is worth: another text than the last time. Undefined if nothing is known yet. */
function changeOf({ status, silence, isWaiting, isStarted }: WatchedRun): string | undefined {
  if (silence) return 'silent';
  if (status) return status.status;
  if (isWaiting) return 'waiting';
  return isStarted ? 'RUNNING' : undefined;
}
