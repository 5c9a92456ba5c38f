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
    const line = typedLineOf(shell as Shell, typed);
    const candidates = candidatesFor(line.words, program, liveValues(env));
    return candidates === 'files' ? ':files\n' : printCandidates(candidates, shell as Shell, line);
  } catch {
    return '';
  }
}

function typedLineOf(shell: Shell, typed: string[]): TypedLine {
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
  let word: string | undefined; // undefined between two words
  let quote: TypedLine['quote'] = '';
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (character === '\\' && quote !== "'") {
      i += 1;
      word = (word ?? '') + line.charAt(i);
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  return { words: [...words, word ?? ''], quote };
}

/** The candidates, one per line, as the script of this shell reads them. */
export function printCandidates(candidates: Candidate[], shell: Shell, line: TypedLine): string {
  return candidates
    .filter(({ value }) => isPrintable(value))
    .map((candidate) => `${candidateLine(candidate, shell, line)}\n`)
    .join('');
}

/**
 * A name with a control character isn't offered, because it would break the line or the terminal.
 */
const isPrintable = (value: string) => !/\p{Cc}/u.test(value);

function candidateLine(
  { value, description = '' }: Candidate,
  shell: Shell,
  line: TypedLine,
): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const shown = description.replace(/[\u0000-\u001f\u007f]+/g, ' ');
  if (shell === 'bash') return forBash(value, line);
  if (shell === 'zsh') return forZsh(value, shown);
  return `${value}\t${shown}`;
}

function forZsh(value: string, description: string): string {
  const escaped = value.replace(/[\\:]/g, '\\$&');
  return description === '' ? escaped : `${escaped}:${description}`;
}

/**
 * Readline ends a word at `=` and `:` and before `@` (COMP_WORDBREAKS), and replaces only the last
 * part.
 */
function forBash(value: string, { words, quote }: TypedLine): string {
  if (quote === '"') return value.replace(/["$`\\!]/g, '\\$&');
  if (quote === "'") return value.replaceAll("'", "'\\''");
  const typed = words.at(-1) ?? '';
  const lastPart = typed.replace(/^.*(?:[=:]|(?=@))/s, '');
  const kept = typed.length - lastPart.length;
  return value.slice(kept).replace(/[^\w@%+=:,./-]/gu, '\\$&');
}
