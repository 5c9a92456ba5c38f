import { CommanderError, type CommandUnknownOpts } from 'commander';
import type { Sink } from '../context.ts';
import { createTheme } from '../output/theme.ts';
import { widestPage } from '../output/wrap.ts';
import { didYouMeanFlag, hasOtherDash } from '../run/automation-name.ts';
import { type Problem, usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { detailsOf, findCommand, pathOf } from './command.ts';
import { helpIn, helpOption, helpTopics, topicOf } from './help-text.ts';
import type { SharedFlags } from './options.ts';
import { type CommandLine, readWords } from './read-words.ts';

/** The command of a command line, with its values. */
export interface ParsedCommand {
  command: CommandUnknownOpts;
  path: string; // the names of the command and its group: `config list`
  args: unknown[];
  options: SharedFlags & Record<string, unknown>;
}

type HelpOutput = Pick<Sink, 'write' | 'columns'> & { colors?: boolean };

/** A hint for a missing argument, which may come from the journal. */
type WhenMissing = (command: CommandUnknownOpts) => string | undefined;

/** Parses a command line. Undefined if it asked for help or the version, which `output` has. Throws what it refuses. */
export function parse(
  argv: readonly string[],
  program: CommandUnknownOpts,
  output: HelpOutput,
  whenMissing: WhenMissing = () => undefined,
): ParsedCommand | undefined {
  const typed = readWords(asCommand(argv), program);
  const line = typed.command === findCommand(program, 'help') ? pageOf(typed, program) : typed;
  const { command, words } = line;
  prepare(program, output);
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    if (error.code === 'commander.unknownCommand' && command === program)
      throw unknownCommand(error, line, line === typed ? 'see `runctl --help`' : `topics are ${helpTopics.join(', ')}`);
    throw refusal(error, line, whenMissing);
  }
  const options = command.optsWithGlobals() as ParsedCommand['options'];
  return { command, path: pathOf(command), args: command.processedArgs, options };
}

/** An empty command line asks for help, and `--version --json` for the command. */
function asCommand(argv: readonly string[]): readonly string[] {
  const [first, second, ...others] = argv;
  if (first === undefined) return ['--help'];
  return /^(-V|--version)$/.test(first) && second?.startsWith('-') ? ['version', second, ...others] : argv;
}

/** `help config set` means `config set --help`, unless it names a topic. */
function pageOf({ command, operands, words }: CommandLine, program: CommandUnknownOpts): CommandLine {
  const [asked] = operands;
  const topic = topicOf(asked);
  if (!topic) return readWords([...words.toSpliced(words.indexOf('help'), 1), '--help'], program);
  return { command, operands, words: words.map((word) => (word === asked ? topic : word)) };
}

/** Commander neither ends the process nor prints a refusal; help goes to `output`. */
function prepare(program: CommandUnknownOpts, output: HelpOutput): void {
  const theme = createTheme({ colors: output.colors ?? false, unicode: true });
  const help = helpIn(theme);
  const writing = {
    writeOut: (text: string) => output.write(text),
    writeErr: () => {},
    getOutHelpWidth: () => Math.min(output.columns(), widestPage),
    getOutHasColors: () => output.colors ?? false,
  };
  const prepareAll = (command: CommandUnknownOpts) => {
    command.exitOverride().configureOutput(writing).configureHelp(help).addHelpOption(helpOption);
    command.commands.forEach(prepareAll);
  };
  prepareAll(program);
}

const noCancel = 'the service has no way to cancel a run';

/** What can't be done, and why, or what to do instead. */
const impossible: ReadonlyMap<string, string> = new Map([
  ['cancel', noCancel],
  ['stop', noCancel],
  ['--api-key', 'other users can see a command line: use RUNCTL_API_KEY or `--api-key-file`'],
  ['logs', 'the service has no logs of a run; `runctl result` prints its output'],
]);

function unknownCommand(error: CommanderError, { operands: [word = ''] }: CommandLine, otherwise: string): Problem {
  return usageProblem(`unknown command '${word}'`, impossible.get(word) ?? suggestionIn(error) ?? otherwise);
}

/** The command or flag that commander names for a mistyped one. */
const suggestionIn = ({ message }: CommanderError): string | undefined =>
  /\n\(Did you mean (.*)\?\)$/.exec(message)?.[1]?.replace(/^/, 'did you mean ').concat('?');

/** What commander refuses, in its own words. */
function refusal(
  error: CommanderError,
  { command, operands: [word], words }: CommandLine,
  whenMissing: WhenMissing,
): Problem {
  const path = pathOf(command);
  const help = `see \`runctl ${path ? `${path} ` : ''}--help\``;
  const message = error.message.replace('error: ', '').replace(/\n\(Did you mean .*/s, '');
  switch (error.code) {
    case 'commander.help':
      if (!path) return usageProblem('no command was given', help);
      return usageProblem(`${path} needs one of: ${command.commands.map((inner) => inner.name()).join(', ')}`, help);
    case 'commander.missingArgument': {
      const [argument] = command.registeredArguments;
      const { argChoices } = argument ?? {};
      const toGive = argChoices ? `choose one of ${argChoices.join(', ')}` : whenMissing(command);
      return usageProblem(message, toGive ?? help);
    }
    case 'commander.excessArguments': {
      if (command.commands.length > 0) return usageProblem(`unknown command '${path} ${word}'`, help);
      const dashed = words.find(hasOtherDash);
      if (dashed !== undefined)
        return usageProblem(`${quote(dashed)} begins with another dash than a flag`, didYouMeanFlag(dashed));
      return usageProblem(`too many arguments for '${path}'`, detailsOf(command).whenExcess ?? help);
    }
    case 'commander.invalidArgument': {
      const [, what = message, toGive = help] = /^(.* is invalid.*?)\. (.*?)\.?$/s.exec(message) ?? [];
      return usageProblem(what, toGive.replace('Allowed choices are', 'choose one of'));
    }
    case 'commander.conflictingOption':
      return usageProblem(message, 'leave out one of the two');
    default: {
      const [, flag = ''] = /^unknown option '(.*)'$/.exec(message) ?? [];
      return usageProblem(message, impossible.get(flag) ?? suggestionIn(error) ?? help);
    }
  }
}
