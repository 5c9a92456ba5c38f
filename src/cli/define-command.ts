import type { Context, Invocation } from '../context.ts';
import type { Result } from '../output/print.ts';
import type { NameFlaw } from '../run/automation-name.ts';

/** An argument of a command; `Value` is what the command gets. */
export interface ArgumentDefinition<Value = unknown> {
  /** As help shows it: `<key>`, `[run]` or `<automation...>`. */
  form: string;
  about: string;
  choices?: readonly Value[];
  /** Why a text isn't taken for this argument. `isCommand`: it is a command, and no automation that is known here. */
  flawOf?(text: string, isCommand: (word: string) => boolean): NameFlaw | undefined;
}

export interface OptionDefinition<Value = unknown> {
  /** As help shows it: `-w, --watch` or `--timeout <duration>`. */
  flags: string;
  about: string;
  /** Where help lists it; an option without a heading belongs to the command itself and comes first. */
  heading?: string;
  choices?: readonly Value[];
  /** The options and arguments that it can't be combined with, by their names in the definition of a command. */
  refuses?: readonly string[];
  /** What to do instead of combining them. */
  instead?: string;
  /** Options without one of which it has no effect, in commands that have them: `watch`, or `ifActive=wait`. */
  needs?: readonly string[];
  /** Reads the value; `earlier` is the value so far if an option is repeated. Throws a `RefusedValue`. */
  parse?(text: string, earlier: Value | undefined): Value;
}

type Arguments = Readonly<Record<string, ArgumentDefinition>>;
export type Options = Readonly<Record<string, OptionDefinition>>;

type ArgumentValues<A> = { [Name in keyof A]: A[Name] extends ArgumentDefinition<infer Value> ? Value : never };

/** The values of a command's options, by their names in the definition; undefined if not given. */
export type OptionValues<O> = { [Name in keyof O]?: O[Name] extends OptionDefinition<infer Value> ? Value : never };

export type Example = readonly [commandLine: string, about: string];

/** A command, or a group of commands, which may have no `run`. Help, completion and the man page are made of these. */
export interface CommandDefinition<A = Arguments, O = Options> {
  name: string;
  about: string;
  alias?: string;
  heading?: string;
  arguments?: A;
  options?: O;
  /** Words that the help explains below the options. */
  terms?: { title: string; rows: readonly (readonly [term: string, about: string])[] };
  examples?: readonly Example[];
  commands?: readonly CommandDefinition[];
  version?: string;
  /** A hint for a missing required argument; undefined if only the help can tell. */
  whenMissing?(context: Context): string | undefined;
  /** A hint for one argument too many. */
  whenExcess?: string;
  /** Of the program: what it answers without a command; undefined if that is the help. */
  whenBare?(context: Invocation): Promise<Result | number | undefined>;
  /** It triggers runs, so its failures say whether one may have been started. */
  starts?: boolean;
  /** Returns what to print, or the exit code if it printed all itself. Throws a `Problem`. */
  run?(args: ArgumentValues<A>, options: OptionValues<O>, context: Invocation): Promise<Result | number>;
}

/** Has the command this option? */
export const takes = ({ options = {} }: Pick<CommandDefinition, 'options'> = {}, option: string): boolean =>
  option in options;

type Runnable<A, O> = CommandDefinition<A, O> & Required<Pick<CommandDefinition<A, O>, 'run'>>;

export const common = 'Common:';

export const noColor: OptionDefinition<boolean> = {
  flags: '--no-color',
  about: 'print without colors',
  heading: common,
};

/** Defines a command that can be run; the types of `args` and `options` in `run` follow from the definition. */
export const defineCommand = <const A extends Arguments, const O extends Options>(command: Runnable<A, O>) => ({
  ...command,
  options: { ...command.options, noColor },
});

type ValueOf<Form, Word> = Form extends `${string}...${string}`
  ? Word[]
  : Form extends `<${string}`
    ? Word
    : Word | undefined;

/** An argument. Its form says whether it is one text (`<a>`), perhaps none (`[a]`) or several (`<a...>`). */
export function argument<const Form extends string, const Word extends string = string>(
  form: Form,
  about?: string,
  choices?: readonly Word[],
): ArgumentDefinition<ValueOf<Form, Word>>;
export function argument(form: string, about = '', choices?: readonly string[]) {
  return { form, about, choices };
}

export const flag = (flags: string, about: string): OptionDefinition<boolean> => ({ flags, about });

/** An option with a value, which stays a text if nothing parses it. */
export const option = <Value = string>(
  flags: string,
  about: string,
  parse?: OptionDefinition<Value>['parse'],
): OptionDefinition<Value> => ({ flags, about, parse });

export const choice = <const Word extends string>(
  flags: string,
  about: string,
  choices: readonly Word[],
): OptionDefinition<Word> => ({ flags, about, choices });

export function under<Definitions extends Options>(heading: string, definitions: Definitions): Definitions {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, each]) => [name, { ...each, heading }]),
  ) as Definitions;
}
