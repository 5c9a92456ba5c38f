import type { CommandUnknownOpts, Option } from 'commander';
import { didYouMeanFlag } from '../run/automation-name.ts';
import { usageProblem } from '../run/problem.ts';
import { findCommand } from './command.ts';

/** The words of a command line as commander takes them, and the command that they name. */
export interface CommandLine {
  command: CommandUnknownOpts;
  operands: string[]; // the words behind the command that are neither flags nor their values, up to a `--`
  words: string[];
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
      words.push(...readFlag(word, left, [...command.options, ...program.options]));
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

/** A flag, and the value that it takes from the words that are left. */
function readFlag(word: string, left: string[], options: readonly Option[]): string[] {
  const isLong = word.startsWith('--');
  if (!isLong && options.some(({ long }) => long === `-${word}`))
    throw usageProblem(`unknown option '${word}'`, didYouMeanFlag(word));
  const [, name = word, value] = (isLong ? /^(--[^=]*)=(.*)$/s : /^(-.)(.+)$/s).exec(word) ?? [];
  const option = options.find(({ short, long }) => name === short || name === long);
  if (!option) return [word.replace(/=.*/s, '')];
  if (option.required) return value === undefined ? [word, ...takeValue(word, left, option)] : [word];
  if (value === undefined) return [word];
  if (isLong || value.startsWith('='))
    throw usageProblem(`option '${name}' takes no value`, `leave out what follows \`${name}\``);
  // `-wq` means `-w -q`.
  left.unshift(`-${value}`);
  return [name];
}

function takeValue(flag: string, left: string[], { long }: Option): string[] {
  const value = left.shift();
  if (value === undefined || (value.startsWith('-') && value !== '-'))
    throw usageProblem(
      `${flag} needs a value (is a variable unset?)`,
      `a value that begins with a dash is given as \`${long}=<value>\``,
    );
  return [value];
}
