import type { Context } from '../context.ts';
import type { Reporter, ReporterOptions } from './reporter.ts';

/** Events where data is wanted as it happens, nothing where quiet is, a board on a terminal, plain lines elsewhere. */
export async function createReporter(options: ReporterOptions, context: Context): Promise<Reporter> {
  if (options.events) {
    const { createEventReporter } = await import('./events.ts');
    return createEventReporter(context, options.runs);
  }
  if (options.quiet) return silentReporter;
  // A terminal of no columns makes a spinner write megabytes.
  if (context.stderr.isTTY && context.terminal.columns > 0 && context.env.TERM !== 'dumb') {
    const { createBoard } = await import('./board.ts');
    return createBoard(options, context);
  }
  const { createLineReporter } = await import('./log-reporter.ts');
  return createLineReporter(context);
}

export const silentReporter: Reporter = { observe() {}, say() {}, stop() {} };
