import type { Context } from '../context.ts';
import { documentOf } from '../render/document.ts';
import { printSentence } from '../render/output.ts';
import { parseRunArgument } from '../runs/arguments.ts';
import { usageProblem } from '../runs/problem.ts';
import { isFinal, nameOf } from '../runs/run.ts';
import { type Connection, type ConnectOptions, connect } from './connect.ts';
import { type FollowFlags, followRun, reporterFor } from './follow-run.ts';
import { findRun, type KnownRun, knownRun, type RunFlags } from './known-runs.ts';
import { tellOutcomes } from './tell-runs.ts';

export interface WatchOptions extends ConnectOptions, RunFlags, FollowFlags {
  all?: boolean;
}

/** `runctl watch [run]…`: follows runs until every one has reached a final state, then prints their summaries. */
export async function watch(runArguments: string[], options: WatchOptions, context: Context): Promise<number> {
  if (options.all && runArguments.length > 0) throw usageProblem('--all takes no run arguments');
  const fromStdin = runArguments.includes('-');
  const texts = fromStdin ? await withStdin(runArguments, context) : runArguments;
  if (fromStdin && texts.length === 0) throw usageProblem('standard input named no run');
  const named = (texts.length > 0 ? texts : ['@last']).map(parseRunArgument);
  const connection = await connect(options, context);
  const known = { ...connection, project: connection.settings.project };
  const runs = options.all ? goingRuns(connection) : named.map((argument) => findRun(argument, options, known));
  if (runs.length === 0) {
    if (!options.quiet) await printSentence('every run this machine knows has ended', context);
    if (options.json) context.stdout.write('[]\n');
    return 0;
  }
  const plural = runs.length > 1 || fromStdin || options.all === true;
  return followAll(runs, { ...options, plural }, connection, context);
}

/** Follows runs side by side, then tells how each ended, in the order given. */
export async function followAll(
  runs: KnownRun[],
  options: FollowFlags & { plural: boolean },
  connection: Connection,
  context: Context,
): Promise<number> {
  const reporter = await reporterFor(
    runs.map(({ run }) => run.target),
    options,
    connection,
    context,
  );
  try {
    const endings = await Promise.all(runs.map((run) => followRun(run, options, connection, reporter, context)));
    const outcomes = endings.map((ending) => ({
      about: nameOf(ending.run.target),
      document: documentOf(ending),
      ending,
      problem: ending.problem,
    }));
    return await tellOutcomes(outcomes, options, reporter, context);
  } finally {
    reporter.stop();
  }
}

function goingRuns({ journal, baseUrl }: Connection): KnownRun[] {
  const going: KnownRun[] = [];
  for (const record of journal.runs({ baseUrl })) {
    const { executionId, target, status } = record;
    if (executionId === null || (status !== null && isFinal(target, status))) continue;
    going.push(knownRun(record, { target, executionId }));
  }
  return going.reverse();
}

async function withStdin(runArguments: string[], { stdin }: Context): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  const lines = Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
  const named = lines.map((line) => line.trim()).filter((line) => line !== '');
  return runArguments.flatMap((argument) => (argument === '-' ? named : [argument]));
}
