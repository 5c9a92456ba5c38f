import { CommanderError, type CommandUnknownOpts } from 'commander';
import { createTheme } from '../output/theme.ts';
import { widestPage } from '../output/wrap.ts';
import { didYouMeanFlag, hasOtherDash } from '../run/automation-name.ts';
import { didYouMean, nearWords } from '../run/near-words.ts';
import { type Problem, usageProblem } from '../run/problem.ts';
import { quote, shellWord } from '../run/quote.ts';
import { isUuid } from '../run/run.ts';
import { flawOfPaste } from '../system/pasted-text.ts';
import { commandPathOf, detailsOf, findCommand, findOption } from './command.ts';
import { helpIn, helpOption, helpTopics, topicOf } from './help-text.ts';
import { commonOptions, type SharedFlags } from './options.ts';
import { type CommandLine, readWords } from './read-words.ts';

/** A command with the arguments and options of a command line. */
export interface ParsedCommand {
  command: CommandUnknownOpts;
  /** The names of the command and its group: `config list`. */
  path: string;
  args: unknown[];
  options: SharedFlags & Record<string, unknown>;
}

/** Where the help is printed. Without `colors`, it has none. */
interface HelpOutput {
  write(text: string): void;
  columns(): number;
  colors?: boolean;
}

/** A hint for a missing argument, which may come from the journal. */
type WhenMissing = (command: CommandUnknownOpts) => string | undefined;

/**
 * Parses a command line. Returns undefined after it has printed help or the version to `output`.
 * Throws a usage problem for a command line that is wrong.
 */
export function parse(
  argv: readonly string[],
  program: CommandUnknownOpts,
  output: HelpOutput,
  whenMissing: WhenMissing = () => undefined,
): ParsedCommand | undefined {
  const typed = readWords(withCommand(argv), program);
  const isHelpCommand = typed.command === findCommand(program, 'help');
  const line = isHelpCommand ? helpLineOf(typed, program) : typed;
  const { command, words } = line;
  configureCommander(program, output);
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    if (error.code === 'commander.unknownCommand' && command === program) {
      throw isHelpCommand ? unknownTopic(line) : unknownCommand(line, 'see `runctl --help`');
    }
    throw commandLineProblem(error, line, whenMissing);
  }
  const options = command.optsWithGlobals() as ParsedCommand['options'];
  return { command, path: commandPathOf(command), args: command.processedArgs, options };
}

/** An empty command line means `--help`, and `--version --json` means `version --json`. */
function withCommand(argv: readonly string[]): readonly string[] {
  const [first, second, ...others] = argv;
  if (first === undefined) return ['--help'];
  return /^(-V|--version)$/.test(first) && second?.startsWith('-')
    ? ['version', second, ...others]
    : argv;
}

/** `help config set` means `config set --help`, unless it names a topic. */
function helpLineOf(
  { command, operands, words }: CommandLine,
  program: CommandUnknownOpts,
): CommandLine {
  const [asked] = operands;
  const topic = topicOf(asked);
  if (!topic) return readWords([...words.toSpliced(words.indexOf('help'), 1), '--help'], program);
  return { command, operands, words: words.map((word) => (word === asked ? topic : word)) };
}

/**
 * Configures commander so that it doesn't end the process or print errors, and prints help to
 * `output`.
 */
function configureCommander(program: CommandUnknownOpts, output: HelpOutput): void {
  const theme = createTheme({ colors: output.colors ?? false, unicode: true });
  const help = helpIn(theme);
  const writing = {
    writeOut: (text: string) => output.write(text),
    writeErr: () => {},
    getOutHelpWidth: () => Math.min(output.columns(), widestPage),
    getOutHasColors: () => output.colors ?? false,
  };
  const prepareAll = (command: CommandUnknownOpts) => {
    command.exitOverride().showSuggestionAfterError(false);
    command.configureOutput(writing).configureHelp(help).addHelpOption(helpOption);
    command.commands.forEach(prepareAll);
  };
  prepareAll(program);
}

/** Hints for commands that other programs have: what can't be done, or what to type instead. */
const commandHints: ReadonlyMap<string, string> = new Map([
  ['cancel', "the service can't cancel a run"],
  ['stop', "the service can't stop a run"],
  ['logs', "the service can't show logs of a run, but `runctl result @last` prints its output"],
  ['start', 'did you mean trigger?'],
  ['run', 'did you mean trigger?'],
]);

function unknownCommand(
  { command, operands: [word = ''] }: CommandLine,
  defaultHint: string,
): Problem {
  const names = command.commands.flatMap((inner) => [inner.name(), ...inner.aliases()]);
  const path = `${commandPathOf(command)} ${word}`.trim();
  return usageProblem(
    `unknown command '${path}'`,
    commandHints.get(word) ?? didYouMean(word, names) ?? defaultHint,
  );
}

function unknownTopic(line: CommandLine): Problem {
  const near = didYouMean(line.operands[0] ?? '', helpTopics);
  return unknownCommand(line, near ?? `topics are ${helpTopics.join(', ')}`);
}

