import type { NameFlaw } from '../run/automation-name.ts';
import { usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { detailsOf } from './command.ts';
import type { ParsedCommand } from './parse-command-line.ts';

/** Throws one usage problem for all arguments that can't be names of automations. */
export function checkNames(
  { command, args }: ParsedCommand,
  isCommand: (word: string) => boolean,
): void {
  const { flawOf } = detailsOf(command);
  if (!flawOf) return;
  const texts = args
    .flat()
    .filter((text) => text !== undefined)
    .map(String);
  const flaws = texts.flatMap((text) => {
    const flaw = flawOf(text, { isCommand, others: texts.filter((other) => other !== text) });
    return flaw ? { text, ...flaw } : [];
  });
  if (flaws.length === 0) return;
  const sentences = flaws.map(({ text, flaw }) => `${quote(text)} ${flaw}`);
  throw usageProblem(`${sentences.join('; ')}; nothing was sent`, hintForFlaws(flaws));
}

/**
 * Says first how to correct the names. The last line says how to pass a name that really is like
 * this.
 */
function hintForFlaws(flaws: readonly NameFlaw[]): string {
  const lines = flaws.flatMap(({ hint }) => hint ?? []);
  const isPerhapsName = flaws.some(({ isNoName }) => !isNoName);
  if (isPerhapsName) lines.push('if that is really the name, write <projectId>/<name>');
  return [...new Set(lines)].join('\n');
}
