import type { CommandContext, Sink } from '../context.ts';
import type { Reporter, WarningEvent } from '../run/events.ts';
import { fullNameOf } from '../run/run.ts';
import type { BoardOptions } from './board.ts';
import type { OutputOptions } from './command-result.ts';
import { createLogReporter } from './log-reporter.ts';

/**
 * Makes the reporter of a command, which writes to stderr. With `--quiet`, it writes only warnings.
 */
export function createReporter(options: OutputOptions, context: CommandContext): Reporter {
  return keepingWarnings(createLogReporter(context, options), context);
}

/** Wraps a reporter so that warnings are also kept for the documents. */
function keepingWarnings(reporter: Reporter, { warnings }: CommandContext): Reporter {
  return {
    emit(event) {
      const isNew =
        event.event === 'warning' && !warnings.some((earlier) => isSameWarning(earlier, event));
      if (isNew) warnings.push(event);
      reporter.emit(event);
    },
    stop() {
      reporter.stop();
    },
  };
}

/** Two runs may have a warning with the same message, and each has a document of its own. */
function isSameWarning(one: WarningEvent, other: WarningEvent): boolean {
  return one.message === other.message && subjectNameOf(one) === subjectNameOf(other);
}

/** What a warning is about, or undefined if it is about the whole command. */
const subjectNameOf = ({ run, target }: WarningEvent): string | undefined =>
  run?.executionId ?? (target && fullNameOf(target));

/**
 * Makes the context for watching runs. On a terminal it has a board, and everything else is
 * written above the board.
 */
export async function contextWithBoard(
  { quiet, debug }: OutputOptions & { debug?: boolean },
  boardOptions: BoardOptions,
  context: CommandContext,
): Promise<CommandContext> {
  const { stdout, rawStdout, stderr, env } = context;
  // On a terminal of 0 columns, a spinner would write megabytes.
  const hasBoard = stderr.isTTY && context.terminal().columns > 0 && env.TERM !== 'dumb';
  if (quiet || debug || !hasBoard) return context;
  const { createBoard } = await import('./board.ts');
  const board = createBoard(boardOptions, createLogReporter(context), context);
  const above = (sink: Sink): Sink => ({
    ...sink,
    write: (text) => board.above(() => sink.write(text)),
  });
  const withBoard = {
    ...context,
    reporter: keepingWarnings(board, context),
    stderr: above(stderr),
  };
  // A pipe or a file isn't on the terminal, so what is written to it is not in the way of the board.
  if (!stdout.isTTY) return withBoard;
  return { ...withBoard, stdout: above(stdout), rawStdout: rawStdout && above(rawStdout) };
}
