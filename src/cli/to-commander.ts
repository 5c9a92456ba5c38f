import { Argument, Command, Help, Option } from 'commander';
import type { Sink } from '../context.ts';
import { createTheme } from '../output/theme.ts';
import { widestPage } from '../output/wrap.ts';
import { usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { longNameOf } from './check-flags.ts';
import type { ArgumentDefinition, CommandDefinition, OptionDefinition } from './define-command.ts';
import {
  addReadOn,
  colorCommands,
  commonFlagsOf,
  examplesOf,
  formatItem,
  groupHelp,
  helpOption,
  ownFirst,
  termsOf,
  versionOption,
  withoutCommon,
} from './help-text.ts';
import { oneOf, RefusedValue } from './values.ts';

/** The command of a command line, with its values. */
export interface ParsedCommand {
  /** The name with that of the group: `config list`. */
  name: string;
  command: CommandDefinition;
  arguments: Record<string, unknown>;
  options: Record<string, unknown>;
}

export type HelpOutput = Pick<Sink, 'write' | 'columns'> & { colors?: boolean };

/** The program as commander parses it. The parsed command goes to `onParsed` and is not run; help goes to `output`. */
export function toCommander(
  program: CommandDefinition,
  output: HelpOutput,
  onParsed: (parsed: ParsedCommand) => void = () => {},
): Command {
  const columns = () => Math.min(output.columns(), widestPage);
  const theme = createTheme({ colors: output.colors ?? false, unicode: true });
  const root = new Command(program.name)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(text),
      // What commander refuses is reported as a usage problem.
      writeErr: () => {},
      getOutHelpWidth: columns,
      getOutHasColors: () => output.colors ?? false,
    })
    .helpOption(helpOption.flags, helpOption.about)
    .configureHelp({
      subcommandTerm: nameAndArguments,
      formatItem,
      groupItems: ownFirst,
      visibleOptions: (command) => withoutCommon(new Help().visibleOptions(command)),
      optionDescription: ({ description }) => description,
      styleTitle: theme.strong,
      styleSubcommandText: theme.busy,
      styleDescriptionText: (text) => colorCommands(text, theme),
    })
    // `config --profile x set` and `config set --profile x` mean the same.
    .enablePositionalOptions()
    .showHelpAfterError(false);
  addReadOn(root, columns, theme);
  fill(root, program);
  return root;

  function fill(target: Command, definition: CommandDefinition): Command {
    const { about, alias, version, arguments: args = {}, options = {}, terms, examples, commands, run } = definition;
    if (alias) target.alias(alias);
    target.description(about);
    if (version) target.version(version, versionOption.flags, versionOption.about);
    for (const argument of Object.values(args)) target.addArgument(commanderArgumentOf(argument));
    for (const [name, option] of Object.entries(options)) target.addOption(optionOf(name, option));
    for (const inner of commands ?? []) {
      const command = fill(new Command(inner.name).copyInheritedSettings(target), inner).helpGroup(inner.heading ?? '');
      if (inner === groupHelp) target.addHelpCommand(command);
      else target.addCommand(command);
    }
    if (run) {
      target.allowExcessArguments(commands !== undefined).action(() => {
        if (commands) refuseUnknown(target);
        onParsed(valuesOf(target, definition));
      });
    }
    if (terms) target.addHelpText('after', () => termsOf(terms, columns(), theme));
    const common = commonFlagsOf(Object.values(options), columns(), theme);
    if (common) target.addHelpText('after', common);
    if (examples) target.addHelpText('after', () => examplesOf(examples, columns(), theme));
    return target;
  }
}

function commanderArgumentOf({ form, about, choices }: ArgumentDefinition): Argument {
  const argument = new Argument(form, about);
  return choices ? argument.argParser(reading(`unknown ${argument.name()}`, oneOf(choices))) : argument;
}

function optionOf(name: string, definition: OptionDefinition): Option {
  const { flags, about, heading, choices } = definition;
  const option = new Option(flags, about);
  const parse = choices ? oneOf(choices) : definition.parse;
  option.attributeName = () => name;
  // For commander, `--no-color` would be the negation of `--color`.
  option.negate = false;
  if (heading) option.helpGroup(heading);
  if (parse) option.argParser(reading(`invalid value for ${longNameOf(definition)}:`, parse));
  return option;
}

type Parse = NonNullable<OptionDefinition['parse']>;

const reading =
  (refusal: string, parse: Parse): Parse =>
  (text, earlier) => {
    try {
      return parse(text, earlier);
    } catch (error) {
      throw error instanceof RefusedValue ? usageProblem(`${refusal} ${quote(text)}`, error.message) : error;
    }
  };

/** If a group can be run itself, commander takes an unknown command of the group for an argument. */
function refuseUnknown(group: Command): void {
  const [word] = group.args;
  if (word !== undefined)
    throw usageProblem(`unknown command '${group.name()} ${word}'`, `see \`runctl ${group.name()} --help\``);
}

function valuesOf(typed: Command, command: CommandDefinition): ParsedCommand {
  const names = Object.keys(command.arguments ?? {});
  return {
    name: typed.parent?.parent ? `${typed.parent.name()} ${typed.name()}` : typed.name(),
    command,
    arguments: Object.fromEntries(names.map((name, index) => [name, typed.processedArgs[index]])),
    options: typed.optsWithGlobals(),
  };
}

function nameAndArguments(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [[command.name(), ...command.aliases()].join('|'), ...words].join(' ');
}
