import type { OptionOutline, Outline, ValueOutline } from './outline.ts';

export interface Candidate {
  /** The whole word. */
  value: string;
  about?: string;
}

/** The values that fit a place; `files` where the shell knows better. */
export type ValuesOf = (place: ValueOutline) => Iterable<Candidate> | 'files';

/** What may stand for the last of the words, which may be empty; the words follow the name of the program. */
export function candidatesFor(words: readonly string[], outline: Outline, valuesOf: ValuesOf): Candidate[] | 'files' {
  const earlier = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { command, place, wantsValue, isPastOptions } = findPlace(earlier, outline);
  const isOption = current.startsWith('-') && !wantsValue && !isPastOptions;
  const [, flag = '', typed = ''] = (isOption && /^(--[^=]+)=(.*)$/s.exec(current)) || [];
  if (flag) {
    const option = findOption(command, flag);
    const values = option?.value ? valuesOf(option.value) : [];
    if (values === 'files') return 'files';
    return startingWith(typed, values).map(({ value, about }) => ({ value: `${flag}=${value}`, about }));
  }
  if (isOption) return startingWith(current, flagsOf(command, current));
  if (!wantsValue && command.commands.length > 0) {
    return startingWith(
      current,
      command.commands.map(({ name, about }) => ({ value: name, about })),
    );
  }
  const values = place ? valuesOf(place) : [];
  return values === 'files' ? 'files' : startingWith(current, values);
}

interface Place {
  command: Outline;
  place: ValueOutline | undefined;
  /** Is it the value of an option that was typed just before? */
  wantsValue: boolean;
  /** Is there a `--` before it? */
  isPastOptions: boolean;
}

function findPlace(words: readonly string[], outline: Outline): Place {
  let command = outline;
  let given = 0;
  let option: OptionOutline | undefined;
  let isPastOptions = false;
  for (const word of words) {
    if (option) option = undefined;
    else if (isPastOptions) given++;
    else if (word === '--') isPastOptions = true;
    else if (word.startsWith('-') && word !== '-') option = valueless(word) ? undefined : findOption(command, word);
    else {
      const inner = command.commands.find(({ name }) => name === word);
      if (inner) command = inner;
      else given++;
    }
    if (!option?.value) option = undefined;
  }
  const last = command.arguments.at(-1);
  const argument = command.arguments[given] ?? (last?.isVariadic ? last : undefined);
  return { command, place: option?.value ?? argument, wantsValue: option !== undefined, isPastOptions };
}

const valueless = (word: string) => word.includes('=');

const findOption = ({ options }: Outline, flag: string) => options.find(({ flags }) => flags.includes(flag));

/** The long flags; the short ones only where nothing but a dash is typed. */
function flagsOf({ options }: Outline, typed: string): Candidate[] {
  return options.flatMap(({ flags, about }) =>
    flags
      .filter((flag) => flag.startsWith('--') || (typed.length === 2 && flag === typed))
      .map((flag) => ({ value: flag, about })),
  );
}

function startingWith(typed: string, values: Iterable<Candidate>): Candidate[] {
  return [...values].filter(({ value }) => value.startsWith(typed));
}
