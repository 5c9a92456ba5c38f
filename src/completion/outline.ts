import type { CommandDefinition } from '../cli/define-command.ts';
import { helpOption, versionOption } from '../cli/help.ts';

/** A command as completion needs it: what its definition says, taken apart. */
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
  choices?: readonly string[];
  isVariadic?: boolean;
}

export function outlineOf(command: CommandDefinition): Outline {
  const { name, about, commands = [], options = {}, arguments: args = {}, version } = command;
  const all = [...Object.values(options), ...(version ? [versionOption] : []), helpOption];
  return {
    name,
    about,
    commands: commands.map(outlineOf),
    options: all.map(({ flags, about, choices }) => {
      const names = flags.match(/(?<!\S)--?[\w-]+/g) ?? [];
      const longName = names.at(-1)?.replace(/^--/, '') ?? '';
      return {
        flags: names,
        about,
        value: flags.includes('<') ? { name: longName, choices: choices?.map(String) } : undefined,
      };
    }),
    arguments: Object.values(args).map(({ form, choices }) => ({
      name: form.replace(/\W/g, ''),
      choices: choices?.map(String),
      isVariadic: form.includes('...'),
    })),
  };
}
