import type { RunEvent } from '../run/ports.ts';
import { isSameAutomation, type Run } from '../run/run.ts';
import type { Warning } from './document.ts';
import { changeBy, type FollowedRun, type ProgressContext } from './followed-run.ts';
import { createLog } from './log.ts';
import { createSpinner } from './spinner.ts';
import { plainStyle } from './style.ts';

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
  const runs: FollowedRun[] = [];
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
        const run = runOf('run' in event ? event.run : event, runs);
        Object.assign(run, changeBy(event, clock.elapsedMs()));
        view?.update();
      }
    },
  };
}

/** The run that an event is about. Before the service has given its id, its automation names it. */
function runOf(
  { automation, executionId }: Partial<Run> & Pick<Run, 'automation'>,
  runs: FollowedRun[],
) {
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
