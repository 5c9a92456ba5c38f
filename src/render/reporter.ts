import type { Context } from '../context.ts';
import type { Reporter, RunEvent } from '../runs/events.ts';
import type { BoardOptions } from './board.ts';
import { createEventReporter } from './event-reporter.ts';
import { createLogReporter } from './log-reporter.ts';
import type { OutputOptions } from './output.ts';

export interface ReporterOptions extends OutputOptions {
  /** Ring when all is done. */
  bell?: boolean;
}

/** The reporter of a command: lines on stderr, of warnings alone where quiet or events are wanted. */
export function createReporter(options: ReporterOptions, context: Context): Reporter {
  const log = createLogReporter(context, options);
  const reporters = options.events ? [createEventReporter(context), log] : [log];
  return {
    observe(event) {
      keepWarning(event, context);
      for (const reporter of reporters) reporter.observe(event);
    },
    stop() {},
  };
}

/** What is said to people is in the documents, too. */
function keepWarning(event: RunEvent, { warnings }: Context): void {
  if (event.event === 'warning' && !warnings.some(({ message }) => message === event.message)) warnings.push(event);
}

/** The reporter while runs are followed: on a terminal a board of them, else that of the command. */
export async function createFollowReporter(
  { quiet, events }: OutputOptions,
  follow: BoardOptions,
  context: Context,
): Promise<Reporter> {
  const { stderr, terminal, env, reporter } = context;
  // A terminal of no columns makes a spinner write megabytes.
  const hasBoard = stderr.isTTY && terminal.columns > 0 && env.TERM !== 'dumb';
  if (quiet || events || !hasBoard) return reporter;
  const { createBoard } = await import('./board.ts');
  const board = createBoard(follow, context);
  return {
    observe(event) {
      keepWarning(event, context);
      board.observe(event);
    },
    stop: board.stop,
  };
}
