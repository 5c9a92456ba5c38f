import { readText } from '../config/read-text.ts';
import { type Context, endedBy } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { createReporter } from '../render/create-reporter.ts';
import { printSentence } from '../render/output.ts';
import { isFinal } from '../runs/run.ts';
import type { FollowedArgument } from '../session/argument-result.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { type ConnectOptions, connect } from '../session/connect.ts';
import { findRun, type KnownRun, knownRun, type RunFlags } from '../session/find-run.ts';
import { type FollowFlags, failFastReason, followRun } from '../session/follow-run.ts';
import { createEarlyReport, exitCodeOfResult, reportResults } from '../session/report.ts';
import { type Session, sessionEndedBy, withReporter } from '../session/session.ts';
import { expectLongWatch } from '../v8-flags.ts';

export interface WatchOptions extends ConnectOptions, RunFlags, FollowFlags {
  all?: boolean;
  failFast?: boolean;
}

/** `runctl watch [run]…`: follows runs until every one has reached a final state, then prints their summaries. */
export async function watch(runArguments: string[], options: WatchOptions, context: Context): Promise<number> {
  if (options.all && runArguments.length > 0) throw usageProblem('--all takes no run arguments');
  const fromStdin = runArguments.includes('-');
  if (fromStdin && options.apiKeyFile === '-')
    throw usageProblem('standard input gives either the runs or the API key');
  const texts = fromStdin ? await withStdin(runArguments, context) : runArguments;
  if (fromStdin && texts.length === 0) throw usageProblem('standard input named no run');
  const named = (texts.length > 0 ? texts : ['@last']).map(parseRunArgument);
  const needed = options.all || named.some(({ kind }) => kind === 'last');
  const session = await connect(options, context, { needed });
  const runs = options.all ? unfinishedRuns(session) : named.map((argument) => findRun(argument, options, session));
  if (runs.length === 0) {
    if (!options.quiet) await printSentence('every run this machine knows has ended', context);
    if (options.json) context.stdout.write('[]\n');
    if (options.events) (await createReporter({ ...options, runs: 2, history: () => [] }, context)).last?.([], false);
    return 0;
  }
  const plural = runs.length > 1 || fromStdin || options.all === true;
  return followAll(runs, { ...options, plural }, session);
}

/** Follows runs side by side, each once, then reports how each ended, in the order given. */
export async function followAll(
  runs: KnownRun[],
  flags: FollowFlags & { plural: boolean; failFast?: boolean },
  base: Session,
): Promise<number> {
  const keyOf = ({ run }: KnownRun) => JSON.stringify(run);
  const distinct = new Map(runs.map((known) => [keyOf(known), known]));
  const session = await withReporter(base, flags, distinct.size);
  const { context, reporter } = session;
  expectLongWatch();
  try {
    const enough = new AbortController();
    const watching = sessionEndedBy(session, context.stdout.closed);
    const { signal: leave } = endedBy(watching.context, enough.signal);
    const reportEarly = createEarlyReport(session, distinct.size);
    const followOne = async (known: KnownRun): Promise<FollowedArgument> => {
      const result = { kind: 'followed', ...(await followRun(known, flags, watching, { leave })) } as const;
      if (flags.failFast && exitCodeOfResult(result) !== 0) enough.abort(failFastReason);
      reportEarly(result);
      return result;
    };
    const follows = new Map([...distinct].map(([key, known]) => [key, followOne(known)]));
    const results = await Promise.all(runs.map((known) => follows.get(keyOf(known)) as Promise<FollowedArgument>));
    return await reportResults(results, flags, session);
  } finally {
    reporter.stop();
  }
}

function unfinishedRuns({ journal, baseUrl }: Session): KnownRun[] {
  const unfinished: KnownRun[] = [];
  for (const record of journal.runs({ baseUrl })) {
    const { executionId, target, status } = record;
    if (executionId === null || status === null || isFinal(target, status)) continue;
    unfinished.push(knownRun(record, { target, executionId }));
  }
  return unfinished.reverse();
}

const mostBytes = 16 * 1024 * 1024;

async function withStdin(runArguments: string[], { stdin, signal }: Context): Promise<string[]> {
  const text = await readText(stdin, { what: 'standard input', mostBytes }, signal);
  const lines = text.split(/\r?\n/);
  const named = lines.map((line) => line.trim()).filter((line) => line !== '');
  return runArguments.flatMap((argument) => (argument === '-' ? named : [argument]));
}
