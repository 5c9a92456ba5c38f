import { type Command, CommanderError } from 'commander';
import { createProgram } from './cli.ts';
import { type CommandResult, subcommandNamed } from './commands/command.ts';
import type { CommonFlags, Context } from './context.ts';
import { exitCodeOf, exitNameOfSeveral } from './core/exit-codes.ts';
import { exitNameOf, Problem, type Report } from './core/report.ts';
import { problemReport } from './output/message.ts';
import { print } from './output/print.ts';
import { createProgress } from './output/progress.ts';
import { resolveSettings } from './settings/settings.ts';
import { cleanLine } from './text/clean.ts';

/** The world before a command line was read. */
export type World = Omit<Context, 'command' | 'flags' | 'emit'>;

type Action = (context: Context) => Promise<CommandResult>;

/** Runs a command line, prints what comes of it, and returns the exit code. */
export async function runCli(argv: readonly string[], world: World): Promise<number> {
  let exitCode = exitCodeOf('internal_error');
  const program = createProgram(async (name, flags, action) => {
    exitCode = await execute(name, flags, action, world);
  });
  const forHelp = argv.length === 0 ? world.stderr : world.stdout;
  forEachCommand(program, (command) =>
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => forHelp.write(text), writeErr: () => {} }),
  );
  if (argv.length === 0) {
    program.outputHelp();
    return exitCodeOf('usage');
  }
  try {
    refuseFlagsAsValues(argv, program);
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return withOutput(0, world);
    const name = nameIn(argv, program);
    const problem = error instanceof CommanderError ? usageProblem(error, name) : error;
    return execute(name, outputFlags(argv), () => Promise.reject(problem), world);
  }
}

async function execute(
  command: string,
  flags: CommonFlags,
  action: Action,
  world: World,
): Promise<number> {
  const base = { ...world, command, flags };
  const progress = createProgress(base);
  const context: Context = { ...base, emit: progress.emit };
  let result: CommandResult;
  try {
    result = await action(context);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    result = { reports: [problemReport(error)], show: 'text' };
  } finally {
    progress.stop();
  }
  const { warnings } = progress;
  await print(result, context, { warnings, project: projectInForce(context) });
  const unwritten = (await world.stdout.flush()) ?? (await world.stderr.flush());
  if (!unwritten) result.afterPrint?.();
  const name = exitNameOfSeveral(result.reports.map(exitNameOf));
  return withOutput(result.exitCode ?? exitCodeOf(name, world.signal), world, result.reports);
}

/** Undefined also if a setting is wrong, which the command has said if it matters. */
function projectInForce(context: Context): string | undefined {
  try {
    return resolveSettings(context).project?.value;
  } catch {
    return undefined;
  }
}

/** Output that couldn't be written replaces a 0. A run is never lost, even if its id can't be. */
async function withOutput(
  exitCode: number,
  { stdout, stderr }: World,
  reports: readonly Report[] = [],
): Promise<number> {
  const error = await stdout.flush();
  if (!error) return exitCode;
  const runs = reports.flatMap((report) =>
    report.kind !== 'done' && report.trigger && report.executionId !== undefined
      ? `  ${cleanLine(report.automation.name)} is run ${report.executionId}\n`
      : [],
  );
  const hasReaderLeft = 'code' in error && error.code === 'EPIPE';
  if (!hasReaderLeft || runs.length > 0) {
    stderr.write(`runctl: the output couldn't be written: ${error.message}\n${runs.join('')}`);
  }
  return exitCode || exitCodeOf(hasReaderLeft ? 'pipe_closed' : 'io_error');
}

function forEachCommand(command: Command, change: (command: Command) => void): void {
  change(command);
  for (const child of command.commands) forEachCommand(child, change);
}

/** The command that was typed, such as `config set`, in words that can't be read otherwise. */
function nameIn(argv: readonly string[], program: Command): string {
  const names: string[] = [];
  let command = program;
  for (const word of argv) {
    const child = subcommandNamed(command, word);
    if (child) names.push(child.name());
    command = child ?? command;
  }
  return names.join(' ');
}

/** What follows `--` belongs to another command. */
const beforeSeparator = (argv: readonly string[]) =>
  argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;

/** The flags that say how an error is printed. */
function outputFlags(argv: readonly string[]): CommonFlags {
  const words = beforeSeparator(argv).flatMap((word) => word.split(/(?<=^--field)=/));
  const index = words.indexOf('--field');
  return { json: words.includes('--json'), field: index === -1 ? undefined : words[index + 1] };
}

/** commander takes the next word as a flag's value, even if it is the next flag. */
function refuseFlagsAsValues(argv: readonly string[], program: Command): void {
  const flags = new Set<string | undefined>();
  forEachCommand(program, ({ options }) => {
    for (const { required, long, short } of options) if (required) flags.add(long).add(short);
  });
  for (const [index, word] of beforeSeparator(argv).entries()) {
    const value = argv[index + 1];
    if (flags.has(word) && value?.startsWith('-') && value !== '-') {
      throw new Problem(`${word} needs a value, and ${value.split('=')[0]} is a flag`);
    }
  }
}

/** Words that people type who know other tools. */
const hintsForWords = new Map([
  ['start', 'did you mean trigger?'],
  ['run', 'did you mean trigger?'],
  ['logs', 'did you mean result?'],
  ['output', 'did you mean result?'],
  ['login', 'did you mean config?'],
  ['init', 'did you mean config?'],
  ['cancel', "the service can't cancel a run"],
  ['stop', "the service can't cancel a run"],
]);

/** In commander's words. A value behind `=` may be a secret, so it isn't repeated. */
function usageProblem({ message }: CommanderError, name: string): Problem {
  const text = message
    .replace('(outputHelp)', `${name} needs a command`.trimStart())
    .replace(/^error: /, '')
    .replace(/^(unknown command '(\w+)').*/s, (all, start, word) => {
      const hint = hintsForWords.get(word);
      return hint ? `${start}: ${hint}` : all;
    })
    .replace(/^missing required argument '(.*)'$/, 'missing argument <$1>')
    .replace(/^option '(?:-\w, )?(--[\w-]+) <\w+>' argument '(.*)' is invalid/, '$1 $2 is invalid')
    .replace(/^(unknown )?option/, '$1flag')
    .replace(/(--[\w-]+)=[^\s']*/g, '$1=…')
    .replace(/\s+\(Did you mean (.*)\?\)$/, ': did you mean $1?');
  return new Problem(text, { command: `runctl help ${name}`.trimEnd() });
}
