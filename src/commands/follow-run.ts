import type { Context } from '../context.ts';
import { createReporter } from '../render/create-reporter.ts';
import type { OutputOptions } from '../render/output.ts';
import type { Reporter } from '../render/reporter.ts';
import { type Ending, follow } from '../runs/follow.ts';
import { createPace, jitter, type Pace } from '../runs/pace.ts';
import { isFinal, type Target } from '../runs/run.ts';
import type { Execution } from '../runs/service.ts';
import type { Connection } from './connect.ts';
import type { KnownRun } from './known-runs.ts';
import { runOnFinal } from './on-final.ts';

export interface FollowFlags extends OutputOptions {
  intervalMs?: number;
  /** 0 for ever. */
  timeoutMs?: number;
  giveUpAfterMs?: number;
  /** A shell command. */
  onFinal?: string;
  bell?: boolean;
}

const defaultTimeoutMs = 3.25 * 3_600_000;
const defaultGiveUpAfterMs = 600_000;

/** The time limit of `--timeout`: for a run's end and for a free slot (contract §8). */
export function timeoutMsOf({ timeoutMs = defaultTimeoutMs }: { timeoutMs?: number }): number {
  return timeoutMs === 0 ? Number.POSITIVE_INFINITY : timeoutMs;
}

/** Follows one run to its end: tells the reporter, journals what it learns, runs `--on-final`. */
export async function followRun(
  { run, triggeredAtMs, known }: KnownRun & { known?: Execution },
  flags: FollowFlags,
  connection: Connection,
  reporter: Reporter,
  context: Context,
): Promise<Ending> {
  const { journal, baseUrl, service, budget, tempo } = connection;
  const { clock, random, signal } = context;
  const ending = await follow(
    run,
    {
      pace: paceOf(run.target, flags, connection, random),
      timeoutMs: timeoutMsOf(flags),
      giveUpAfterMs: flags.giveUpAfterMs ?? defaultGiveUpAfterMs,
      triggeredAtMs,
      known,
    },
    {
      service,
      budget,
      tempo,
      clock,
      random,
      signal,
      observe: (event) => {
        if (event.event === 'status' && event.changed) journal.sawState(baseUrl, run, event.execution);
        if (event.event === 'waiting')
          connection.debug?.(`next look at ${run.executionId} in ${Math.round(event.nextLookMs)} ms`);
        if (event.event === 'poll_failed') connection.debug?.(`${event.fault.kind}: ${event.fault.message}`);
        reporter.observe(event);
      },
    },
  );
  if (flags.onFinal && ending.execution && isFinal(run.target, ending.execution.status)) {
    await runOnFinal(flags.onFinal, ending, context);
  }
  return ending;
}

function paceOf(target: Target, { intervalMs }: FollowFlags, { history }: Connection, random: () => number): Pace {
  if (intervalMs !== undefined) return { gapMs: () => intervalMs };
  const pace = createPace({ durationsMs: history(target) });
  return { gapMs: (ageMs) => jitter(pace.gapMs(ageMs), random) };
}

/** Who tells of runs of these targets while they are followed. */
export function reporterFor(
  targets: readonly Target[],
  flags: OutputOptions & { bell?: boolean },
  { history }: Connection,
  context: Context,
): Promise<Reporter> {
  return createReporter({ ...flags, runs: targets.length, history }, context);
}
