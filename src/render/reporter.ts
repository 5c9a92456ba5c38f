import type { Context } from '../context.ts';
import type { FollowEvent } from '../runs/follow-event.ts';
import type { Target } from '../runs/run.ts';
import type { OutputOptions } from './output.ts';

/** Tells what happens while runs are followed. */
export interface Reporter {
  observe(event: FollowEvent): void;
  /** A sentence for people. */
  say(line: string): void;
  /** The document of `--json` as the last event; only where events are wanted. */
  last?(document: unknown): void;
  /** Leaves the terminal as it was found. */
  stop(): void;
}

export interface ReporterOptions extends OutputOptions {
  /** How many runs are to be followed. */
  runs: number;
  /** Ring when all is over. */
  bell?: boolean;
  /** How long the last completed runs of a target took, in milliseconds, newest first. */
  history(target: Target): readonly number[];
}

/** Events where data is wanted as it happens, nothing where quiet is, a board on a terminal, plain lines elsewhere. */
export async function createReporter(options: ReporterOptions, context: Context): Promise<Reporter> {
  if (options.events) {
    const { createEventReporter } = await import('./events.ts');
    return createEventReporter(context);
  }
  if (options.quiet) return silent;
  // A terminal of no columns makes a spinner write megabytes.
  if (context.stderr.isTTY && context.terminal.columns > 0 && context.env.TERM !== 'dumb') {
    const { createBoard } = await import('./board.ts');
    return createBoard(options, context);
  }
  const { createLineReporter } = await import('./lines.ts');
  return createLineReporter(context);
}

const silent: Reporter = { observe() {}, say() {}, stop() {} };
