import type { Invocation } from '../context.ts';
import type { Reporter } from '../runs/events.ts';
import type { BoardOptions } from './board-state.ts';
import { createEventReporter } from './event-reporter.ts';
import { createLogReporter } from './log-reporter.ts';
import type { OutputOptions } from './output.ts';

/** The reporter of a command. It writes to stderr, only warnings with `--quiet` or `--events`. */
export function createReporter(options: OutputOptions, context: Invocation): Reporter {
  const log = createLogReporter(context, options);
  return together(options.events ? [createEventReporter(context), log] : [log], context);
}

/** Several reporters as one, which keeps the warnings for the documents. */
function together(reporters: readonly Reporter[], { warnings }: Invocation): Reporter {
  return {
    observe(event) {
      const isNew = event.event === 'warning' && !warnings.some(({ message }) => message === event.message);
      if (isNew) warnings.push(event);
      for (const reporter of reporters) reporter.observe(event);
    },
    stop() {
      for (const reporter of reporters) reporter.stop();
    },
  };
}

/** The context for following runs: on a terminal there is a board, and stderr is written above it. */
export async function contextWithBoard(
  { quiet, events, debug }: OutputOptions & { debug?: boolean },
  follow: BoardOptions,
  context: Invocation,
): Promise<Invocation> {
  const { stderr, env } = context;
  // On a terminal of 0 columns, a spinner would write megabytes.
  const hasBoard = stderr.isTTY && context.terminal().columns > 0 && env.TERM !== 'dumb';
  if (quiet || events || debug || !hasBoard) return context;
  const { createBoard } = await import('./board.ts');
  const board = createBoard(follow, context);
  const above = { ...stderr, write: board.above };
  return { ...context, reporter: together([board], context), stderr: above };
}
