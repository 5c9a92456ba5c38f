import { usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import type { ParsedCommand } from './to-commander.ts';

/** Throws a usage problem about all arguments together that aren't names. */
export function checkNames(
  { name: path, command, arguments: values }: ParsedCommand,
  isCommand: (word: string) => boolean,
): void {
  const flaws = Object.entries(command.arguments ?? {}).flatMap(([name, { flawOf }]) =>
    [values[name] ?? []].flat().flatMap((text) => {
      const flaw = flawOf?.(String(text), isCommand);
      return flaw ? { text: String(text), ...flaw } : [];
    }),
  );
  if (flaws.length === 0) return;
  const why = flaws.map(({ text, why }) => `${quote(text)} ${why}`).join('; ');
  const hint = flaws.find(({ hint }) => hint)?.hint;
  throw usageProblem(
    `${why}; nothing was sent`,
    hint ?? `<projectId>/<name> takes any name; see \`runctl ${path} --help\``,
  );
}
