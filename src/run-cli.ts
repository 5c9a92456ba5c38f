import { type Command, CommanderError } from 'commander';
import { createProgram } from './cli.ts';
import type { CommandResult } from './commands/command.ts';
import type { CommonFlags, Context } from './context.ts';
import { problemReport } from './output/message.ts';
import { print } from './output/print.ts';
import { createProgress } from './output/progress.ts';
import { exitCodeOf, exitNameOfSeveral } from './run/exit-codes.ts';
import { exitNameOf, Problem, type Report } from './run/report.ts';
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
  let help = '';
  forEachCommand(program, (command) =>
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: () => {},
    }),
  );
  if (argv.length === 0) {
    program.outputHelp();
    world.stderr.write(help);
    return exitCodeOf('usage');
  }
  try {
    refuseFlagsAsValues(argv, program);
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      world.stdout.write(help);
      return withOutput(0, world);
    }
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
  await print(result, context, progress.warnings);
  const unwritten = (await world.stdout.flush()) ?? (await world.stderr.flush());
  if (!unwritten) result.afterPrint?.();
  const name = exitNameOfSeveral(result.reports.map(exitNameOf));
  return withOutput(result.exitCode ?? exitCodeOf(name, world.signal), world, result.reports);
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
  let { commands } = program;
  for (const word of argv) {
    const command = commands.find((each) => word === each.name() || word === each.alias());
    if (command) names.push(command.name());
    if (command) ({ commands } = command);
  }
  return names.join(' ');
}

/** The flags that say how an error is printed. */
function outputFlags(argv: readonly string[]): CommonFlags {
  const words = argv.flatMap((word) => word.split(/(?<=^--field)=/));
  const index = words.indexOf('--field');
  return { json: words.includes('--json'), field: index === -1 ? undefined : words[index + 1] };
}

/** commander takes the next word as a flag's value, even if it is the next flag. */
function refuseFlagsAsValues(argv: readonly string[], program: Command): void {
  const flags = new Set<string>();
  forEachCommand(program, ({ options }) => {
    for (const { required, long, short } of options) {
      if (required) for (const flag of [long, short]) if (flag) flags.add(flag);
    }
  });
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  for (const [index, word] of words.entries()) {
    const value = argv[index + 1];
    if (flags.has(word) && value?.startsWith('-') && value !== '-') {
      throw new Problem(`${word} needs a value, and ${value.split('=')[0]} is a flag`);
    }
  }
}

/** commander's sentences in ours. A value behind `=` may be a secret, so it isn't repeated. */
const rewordings: [form: RegExp, text: string][] = [
  [/^error: /, ''],
  [/(--[\w-]+)=[^\s']*/g, '$1=…'],
  [/^unknown option '(.*)'/s, 'unknown flag "$1"'],
  [/^unknown command '(.*)'/s, 'unknown command "$1"'],
  [/\s+\(Did you mean (.*)\?\)$/, ': did you mean $1?'],
  [/^\(outputHelp\)$/, '$ needs a command'],
  [/^missing required argument '([aeiou].*)'/, '$ needs an <$1>'],
  [/^missing required argument '(.*)'/, '$ needs a <$1>'],
  [/^too many arguments.* Expected (.*) but got (.*)\.$/s, '$ takes $1, not $2'],
  [/^option '(?:-\w, )?(--[\w-]+).*' argument missing/, '$1 needs a value'],
  [/^option '(?:-\w, )?(--[\w-]+).*' argument '.*' is invalid\. /s, '$1 '],
  [/^command-argument value '.*' is invalid for argument '(.*)'\. /s, '<$1> '],
  [/Allowed choices are (.*), (.*)\.$/, 'takes $1 or $2'],
];

function usageProblem({ message }: CommanderError, name: string): Problem {
  const text = rewordings.reduce((said, [form, ours]) => said.replace(form, ours), message);
  const command = `runctl help ${name}`.trimEnd();
  return new Problem(text.replace(/^\$ /, name && `${name} `), { command });
}
