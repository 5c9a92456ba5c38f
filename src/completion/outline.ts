import type { Command } from 'commander';

/** A command as completion needs it: plain data, so that completion need not know commander. */
export interface Outline {
  name: string;
  about: string;
  commands: Outline[];
  options: OptionOutline[];
  arguments: ValueOutline[];
}

export interface OptionOutline {
  /** `-w` and `--watch`. */
  flags: string[];
  about: string;
  /** Undefined for an option that takes none. */
  value?: ValueOutline;
}

/** What may stand in a place of the command line. */
export interface ValueOutline {
  /** Of the argument or the option, without dashes; says which live values fit. */
  name: string;
  choices?: string[];
  isVariadic?: boolean;
}

export function outlineOf(command: Command): Outline {
  const options = command.createHelp().visibleOptions(command);
  return {
    name: command.name(),
    about: command.description(),
    commands: command.commands.map(outlineOf),
    options: options.map(({ short, long, description, required, argChoices }) => ({
      flags: [short, long].filter((flag) => flag !== undefined),
      about: description,
      value: required ? { name: long?.replace(/^--/, '') ?? '', choices: argChoices } : undefined,
    })),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      choices: argument.argChoices,
      isVariadic: argument.variadic,
    })),
  };
}