function unknownFlag(flag: string, { command }: CommandLine, defaultHint: string): Problem {
  const options = [...command.options, ...(command.parent ? commonOptions : []), helpOption];
  const names = options.flatMap(({ long }) => (long ? withoutDashes(long) : []));
  const near = nearWords(withoutDashes(flag), names);
  const message = `unknown option '${flag}'`;
  // Before the command's name, its own options aren't known.
  if (findOption(command.options, flag))
    return usageProblem(message, `put ${flag} after ${commandPathOf(command)}`);
  const hint =
    near.length > 0 ? `did you mean ${near.map((name) => `--${name}`).join(' or ')}?` : defaultHint;
  return usageProblem(message, hint);
}

const withoutDashes = (flag: string) => flag.replace(/^--/, '');

/** The problem for what commander refuses. */
function commandLineProblem(
  error: CommanderError,
  line: CommandLine,
  whenMissing: WhenMissing,
): Problem {
  const { command } = line;
  const path = commandPathOf(command);
  const help = `see \`runctl ${path ? `${path} ` : ''}--help\``;
  const message = error.message.replace('error: ', '');
  switch (error.code) {
    case 'commander.help':
      return withoutSubcommand(command, help);
    case 'commander.missingArgument':
      return missingArgument(command, message, whenMissing(command) ?? help);
    case 'commander.unknownCommand':
      return unknownCommand(line, help);
    case 'commander.excessArguments':
      if (command.commands.length > 0) return unknownCommand(line, help);
      return excessArguments(line, hintForSpace(line) ?? detailsOf(command).whenExcess ?? help);
    case 'commander.invalidArgument':
      return usageProblem(invalidValueIn(message), help);
    case 'commander.conflictingOption':
      return usageProblem(conflictIn(message), 'leave out one of the two');
    case 'commander.unknownOption':
      return unknownFlag(unknownFlagIn(message), line, help);
    default:
      return usageProblem(message, help);
  }
}

/** Such as `--json can't be used with --field`. */
const conflictIn = (message: string) =>
  message.replace(/option '(?:-\w, )?(--[\w-]+).*?'/g, '$1').replace('cannot', "can't");

const unknownFlagIn = (message: string) => /^unknown option '(.*)'$/s.exec(message)?.[1] ?? '';

/** The command line has only the name of a group of commands, or no command. */
function withoutSubcommand(command: CommandUnknownOpts, help: string): Problem {
  const path = commandPathOf(command);
  if (!path) return usageProblem('no command was given', help);
  const names = command.commands.map((inner) => inner.name());
  return usageProblem(`${path} needs one of: ${names.join(', ')}`, help);
}

function missingArgument(
  command: CommandUnknownOpts,
  message: string,
  defaultHint: string,
): Problem {
  const argument = command.registeredArguments.find((each) => message.includes(`'${each.name()}'`));
  const { argChoices } = argument ?? {};
  const hint = argChoices ? `choose one of ${argChoices.join(', ')}` : defaultHint;
  return usageProblem(`missing argument <${argument?.name()}>`, hint);
}

function excessArguments({ command, words }: CommandLine, defaultHint: string): Problem {
  const dashed = words.find(hasOtherDash);
  if (dashed === undefined)
    return usageProblem(`too many arguments for '${commandPathOf(command)}'`, defaultHint);
  return usageProblem(`${quote(dashed)} begins with a typographic dash`, didYouMeanFlag(dashed));
}

/**
 * A project and a name were typed as two arguments, but are one. The UUID of an agent is an
 * argument of its own.
 */
function hintForSpace({
  command,
  operands: [projectId = '', name],
}: CommandLine): string | undefined {
  const isAgent = command.parent?.name() === 'agent';
  return isUuid(projectId) && name !== undefined && !isAgent
    ? `write ${shellWord(`${projectId}/${name}`)}`
    : undefined;
}

/** Such as `invalid value for --timeout: "5" (say 5s, 5m or 5h)`. */
function invalidValueIn(message: string): string {
  const ofOption = /^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\. (.*)$/s;
  const ofArgument = /^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s;
  const [, flag, flagValue, flagFlaw = ''] = ofOption.exec(message) ?? [];
  if (flag !== undefined) return invalidValue(flag, flagValue, flagFlaw);
  const [, value, argument, flaw = ''] = ofArgument.exec(message) ?? [];
  return argument === undefined ? message : invalidValue(`<${argument}>`, value, flaw);
}

function invalidValue(name: string, value = '', flaw: string): string {
  return `invalid value for ${name}: ${quote(value)} (${flawOfValue(value, flaw)})`;
}

/** `flaw` is what commander or the parser of the value says of it. */
function flawOfValue(value: string, flaw: string): string {
  if (value === '') return 'is a variable unset?';
  const pasted = flawOfPaste(value);
  if (pasted) return pasted.flaw;
  return flaw.replace(/\.$/, '').replace(/^Allowed choices are (.*), (.*)/s, 'say $1 or $2');
}
