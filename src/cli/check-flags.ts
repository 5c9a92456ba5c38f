import { usageProblem } from '../run/problem.ts';
import { type CommandDefinition, noColor, type OptionDefinition, type Options } from './define-command.ts';
import { outputOptions, settingOptions } from './options.ts';

type Values = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown) =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);

const leaveOutOne = 'leave out one of the two';

/** Throws a usage problem for options that exclude one another, or lack the one that they need. */
export function checkCombination(
  { options = {}, arguments: args = {} }: CommandDefinition,
  given: { options: Values; arguments: Values },
): void {
  for (const [name, option] of Object.entries(options)) {
    if (!isGiven(given.options[name])) continue;
    const flag = longNameOf(option);
    for (const other of option.refuses ?? []) {
      if (args[other] && isGiven(given.arguments[other]))
        throw usageProblem(`${flag} takes no ${args[other].form.replace(/\W/g, '')} arguments`, leaveOutOne);
      if (options[other] && isGiven(given.options[other]))
        throw usageProblem(
          `${flag} and ${longNameOf(options[other])} can't be combined`,
          option.instead ?? leaveOutOne,
        );
    }
    const needed = (option.needs ?? []).flatMap((each) => {
      const [name = '', value] = each.split('=');
      const isMet = value === undefined ? isGiven(given.options[name]) : given.options[name] === value;
      return options[name] ? { text: [longNameOf(options[name]), value].filter(Boolean).join(' '), isMet } : [];
    });
    if (needed.length > 0 && !needed.some(({ isMet }) => isMet))
      throw usageProblem(`${flag} needs ${needed.map(({ text }) => text).join(' or ')}`, `add \`${needed[0]?.text}\``);
  }
}

/** Throws a usage problem for a flag that is followed by another in place of its value. */
export function checkValues(words: readonly string[], options: readonly OptionDefinition[]): void {
  const end = words.indexOf('--');
  for (let at = 0; at < (end < 0 ? words.length : end); at++) {
    const flag = words[at] ?? '';
    const option = options.find((each) => each.flags.includes('<') && namesOf(each).includes(flag));
    if (!option) continue;
    at += 1;
    const value = words[at] ?? '';
    if (value.startsWith('-') && value !== '-')
      throw usageProblem(
        `${flag} needs a value (is a variable unset?)`,
        `a value that begins with a dash is given as \`${longNameOf(option)}=<value>\``,
      );
  }
}

export const shared: Options = { ...outputOptions, ...settingOptions, noColor };

/** The names of an option: `-w` and `--watch` of `-w, --watch <form>`. */
export const namesOf = ({ flags }: OptionDefinition): string[] => flags.match(/(?<!\S)--?[\w-]+/g) ?? [];

export const longNameOf = (option: OptionDefinition): string => namesOf(option).at(-1) ?? option.flags;

/** The settings or output flag of this name, which may stand before the command. */
export const sharedFlag = (name: string): OptionDefinition | undefined =>
  Object.values(shared).find((option) => namesOf(option).includes(name));

/** `--profile staging list` becomes `list --profile staging`: shared flags follow the command's name. */
export function hoistFlags(argv: readonly string[], { commands = [] }: CommandDefinition): readonly string[] {
  let end = 0;
  for (let word = argv[end]; word?.startsWith('-'); word = argv[end]) {
    const [name = '', value] = word.split('=', 2);
    const option = sharedFlag(name);
    if (!option) return argv;
    end += option.flags.includes('<') && value === undefined ? 2 : 1;
  }
  if (end === 0 || end >= argv.length) return argv;
  const inner = commands.find(({ name }) => name === argv[end])?.commands;
  const behind = end + (inner?.some(({ name }) => name === argv[end + 1]) ? 2 : 1);
  return [...argv.slice(end, behind), ...argv.slice(0, end), ...argv.slice(behind)];
}
