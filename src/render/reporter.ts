import { type Context, variantOf } from '../context.ts';
import type { Reporter, RunEvent } from '../runs/events.ts';
import type { BoardOptions } from './board.ts';
import { createEventReporter } from './event-reporter.ts';
import { createLogReporter } from './log-reporter.ts';
import type { OutputOptions } from './output.ts';

export interface ReporterOptions extends OutputOptions {
  bell?: boolean;
}

/** The reporter of a command. It writes to stderr, only warnings with `--quiet` or `--events`. */
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

/** Keeps a warning for the documents. */
function keepWarning(event: RunEvent, { warnings }: Context): void {
  if (event.event === 'warning' && !warnings.some(({ message }) => message === event.message)) warnings.push(event);
}

/** The context for following runs: on a terminal there is a board, and stderr is written above it. */
export async function contextWithBoard(
  { quiet, events, debug }: OutputOptions & { debug?: boolean },
  follow: BoardOptions,
  context: Context,
): Promise<Context> {
  const { stderr, env } = context;
  // On a terminal of 0 columns, a spinner would write megabytes.
  const hasBoard = stderr.isTTY && context.terminal.columns > 0 && env.TERM !== 'dumb';
  if (quiet || events || debug || !hasBoard) return context;
  const { createBoard } = await import('./board.ts');
  const board = createBoard(follow, context);
  const reporter: Reporter = {
    observe(event) {
      keepWarning(event, context);
      board.observe(event);
    },
    stop: board.stop,
  };
  return variantOf(context, { reporter, stderr: Object.assign(Object.create(stderr), { write: board.above }) });
}
