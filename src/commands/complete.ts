import type { CommandUnknownOpts } from 'commander';
import type { Env } from '../system/env.ts';
import { type Candidate, candidatesFor, liveValues } from './complete-words.ts';
import type { Shell } from './completion.ts';

/**
 * The candidates as the shell's script reads them; `:files` asks it for file names. Never throws.
 */
export function answerCompletion(
  [shell, ...typed]: readonly string[],
  program: CommandUnknownOpts,
  env: Env,
): string {
  try {
    const line = lineOf(shell as Shell, typed);
    const candidates = candidatesFor(line.words, program, liveValues(env));
    return candidates === 'files' ? ':files\n' : printCandidates(candidates, shell as Shell, line);
  } catch {
    return '';
  }
}

function lineOf(shell: Shell, typed: string[]): TypedLine {
  if (shell === 'zsh' || shell === 'fish') return { words: typed, quote: '' };
  const { words, quote } = splitLine(typed[0] ?? '');
  return { words: words.slice(1), quote };
}

export interface TypedLine {
  words: string[];
  quote: '' | "'" | '"';
}

/**
 * Splits a command line up to the cursor as a shell does. It follows quotes and escapes, but
 * expands nothing.
 */
export function splitLine(line: string): TypedLine {
  const words: string[] = [];
  let word: string | undefined;
  let quote: TypedLine['quote'] = '';
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (quote === "'" ? false : character === '\\') word = (word ?? '') + line.charAt(++i);
    else if (quote) {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  return { words: [...words, word ?? ''], quote };
}

export function printCandidates(
  candidates: Candidate[],
  shell: Shell,
  { words, quote }: TypedLine,
): string {
  // A name with a control character is not offered, because it would break the line or the
  // terminal.
  const shown = candidates.filter(({ value }) => !/\p{Cc}/u.test(value));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const lines = shown.map(
    ({ value, about = '' }) => [value, about.replace(/[\u0000-\u001f\u007f]+/g, ' ')] as const,
  );
  if (shell === 'bash')
    return lines.map(([value]) => `${forBash(value, words.at(-1) ?? '', quote)}\n`).join('');
  if (shell === 'zsh') {
    return lines
      .map(([value, about]) => `${value.replace(/[\\:]/g, '\\$&')}${about && `:${about}`}\n`)
      .join('');
  }
  return lines.map(([value, about]) => `${value}\t${about}\n`).join('');
}

/**
 * Readline ends a word at `=` and `:` and before `@` (COMP_WORDBREAKS), and replaces only the last
 * part.
 */
function forBash(value: string, typed: string, quote: TypedLine['quote']): string {
  if (quote === '"') return value.replace(/["$`\\!]/g, '\\$&');
  if (quote) return value.replaceAll("'", "'\\''");
  const kept = typed.length - typed.replace(/^.*(?:[=:]|(?=@))/s, '').length;
  return value.slice(kept).replace(/[^\w@%+=:,./-]/gu, '\\$&');
}
