import { endedBy, type Invocation } from '../context.ts';
import type { Document } from '../output/document.ts';
import { nameOf, type Run } from '../run/run.ts';
import { isInterrupted } from '../system/clock.ts';
import { runHook } from './run-hook.ts';

export type FinalHooks = ReturnType<typeof createFinalHooks>;

const mostAtOnce = 8;
const longestWaitMs = 600_000;

/** The `--on-final` hooks. Failures are reported, but don't change the exit code. Without a command, nothing runs. */
export function createFinalHooks(command: string | undefined, context: Invocation) {
  const { clock, reporter, signal } = context;
  const inTurn = createTurns(mostAtOnce);
  const tooLate = new AbortController();
  const running = new Set<Promise<void>>();

  async function runFor(run: Run, document: Document, shellCommand: string): Promise<void> {
    const how = await inTurn(async () => {
      if (isInterrupted(signal)) return 'was not run: interrupted';
      if (tooLate.signal.aborted) return 'was not run: earlier commands took too long';
      return runHook({ command: shellCommand, documents: [document] }, endedBy(context, tooLate.signal));
    });
    if (!how) return;
    const code = isInterrupted(signal) ? '' : "; the exit code is still the run's";
    const message = `the --on-final command for run ${run.executionId} of ${nameOf(run.target)} ${how}${code}`;
    reporter.observe({ event: 'warning', name: 'hook_failed', message, run });
  }

  return {
    /** Runs a run's hook as soon as fewer than eight others are running. */
    start(run: Run, document: Document): void {
      if (command === undefined) return;
      const one = runFor(run, document, command).finally(() => running.delete(one));
      running.add(one);
    },
    /** Waits for all hooks. After ten minutes, stops those that are still running. */
    async waitForAll() {
      if (running.size === 0) return;
      const allEnded = new AbortController();
      void clock.sleep(longestWaitMs, allEnded.signal).then(() => tooLate.abort('the time limit for hooks expired'));
      await Promise.all(running);
      allEnded.abort();
    },
  };
}

export type Turns = <T>(action: () => Promise<T>) => Promise<T>;

/** Runs at most this many actions at once, in the order in which they came. */
export function createTurns(most: number): Turns {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (action) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await action();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
