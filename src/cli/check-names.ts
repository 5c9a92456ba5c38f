import { usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { detailsOf } from './command.ts';
import type { ParsedCommand } from './parse-command-line.ts';

/** Throws a usage problem about all arguments together that aren't names. */
export function checkNames({ path, command, args }: ParsedCommand, isCommand: (word: string) => boolean): void {
  const { flawOf } = detailsOf(command);
  if (!flawOf) return;
  const texts = args
    .flat()
    .filter((text) => text !== undefined)
    .map(String);
  const flaws = texts.flatMap((text) => {
    const flaw = flawOf(text, isCommand);
    return flaw ? { text, ...flaw } : [];
  });
  if (flaws.length === 0) return;
  const why = flaws.map(({ text, why }) => `${quote(text)} ${why}`).join('; ');
  const hint = flaws.find(({ hint }) => hint)?.hint;
  throw usageProblem(
    `${why}; nothing was sent`,
    hint ?? `<projectId>/<name> takes any name; see \`runctl ${path} --help\``,
  );
}
