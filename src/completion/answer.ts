import type { Env } from '../context.ts';
import { candidatesFor } from './candidates.ts';
import { liveValues } from './live-values.ts';
import type { Outline } from './outline.ts';
import { printCandidates, type Shell, splitLine, type TypedLine } from './shell-line.ts';

/**
 * Answers a shell's script: `[shell, ...words]`, where bash and PowerShell give the line up to the cursor in one piece.
 * `:files` asks for the names of files. Never throws: a prompt is no place for an error.
 */
export function answerCompletion([shell, ...typed]: readonly string[], outline: Outline, env: Env): string {
  try {
    const line = lineOf(shell as Shell, typed);
    const candidates = candidatesFor(line.words, outline, liveValues(env));
    return candidates === 'files' ? ':files\n' : printCandidates(candidates, shell as Shell, line);
  } catch {
    return '';
  }
}

function lineOf(shell: Shell, typed: string[]): TypedLine {
  if (shell === 'zsh' || shell === 'fish') return { words: typed, quote: '' };
  const { words, quote } = splitLine(typed[0] ?? '', shell === 'powershell' ? '`' : '\\');
  return { words: words.slice(1), quote };
}
