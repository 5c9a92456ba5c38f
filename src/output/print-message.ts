import type { CommandContext } from '../context.ts';
import type { Diagnostic } from '../run/problem.ts';
import { sanitizeLine } from '../system/sanitize.ts';
import { renderMarkup, themeOf } from './theme.ts';
import { wrapOptionsOf } from './wrap.ts';

/**
 * Prints a message and its hint on stderr. `name` is the automation's, and is left out if the
 * message has it.
 */
export function printDiagnostic(
  { message, choices = [], hint }: Diagnostic,
  context: CommandContext,
  name?: string,
): void {
  const { stderr } = context;
  const hasName = name === undefined || message.includes(name);
  const prefix = hasName ? 'runctl:' : `runctl: ${sanitizeLine(name)}:`;
  const theme = themeOf(stderr, context);
  const lines = { ...wrapOptionsOf(stderr), indent: 2, taken: prefix.length + 1 };
  stderr.write(`${theme.bad(prefix)} ${renderMarkup(message, theme, lines)}\n`);
  for (const choice of choices) stderr.write(`    ${sanitizeLine(choice)}\n`);
  if (hint) printNextStep(hint, context);
}

/** Prints on stderr what to type next, behind an arrow. */
export function printNextStep(hint: string, context: CommandContext): void {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  const options = { ...wrapOptionsOf(stderr), indent: 4 };
  const lines = hint.split('\n').map((line) => renderMarkup(line, theme, options));
  stderr.write(`  ${theme.symbols.arrow} ${lines.join('\n    ')}\n`);
}

/** Prints a sentence on stderr. */
export function printSentence(sentence: string, context: CommandContext): void {
  const { stderr } = context;
  const theme = themeOf(stderr, context);
  stderr.write(`${renderMarkup(sentence, theme, wrapOptionsOf(stderr))}\n`);
}
