import type { Command, CommandUnknownOpts, Option, OptionValues } from 'commander';
import type { Arguments } from '../connection/arguments.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../output/command-result.ts';
import type { NameFlaw } from '../run/automation-name.ts';
import type { SharedFlags } from './options.ts';

export type Example = readonly [commandLine: string, description: string];

/** What a command needs in addition to what commander stores. */
export interface Details<Args extends unknown[] = unknown[], Options = SharedFlags> {
  examples?: readonly Example[];
  /** The terms that the help explains below the options. */
  terms?: { title: string; rows: readonly (readonly [term: string, description: string])[] };
  /**
   * The command triggers runs, so its failures say whether a run may have been started. False by
   * default.
   */
  triggersRuns?: boolean;
  /**
   * There is no warning of unknown `RUNCTL_` variables, because the command uses none or reports
   * them itself. False by default.
   */
  ignoresUnknownVariables?: boolean;
  /** Why a text isn't taken for an argument. */
  flawOf?(text: string, among: Arguments): NameFlaw | undefined;
  /** A hint for a missing required argument; undefined if only the help can tell. */
  whenMissing?(context: CommandContext): string | undefined;
  /** A hint for one argument too many. */
  whenExcess?: string;
  /**
   * Only for the program: handles an empty command line. Returns undefined if the help is to be
   * shown.
   */
  whenBare?(context: CommandContext): Promise<CommandResult | number | undefined>;
  /** Returns what to print, or the exit code if it printed all itself. Throws a `Problem`. */
  run?(args: Args, options: Options, context: CommandContext): Promise<CommandResult | number>;
}

/** The values of a command's own flags and of those that every command takes. */
export type OptionsOf<C> = C extends Command<infer _, infer Own> ? Own & SharedFlags : never;

const details = new WeakMap<CommandUnknownOpts, Details>();

/**
 * Adds to a command what commander doesn't know; the types of `args` and `options` follow from its
 * definition.
 */
export function define<Args extends unknown[], Own extends OptionValues>(
  command: Command<Args, Own>,
  ofCommand: Details<Args, Own & SharedFlags>,
): Command<Args, Own> {
  details.set(command, ofCommand as unknown as Details);
  // `runCli` runs it, once it has made a context of what commander has read.
  return ofCommand.run ? command.action(() => {}) : command;
}

/** What `define` has added to a command. */
export const detailsOf = (command: CommandUnknownOpts): Details => details.get(command) ?? {};

/** The subcommand with this name or alias. */
export const findCommand = (
  { commands }: CommandUnknownOpts,
  word: string,
): CommandUnknownOpts | undefined =>
  commands.find((command) => command.name() === word || command.aliases().includes(word));

/** A dash alone is an operand: by convention it means standard input. */
export const isFlag = (word: string): boolean => word.startsWith('-') && word !== '-';

/** The option with this short or long flag, such as `-q` or `--quiet`. */
export const findOption = (options: readonly Option[], flag: string): Option | undefined =>
  options.find(({ short, long }) => flag === short || flag === long);

/**
 * The name of a command behind the name of its group, such as `config list`. Empty for the program
 * itself.
 */
export function commandPathOf(command: CommandUnknownOpts): string {
  if (!command.parent) return '';
  return `${commandPathOf(command.parent)} ${command.name()}`.trim();
}
