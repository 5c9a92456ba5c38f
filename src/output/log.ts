import {
  type FollowedRun,
  isFinished,
  isShown,
  type ProgressContext,
  type ProgressView,
  progressText,
} from './followed-run.ts';
import { plainStyle } from './style.ts';
import { logTime } from './time.ts';

/** Silence makes CI systems end a job. */
const maxQuietMs = 300_000;
const checkMs = 30_000;

/** A line with its time for each change, and one every five minutes. */
export function createLog(runs: readonly FollowedRun[], context: ProgressContext): ProgressView {
  const { stderr, clock, flags } = context;
  const style = plainStyle(stderr, context);
  const hasSummary = !flags.json && flags.field === undefined;
  const told = new Map<FollowedRun, string>();
  let toldAtMs = clock.elapsedMs();

  function write(text: string): void {
    toldAtMs = clock.elapsedMs();
    stderr.write(`${logTime(clock.nowMs())} ${text}\n`);
  }

  const textOf = (run: FollowedRun) =>
    `${style.line(run.automation.name)} ${progressText(run, style, context)}`;

  function tellChange(run: FollowedRun): void {
    const change = changeOf(run);
    if (change === undefined || told.get(run) === change) return;
    // The id is said with the first line that can have it.
    const hasNewId = run.executionId && !told.get(run)?.startsWith('run ');
    told.set(run, change);
    const isSummaryNext = isFinished(run) && hasSummary && runs.length === 1;
    if (!isSummaryNext) write(textOf(run) + (hasNewId ? `, run ${run.executionId}` : ''));
  }

  function update(): void {
    const shown = runs.filter(isShown);
    shown.forEach(tellChange);
    const left = shown.filter((run) => !isFinished(run));
    if (left.length > 0 && clock.elapsedMs() - toldAtMs >= maxQuietMs) {
      write(left.map(textOf).join(', '));
    }
  }

  // It doesn't keep the process alive.
  const timer = setInterval(update, checkMs).unref();
  return { update, stop: () => clearInterval(timer) };
}

/** What a line is worth: another text than the last time. Undefined if nothing is known yet. */
function changeOf({ executionId, status, silence, isWaiting, isStarted }: FollowedRun) {
  const about = executionId ? 'run ' : '';
  if (silence) return `${about}silent ${Math.floor(silence.silentMs / maxQuietMs)}`;
  if (status) return about + status.status;
  if (isWaiting) return `${about}waiting`;
  return isStarted ? `${about}RUNNING` : undefined;
}
