import { followMachine } from '../actions/follow-machine.ts';
import { followAll } from '../actions/follow-runs.ts';
import { argument, defineCommand, flag, type OptionValues } from '../cli/define-command.ts';
import { followOptions } from '../cli/options.ts';
import { refuseApiKeyIn } from '../config/api-key.ts';
import { readChunks } from '../config/read-text.ts';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import type { CommandResult } from '../render/output.ts';
import { isFromJournal, parseRunArgument, type RunArgument } from '../session/arguments.ts';
import { connect } from '../session/connect.ts';
import type { Connection } from '../session/connection.ts';
import { findRun } from '../session/find-run.ts';
import { type RunToPoll, runToPollOf } from '../session/run-to-poll.ts';

const options = {
  all: { ...flag('--all', 'every unfinished run of the journal'), refuses: ['runs'] },
  follow: {
    ...flag('--follow', 'every unfinished run, and every run triggered on this machine from now on'),
    refuses: ['runs', 'timeoutMs', 'failFast', 'json', 'field'],
    instead: '`--follow` runs until a signal ends it; `--events` gives its data',
  },
  failFast: flag('--fail-fast', "stop at the first run that doesn't complete and exit with its code"),
  ...followOptions,
};

type WatchOptions = OptionValues<typeof options>;

export const watch = defineCommand({
  name: 'watch',
  about: 'follow runs until they finish and print summaries',
  arguments: {
    runs: argument('[run...]', 'as for `runctl status`; - reads runs from standard input, one per line'),
  },
  options,
  examples: [
    ['runctl watch', 'the last run'],
    ['runctl watch nightly weekly', 'the last runs of two automations'],
    ['runctl watch --all', 'every unfinished run'],
    ['runctl watch --follow', 'every run on this machine, including later ones'],
    ['runctl watch --timeout 10m --quiet', 'print only errors; exit with 124 after ten minutes'],
    ['runctl watch --on-final \'notify-send runctl "$RUNCTL_STATUS"\'', 'run a command when the run has finished'],
  ],
  async run({ runs: runArguments }, options, context) {
    const fromStdin = runArguments.includes('-');
    if (fromStdin && options.apiKeyFile === '-')
      throw usageProblem("standard input can't be both the runs and the API key");
    const texts = runArguments.length > 0 ? runArguments.filter((text) => text !== '-') : ['@last'];
    const named = texts.map(parseRunArgument);
    const needed = options.all || named.some(isFromJournal);
    if (options.follow) return followAllRuns(options, context);
    const connection = await connect(options, context, { needed });
    const runs = options.all ? unfinishedRuns(connection) : await findRuns(named, connection);
    if (fromStdin) {
      const more = runsOfInput(runs.length === 0, connection);
      return followAll(runs, options, connection, more);
    }
    if (runs.length === 0) {
      return { note: options.quiet ? undefined : 'No unfinished runs.' };
    }
    return followAll(runs, options, connection);
  },
});

async function followAllRuns(options: WatchOptions, context: Context): Promise<CommandResult> {
  const connection = await connect(options, context, { needed: true });
  return followMachine(unfinishedRuns, options, connection);
}

/** The runs of standard input, as they come. Throws a usage problem for a line that names none, and for no run if one `mustBe` there. */
async function* runsOfInput(mustBe: boolean, connection: Connection): AsyncGenerator<RunToPoll> {
  let isEmpty = mustBe;
  for await (const line of readInputLines(connection.context.stdin)) {
    refuseApiKeyIn([line], connection.context);
    yield findRun(parseRunArgument(line), connection);
    isEmpty = false;
  }
  if (isEmpty) throw usageProblem('standard input names no run');
}

async function findRuns(named: RunArgument[], connection: Connection): Promise<RunToPoll[]> {
  const runs: RunToPoll[] = [];
  for (const argument of named) runs.push(await findRun(argument, connection));
  return runs;
}

function unfinishedRuns({ journal, baseUrl, context }: Connection): RunToPoll[] {
  const unfinished = journal.unfinishedRuns({ baseUrl }).reverse();
  return unfinished.map((recorded) => {
    const { target, executionId } = recorded;
    return runToPollOf({ target, executionId }, recorded, context.clock);
  });
}

const longestLine = 64 * 1024;

/** The lines, trimmed, without empty ones. Throws a usage problem for an endless line and an unreadable stream. */
async function* readInputLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of readChunks(stream, 'standard input')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine)
      throw usageProblem(`a line of standard input is longer than ${longestLine} characters`);
    yield* lines.map((line) => line.trim()).filter((line) => line !== '');
  }
  if (rest.trim() !== '') yield rest.trim();
}
