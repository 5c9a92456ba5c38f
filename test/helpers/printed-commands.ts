import { stripVTControlCharacters } from 'node:util';
import { checkNames } from '../../src/cli/check-names.ts';
import { parse } from '../../src/cli/parse-command-line.ts';
import { splitLine } from '../../src/commands/complete.ts';
import { program } from '../../src/program.ts';

/** The commands of runctl that are printed to be typed, but for those with a placeholder: alone on a line, or quoted in a sentence. */
export function printedCommands(stderr: string): string[] {
  const text = stripVTControlCharacters(stderr);
  const alone = [...text.matchAll(/^ +(?:→ |-- )?(runctl .+)$/gm)].map(([, line = '']) => line);
  const quoted = [...text.matchAll(/(?<=^|[ (])'(runctl [^'\n]+)'(?![\w'])/gm)].map(([, line = '']) => line);
  return [...alone, ...quoted].filter((line) => !/<\w+>|…/.test(line));
}

/**
 * Throws if runctl would refuse one of the commands that it prints, if one names an automation that nobody asked for, or if
 * a shell would execute a part of a sentence that is pasted whole.
 */
export function checkPrinted(argv: readonly string[], stdout: string, stderr: string): void {
  if (`${argv}`.includes('`') === false && stderr.includes('`')) throw new Error(`a shell executes this: ${stderr}`);
  const next = [...stdout.matchAll(/"next":\s*("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) => JSON.parse(json));
  for (const line of new Set([...printedCommands(stderr), ...next])) {
    const [, ...words] = splitLine(line).words;
    const parsed = parse(words, program, { write() {}, columns: () => 80 });
    if (!parsed) continue;
    checkNames(parsed, () => false);
    // In a script, there is no default for a run.
    const isUnnamed = /^(status|result|watch)$/.test(parsed.path) && parsed.args.flat().join('') === '';
    if (isUnnamed && !('all' in parsed.options)) throw new Error(`${line}: it names no run`);
    // A trigger that fails must not lead to a run of something else.
    const names = parsed.path === 'trigger' && argv.includes('trigger') ? parsed.args.flat() : [];
    for (const name of names.map((text) => String(text).replace(/^[\da-f-]{36}\//, '')))
      if (!`${argv.join(' ')} ${stdout}`.includes(name)) throw new Error(`${line}: nobody asked for ${name}`);
  }
}
