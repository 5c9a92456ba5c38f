import type { ArgumentDefinition, CommandDefinition, OptionDefinition } from '../cli/define-command.ts';
import { helpOption, versionOption } from '../cli/help.ts';

export interface Candidate {
  /** The whole word. */
  value: string;
  about?: string;
}

/** Where a value is typed: the name of its argument or option, without dashes and brackets, and what it may be. */
export interface Place {
  name: string;
  choices?: readonly string[];
}

/** The values that fit a place; `files` where the shell knows better. */
export type ValuesOf = (place: Place) => Iterable<Candidate> | 'files';

/** What may stand for the last of the words, which may be empty; the words follow the name of the program. */
export function candidatesFor(
  words: readonly string[],
  program: CommandDefinition,
  valuesOf: ValuesOf,
): Candidate[] | 'files' {
  const current = words.at(-1) ?? '';
  const { command, argument, option, isPastOptions } = readWords(words.slice(0, -1), program);
  const isOption = current.startsWith('-') && !option && !isPastOptions;
  const [, flag = '', typed = ''] = (isOption && /^(--[^=]+)=(.*)$/s.exec(current)) || [];
  if (flag) {
    const values = valuesFor(placeOfOption(findOption(command, flag)));
    if (values === 'files') return 'files';
    return startingWith(typed, values).map(({ value, about }) => ({ value: `${flag}=${value}`, about }));
  }
  if (isOption) return startingWith(current, flagsOf(command, current));
  if (!option && command.commands) return startingWith(current, command.commands.map(asCandidate));
  const values = valuesFor(placeOfOption(option) ?? placeOfArgument(argument));
  return values === 'files' ? 'files' : startingWith(current, values);

  function valuesFor(place: Place | undefined) {
    return place ? valuesOf(place) : [];
  }
}

interface Reading {
  command: CommandDefinition;
  /** The argument that is next. */
  argument: ArgumentDefinition | undefined;
  /** The option before it, if that wants a value. */
  option: OptionDefinition | undefined;
  /** Is there a `--` before it? */
  isPastOptions: boolean;
}

function readWords(words: readonly string[], program: CommandDefinition): Reading {
  let command = program;
  let given = 0;
  let option: OptionDefinition | undefined;
  let isPastOptions = false;
  for (const word of words) {
    const inner = command.commands?.find(({ name }) => name === word);
    if (option) option = undefined;
    else if (isPastOptions) given++;
    else if (word === '--') isPastOptions = true;
    else if (word.startsWith('-') && word !== '-') option = findOption(command, word);
    else if (inner) command = inner;
    else given++;
    if (!placeOfOption(option)) option = undefined;
  }
  const args = Object.values(command.arguments ?? {});
  const last = args.at(-1);
  const argument = args[given] ?? (last?.form.includes('...') ? last : undefined);
  return { command, argument, option, isPastOptions };
}

const asCandidate = ({ name, about }: CommandDefinition): Candidate => ({ value: name, about });

const optionsOf = ({ options = {}, version }: CommandDefinition) => [
  ...Object.values(options),
  ...(version ? [versionOption] : []),
  helpOption,
];

/** `-w` and `--watch` of `-w, --watch <form>`. */
const namesOf = ({ flags }: OptionDefinition): string[] => flags.match(/(?<!\S)--?[\w-]+/g) ?? [];

const findOption = (command: CommandDefinition, flag: string) =>
  optionsOf(command).find((option) => namesOf(option).includes(flag));

function placeOfOption(option: OptionDefinition | undefined): Place | undefined {
  if (!option?.flags.includes('<')) return undefined;
  return { name: namesOf(option).at(-1)?.replace(/^--/, '') ?? '', choices: option.choices?.map(String) };
}

const placeOfArgument = (argument: ArgumentDefinition | undefined): Place | undefined =>
  argument && { name: argument.form.replace(/\W/g, ''), choices: argument.choices?.map(String) };

/** The long flags; the short ones only where nothing but a dash is typed. */
function flagsOf(command: CommandDefinition, typed: string): Candidate[] {
  return optionsOf(command).flatMap((option) =>
    namesOf(option)
      .filter((flag) => flag.startsWith('--') || (typed.length === 2 && flag === typed))
      .map((flag) => ({ value: flag, about: option.about })),
  );
}

const startingWith = (typed: string, values: Iterable<Candidate>) =>
  [...values].filter(({ value }) => value.startsWith(typed));
