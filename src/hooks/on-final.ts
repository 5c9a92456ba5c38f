import type { Connection } from '../connection/connection.ts';
import { endedBy, type Invocation } from '../context.ts';
import type { Document } from '../render/document.ts';
import { isInterrupted } from '../runs/clock.ts';
import { nameOf, type Run } from '../runs/run.ts';
import { runHook } from './run-hook.ts';

export type FinalHooks = ReturnType<typeof createFinalHooks>;

const mostAtOnce = 8;
const longestWaitMs = 600_000;

/** Decides which hooks may run, and is told how they exited. */
export interface HookRecord {
  isResumed: boolean; // another process runs the hooks that an interruption prevented
  begin(run: Run): boolean;
  end(run: Run, failure: string | undefined): void;
}

/** The `--on-final` hooks. Failures are reported, but don't change the exit code. Without a command, nothing runs. */
export function createFinalHooks(command: string | undefined, context: Invocation, record?: HookRecord) {
  const { clock, reporter, signal } = context;
  const inTurn = createTurns(mostAtOnce);
  const tooLate = new AbortController();
  const running = new Set<Promise<void>>();
  const left: Run[] = [];

  async function runFor(run: Run, document: Document, shellCommand: string): Promise<void> {
    const how = await inTurn(async () => {
      if (isInterrupted(signal) && record?.isResumed) left.push(run);
      else if (isInterrupted(signal)) return 'was not run: interrupted';
      else if (tooLate.signal.aborted) return 'was not run: earlier commands took too long';
      else if (!record || record.begin(run)) {
        const failure = await runHook(
          { command: shellCommand, documents: [document] },
          endedBy(context, tooLate.signal),
        );
        record?.end(run, failure);
        return failure;
      }
      return undefined;
    });
    if (!how) return;
    const code = isInterrupted(signal) ? '' : "; the exit code is still the run's";
    const message = `${commandFor(run)} ${how}${code}`;
    reporter.observe({ event: 'warning', name: 'hook_failed', message, run });
  }

  return {
    /** The runs whose hooks an interruption left to another process. */
    left,
    /** Runs a run's hook as soon as fewer than eight others are running. Never rejects. */
    async start(run: Run, document: Document) {
      if (command === undefined) return;
      const one = runFor(run, document, command).finally(() => running.delete(one));
      running.add(one);
      await one;
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

export const commandFor = ({ executionId, target }: Run) =>
  `the --on-final command for run ${executionId} of ${nameOf(target)}`;

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

type Recorder = Pick<Connection, 'journal' | 'baseUrl' | 'processes'>;

/** Records a watch's `--on-final` commands. Unlike a follower's, no later process uses the record. */
export function finalHookRecord({ journal, baseUrl, processes }: Recorder): HookRecord {
  const hook = '--on-final';
  return {
    isResumed: false,
    begin({ target, executionId: run }) {
      journal.append({ type: 'command_hook_begun', hook, baseUrl, target, run, process: processes.own });
      return true;
    },
    end({ target, executionId: run }, failure) {
      journal.append({ type: 'command_hook_ended', hook, baseUrl, target, run, failure });
    },
  };
}
