import { stripVTControlCharacters } from 'node:util';
import { checkNames } from '../../src/cli/check-names.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { splitLine } from '../../src/commands/complete.ts';
import { program } from '../../src/program.ts';

/** The commands of runctl that are printed to be typed, but for those with a placeholder. */
export function printedCommands(stderr: string): string[] {
  const text = stripVTControlCharacters(stderr);
  const quoted = [...text.matchAll(/`(runctl [^`]+)`/g)].map(([, line = '']) => line.replaceAll(/\s+/g, ' '));
  const alone = [...text.matchAll(/^ +(?:→|->) (runctl [^`\n]+)$/gm)].map(([, line = '']) => line);
  return [...quoted, ...alone].filter((line) => !/<\w+>|…/.test(line));
}

/** Throws if runctl would refuse one of the commands that it prints, or if one names an automation that nobody asked for. */
export function checkPrinted(argv: readonly string[], stdout: string, stderr: string): void {
  const next = [...stdout.matchAll(/"next":\s*("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) => JSON.parse(json));
  for (const line of new Set([...printedCommands(stderr), ...next])) {
    const [, ...words] = splitLine(line).words;
    const parsed = parse(words, program, { write() {}, columns: () => 80 });
    if (!parsed) continue;
    checkNames(parsed, () => false);
    // A trigger that fails must not lead to a run of something else.
    const names = parsed.path === 'trigger' && argv.includes('trigger') ? parsed.args.flat() : [];
    for (const name of names.map((text) => String(text).replace(/^[\da-f-]{36}\//, '')))
      if (!`${argv.join(' ')} ${stdout}`.includes(name)) throw new Error(`${line}: nobody asked for ${name}`);
  }
}
