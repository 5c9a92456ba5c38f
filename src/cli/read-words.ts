import type { CommandUnknownOpts, Option } from 'commander';
import { didYouMeanFlag } from '../run/automation-name.ts';
import { usageProblem } from '../run/problem.ts';
import { parseSetting, storedKeys } from '../settings/table.ts';
import { findCommand, pathOf } from './command.ts';

/** The words of a command line as commander takes them, and the command that they name. */
export interface CommandLine {
  command: CommandUnknownOpts;
  operands: string[]; // the words behind the command that are neither flags nor their values, up to a `--`
  words: string[];
}

/** Where a flag stands: behind which command, and which flags that takes. */
interface Place {
  command: CommandUnknownOpts;
  options: readonly Option[];
}

/**
 * Reads the words before commander does, which prints what it refuses: an unknown flag loses its value, as that may be a
 * secret, and a value that begins with a dash is refused, as it is more likely the next flag behind a variable that is unset.
 */
export function readWords(argv: readonly string[], program: CommandUnknownOpts): CommandLine {
  const left = [...argv];
  const words: string[] = [];
  const operands: string[] = [];
  let command = program;
  let asksForHelp = false;
  while (left.length > 0 && !(left[0] === '--' && command.commands.length === 0)) {
    const word = left.shift() ?? '';
    if (word === '--') continue; // before the name of a command it has no meaning
    if (/^(-h|--help)$/.test(word)) asksForHelp = true;
    else if (word.startsWith('-') && word !== '-')
      words.push(...readFlag(word, left, { command, options: [...command.options, ...program.options] }));
    else {
      const inner = operands.length === 0 ? findCommand(command, word) : undefined;
      if (inner) command = inner;
      else operands.push(word);
      words.push(word);
    }
  }
  // For an unknown command, there is no help.
  const isKnown = command !== program || operands.length === 0;
  return { command, operands, words: [...words, ...(asksForHelp && isKnown ? ['--help'] : []), ...left] };
}

/** The command that is named among words which may not be understood. A flag's value names none. */
export function namedCommand(words: readonly string[], program: CommandUnknownOpts): CommandUnknownOpts | undefined {
  const left = [...words];
  let command = program;
  for (let word = left.shift(); word !== undefined && word !== '--'; word = left.shift()) {
    const options = [...command.options, ...program.options];
    if (options.some(({ short, long, required }) => required && (word === short || word === long))) left.shift();
    else command = findCommand(command, word) ?? command;
  }
  return command === program ? undefined : command;
}

/** A flag, and the value that it takes from the words that are left. */
function readFlag(word: string, left: string[], { command, options }: Place): string[] {
  const isLong = word.startsWith('--');
  if (!isLong && options.some(({ long }) => long === `-${word}`))
    throw usageProblem(`unknown option '${word}'`, didYouMeanFlag(word));
  const [, name = word, value] = (isLong ? /^(--[^=]*)=(.*)$/s : /^(-.)(.+)$/s).exec(word) ?? [];
  const option = options.find(({ short, long }) => name === short || name === long);
  if (!option) {
    // Its value, which may be the next word, is never repeated.
    if (isForApiKey(isLong ? name : word))
      throw usageProblem(
        `no flag takes the API key, so ${isLong ? name : word} is unknown`,
        'other users can see a command line: set RUNCTL_API_KEY, or use `--api-key-file <path>`',
      );
    return [word.replace(/=.*/s, '')];
  }
  if (option.required) return value === undefined ? takeValue(word, left, option, command) : [word];
  if (value === undefined) return [word];
  if (isLong || value.startsWith('=')) throw usageProblem(`${name} takes no value`, withoutValue(name, value));
  // `-wq` means `-w -q`.
  left.unshift(`-${value}`);
  return [name];
}

const isForApiKey = (flag: string) => /^--?(?:(?:api|access|auth)[-_]?)?(?:key|token)$/i.test(flag);

const withoutValue = (flag: string, value: string) =>
  /^=?(?:false|no|off|0)$/i.test(value)
    ? `${flag} is off by default: leave it out`
    : `write ${flag} alone, without what follows it`;

function takeValue(flag: string, left: string[], option: Option, command: CommandUnknownOpts): string[] {
  const value = left.shift();
  if (value === undefined || (value.startsWith('-') && value !== '-')) {
    // A negative number is a value; what refuses it says why.
    if (/^-\.?\d/.test(value ?? '') && isRefused(option, value)) return [`${option.long}=${value}`];
    const hint = isRefused(option, value ?? '-x')
      ? `see \`runctl ${pathOf(command)} --help\``.replace('  ', ' ')
      : `a value that begins with a dash is given as \`${option.long}=<value>\``;
    throw usageProblem(`${flag} needs a value (is a variable unset?)`, hint);
  }
  return [flag, value];
}

/** Would this value be refused, too, if it were given with `=`? */
function isRefused(option: Option, value = ''): boolean {
  if (option.attributeName() === 'profile') return true;
  const key = storedKeys.find((key) => key === option.attributeName());
  if (key) return parseSetting(key, value, '').problem !== undefined;
  try {
    option.parseArg?.(value, undefined);
    return option.argChoices !== undefined;
  } catch {
    return true;
  }
}
