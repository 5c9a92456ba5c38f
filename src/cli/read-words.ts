import type { CommandUnknownOpts, Option } from 'commander';
import { didYouMeanFlag } from '../run/automation-name.ts';
import { usageProblem } from '../run/problem.ts';
import { parseSetting, storedSettingNames } from '../settings/table.ts';
import { commandPathOf, findCommand, findOption, isFlag } from './command.ts';

/** The words of a command line as commander takes them, and the command that they name. */
export interface CommandLine {
  command: CommandUnknownOpts;
  /** The words behind the command that are neither flags nor their values, up to a `--`. */
  operands: string[];
  words: string[];
}

/**
 * Reads the words before commander does, because commander prints what it refuses. The value of an
 * unknown flag is removed, because it may be a secret. A value that begins with a dash is refused,
 * because it is more likely the next flag after an unset variable.
 */
export function readWords(argv: readonly string[], program: CommandUnknownOpts): CommandLine {
  const left = [...argv];
  const words: string[] = [];
  const operands: string[] = [];
  let command = program;
  let asksForHelp = false;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '--') {
      // Before the name of a command, it has no meaning.
      if (command.commands.length > 0) continue;
      left.unshift(word);
      break;
    }
    if (word === '-h' || word === '--help') {
      asksForHelp = true;
    } else if (isFlag(word)) {
      words.push(...readFlag(word, left, command, program));
    } else {
      const subcommand = operands.length === 0 ? findCommand(command, word) : undefined;
      if (subcommand) command = subcommand;
      else operands.push(word);
      words.push(word);
    }
  }
  const isUnknownCommand = command === program && operands.length > 0;
  if (asksForHelp && !isUnknownCommand) words.push('--help');
  return { command, operands, words: [...words, ...left] };
}

/**
 * Finds the command in a command line that may be wrong elsewhere. The value of a flag is not taken
 * for a command.
 */
export function namedCommand(
  words: readonly string[],
  program: CommandUnknownOpts,
): CommandUnknownOpts | undefined {
  const left = [...words];
  let command = program;
  for (let word = left.shift(); word !== undefined && word !== '--'; word = left.shift()) {
    const options = [...command.options, ...program.options];
    if (findOption(options, word)?.required) left.shift();
    else command = findCommand(command, word) ?? command;
  }
  return command === program ? undefined : command;
}

/**
 * Returns a flag and its value, which is removed from the words that are left. Throws a usage
 * problem for an unknown option with one dash, a missing value, or a value that the flag doesn't
 * take.
 */
function readFlag(
  word: string,
  left: string[],
  command: CommandUnknownOpts,
  program: CommandUnknownOpts,
): string[] {
  const options = [...command.options, ...program.options];
  const { name, value, isLong } = partsOfFlag(word);
  if (!isLong && options.some(({ long }) => long === `-${word}`))
    throw usageProblem(`unknown option '${word}'`, didYouMeanFlag(word));
  const option = findOption(options, name);
  if (!option) {
    refuseApiKeyFlag(isLong ? name : word);
    return [word.replace(/=.*/s, '')];
  }
  if (option.required) return value === undefined ? takeValue(word, left, option, command) : [word];
  if (value === undefined) return [word];
  if (isLong || value.startsWith('='))
    throw usageProblem(`${name} takes no value`, hintWithoutValue(name, value));
  // `-wq` means `-w -q`.
  left.unshift(`-${value}`);
  return [name];
}

/** Takes `--name=value` or `-nvalue` apart. What follows a letter is its value, or more letters. */
function partsOfFlag(word: string): { name: string; value?: string; isLong: boolean } {
  const isLong = word.startsWith('--');
  const parts = isLong ? /^(--[^=]*)=(.*)$/s : /^(-.)(.+)$/s;
  const [, name = word, value] = parts.exec(word) ?? [];
  return { name, value, isLong };
}

/** Throws a usage problem that doesn't repeat the value, because the value is an API key. */
function refuseApiKeyFlag(flag: string): void {
  if (!isForApiKey(flag)) return;
  throw usageProblem(
    `no flag takes the API key, so ${flag} is unknown`,
    'other users can see a command line: set RUNCTL_API_KEY, or use `--api-key-file <path>`',
  );
}

const isForApiKey = (flag: string) => /^--?(?:(?:api|access|auth)[-_]?)?(?:key|token)$/i.test(flag);

const hintWithoutValue = (flag: string, value: string) =>
  /^=?(?:false|no|off|0)$/i.test(value)
    ? `${flag} is off by default: leave it out`
    : `write ${flag} without a value`;

function takeValue(
  flag: string,
  left: string[],
  option: Option,
  command: CommandUnknownOpts,
): string[] {
  const value = left.shift();
  if (value !== undefined && !isFlag(value)) return [flag, value];
  // A negative number is a value. The parser of this flag refuses it with a better message.
  if (/^-\.?\d/.test(value ?? '') && isRefused(option, value)) return [`${option.long}=${value}`];
  const hint = isRefused(option, value ?? '-x')
    ? `see \`runctl ${commandPathOf(command)} --help\``.replace('  ', ' ')
    : `give a value that begins with a dash as \`${option.long}=<value>\``;
  throw usageProblem(`${flag} needs a value (is a variable unset?)`, hint);
}

/** Whether the flag refuses this value even if it is given with `=`. */
function isRefused(option: Option, value = ''): boolean {
  if (option.attributeName() === 'profile') return true;
  const setting = storedSettingNames.find((name) => name === option.attributeName());
  if (setting) return parseSetting(setting, value, '').problem !== undefined;
  try {
    option.parseArg?.(value, undefined);
    return option.argChoices !== undefined;
  } catch {
    return true;
  }
}
