import { argument, defineCommand, flag, type OptionValues } from '../cli/define-command.ts';
import { followOptions, runOptions } from '../cli/options.ts';
import { readText } from '../config/read-text.ts';
import { type Context, endedBy } from '../context.ts';
import { type Problem, usageProblem } from '../problems/problem.ts';
import { leavesRun } from '../problems/watch-problems.ts';
import { createReporter } from '../render/create-reporter.ts';
import { documentOf } from '../render/document.ts';
import { printSentence } from '../render/output.ts';
import type { Ending } from '../runs/follow.ts';
import type { FollowEvent } from '../runs/follow-event.ts';
import { isFinal, nameOf } from '../runs/run.ts';
import { parseRunArgument } from '../session/arguments.ts';
import { type Connection, connect } from '../session/connect.ts';
import { findRun, type KnownRun, knownRun } from '../session/find-run.ts';
import { type FollowFlags, followRun, reporterFor } from '../session/follow-run.ts';
import { createEarlyWord, exitCodeOfEnding, type Outcome, tellOutcomes } from '../session/report.ts';

const options = {
  all: flag('--all', 'every run of the journal that has not ended'),
  failFast: flag('--fail-fast', 'stop watching once a run did not complete, and end with its code'),
  ...runOptions,
  ...followOptions,
};

type WatchOptions = OptionValues<typeof options>;

export const watch = defineCommand({
  name: 'watch',
  about: 'follow runs until every one has ended, then print their summaries',
  arguments: {
    runs: argument('[run...]', 'runs as for status; - reads them from standard input, one a line'),
  },
  options,
  examples: [
    ['runctl watch', 'the last run'],
    ['runctl watch nightly@last weekly@last', 'two of them on one board'],
    ['runctl watch --all', 'every run that has not ended'],
    ['runctl watch --timeout 10m --quiet', 'silent unless something is wrong; 124 after ten minutes'],
    ['runctl watch --on-final \'notify-send runctl "$RUNCTL_STATUS"\'', 'a command of your own when it has ended'],
  ],
  run: ({ runs }, options, context) => watchRuns(runs, options, context),
});

async function watchRuns(runArguments: string[], options: WatchOptions, context: Context): Promise<number> {
  if (options.all && runArguments.length > 0) throw usageProblem('--all takes no run arguments');
  const fromStdin = runArguments.includes('-');
  if (fromStdin && options.apiKeyFile === '-')
    throw usageProblem('standard input gives either the runs or the API key');
  const texts = fromStdin ? await withStdin(runArguments, context) : runArguments;
  if (fromStdin && texts.length === 0) throw usageProblem('standard input named no run');
  const named = (texts.length > 0 ? texts : ['@last']).map(parseRunArgument);
  const needed = options.all || named.some(({ kind }) => kind === 'last');
  const connection = await connect(options, context, { needed });
  const runs = options.all ? goingRuns(connection) : named.map((argument) => findRun(argument, options, connection));
  if (runs.length === 0) {
    if (!options.quiet) await printSentence('every run this machine knows has ended', context);
    if (options.json) context.stdout.write('[]\n');
    if (options.events) (await createReporter({ ...options, runs: 2, history: () => [] }, context)).last?.([], false);
    return 0;
  }
  const plural = runs.length > 1 || fromStdin || options.all === true;
  return followAll(runs, { ...options, plural }, connection, context);
}

/** Follows runs side by side, each once, then tells how each ended, in the order given. */
export async function followAll(
  runs: KnownRun[],
  flags: FollowFlags & { plural: boolean; failFast?: boolean },
  connection: Connection,
  context: Context,
): Promise<number> {
  const keyOf = ({ run }: KnownRun) => JSON.stringify(run);
  const distinct = new Map(runs.map((known) => [keyOf(known), known]));
  const options = { ...flags, runs: distinct.size };
  const reporter = await reporterFor(options, connection, context);
  try {
    const enough = new AbortController();
    const watching = endedBy(context, context.stdout.closed);
    const { signal: leave } = endedBy(watching, enough.signal);
    // A run that was left because of another's end has no problem of its own.
    const isLeft = (problem: Problem) => enough.signal.aborted && !context.signal.aborted && leavesRun(problem);
    const observe = (event: FollowEvent) => {
      if (event.event !== 'problem' || !isLeft(event.problem)) reporter.observe(event);
    };
    const tellEarly = createEarlyWord(reporter, distinct.size);
    const followOne = async (known: KnownRun): Promise<Outcome> => {
      const ending = await followRun(known, options, connection, { observe }, watching, leave);
      if (ending.problem && isLeft(ending.problem))
        return { ...outcomeOf({ ...ending, problem: undefined }), left: true };
      if (options.failFast && exitCodeOfEnding(ending) !== 0) enough.abort('--fail-fast');
      const outcome = outcomeOf(ending);
      tellEarly(outcome);
      return outcome;
    };
    const follows = new Map([...distinct].map(([key, known]) => [key, followOne(known)]));
    const outcomes = await Promise.all(runs.map((known) => follows.get(keyOf(known)) as Promise<Outcome>));
    return await tellOutcomes(outcomes, { ...options, project: connection.hintProject }, reporter, context);
  } finally {
    reporter.stop();
  }
}

function outcomeOf(ending: Ending): Outcome {
  return {
    about: nameOf(ending.run.target),
    document: documentOf(ending),
    ending: isOver(ending) ? ending : undefined,
    problem: ending.problem,
  };
}

const isOver = ({ run, execution }: Ending): boolean =>
  execution !== undefined && isFinal(run.target, execution.status);

function goingRuns({ journal, baseUrl }: Connection): KnownRun[] {
  const going: KnownRun[] = [];
  for (const record of journal.runs({ baseUrl })) {
    const { executionId, target, status } = record;
    if (executionId === null || status === null || isFinal(target, status)) continue;
    going.push(knownRun(record, { target, executionId }));
  }
  return going.reverse();
}

const mostBytes = 16 * 1024 * 1024;

async function withStdin(runArguments: string[], { stdin, signal }: Context): Promise<string[]> {
  const text = await readText(stdin, { what: 'standard input', mostBytes }, signal);
  const lines = text.split(/\r?\n/);
  const named = lines.map((line) => line.trim()).filter((line) => line !== '');
  return runArguments.flatMap((argument) => (argument === '-' ? named : [argument]));
}
