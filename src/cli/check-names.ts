import { usageProblem } from '../problems/problem.ts';
import { quote } from '../problems/quote.ts';
import { fieldsOf } from '../render/field-paths.ts';
import type { NameFlaw } from '../runs/automation-name.ts';
import { sanitize } from '../sanitize.ts';
import type { CommandDefinition } from './define-command.ts';
import { lineOf, parse } from './parse-command-line.ts';
import type { ParsedCommand } from './to-commander.ts';

type Flaws = ReadonlyMap<unknown, NameFlaw>;

/** Throws a usage problem about all arguments together that aren't names, with the line that was probably meant. */
export function checkNames(
  parsed: ParsedCommand,
  argv: readonly string[],
  program: CommandDefinition,
  projectInForce: () => string | undefined,
): void {
  const flaws = flawsIn(parsed);
  if (flaws.size === 0) return;
  const why = [...flaws].map(([text, flaw]) => `${quote(String(text))} ${flaw.why}`);
  const [{ hint = `see \`runctl ${parsed.name} --help\`` } = {}] = [...flaws.values()].filter((flaw) => flaw.hint);
  // The value of a flag may be the same word.
  const countIn = (words: readonly unknown[]) => words.filter((word) => flaws.has(word)).length;
  const isClear = countIn(argv) === countIn(Object.values(parsed.arguments).flat());
  const meant = isClear ? lineMeant(argv, flaws, program) : undefined;
  const inFull = argv.map((word) => (flaws.has(word) ? `${projectInForce() ?? '<projectId>'}/${word}` : word));
  // A character that isn't shown can't be copied.
  const isCopied = inFull.every((word) => sanitize(word) === word);
  const isNone = !isClear || !isCopied || [...flaws].some(([text, flaw]) => flaw.hint || String(text).trim() === '');
  throw usageProblem(
    `${why.join('; ')}; nothing was sent`,
    [
      meant ? `did you mean \`${lineOf(meant)}\`?` : hint,
      ...(isNone ? [] : [`if that is really its name, give the project, too: \`${lineOf(inFull)}\``]),
    ].join('\n'),
  );
}

function flawsIn({ name: path, command, arguments: values }: ParsedCommand): Flaws {
  // `--json status,executionId` is gh's way.
  const areFields = (text: string) => text.split(',').every((part) => fieldsOf(path).includes(part));
  const flaws = new Map<unknown, NameFlaw>();
  for (const [name, { flawOf }] of Object.entries(command.arguments ?? {})) {
    for (const text of [values[name] ?? []].flat()) {
      const flaw = flawOf?.(String(text));
      if (flaw) flaws.set(text, areFields(String(text)) ? { ...flaw, meant: ['--field', String(text)] } : flaw);
    }
  }
  return flaws;
}

/** The line with what was meant in place of each flawed word, if it can be told and the command takes it. */
function lineMeant(argv: readonly string[], flaws: Flaws, program: CommandDefinition): string[] | undefined {
  if ([...flaws.values()].some(({ meant }) => meant === undefined)) return undefined;
  // Behind a `--`, a flag isn't one.
  const words = argv.filter((word) => word !== '--').flatMap((word) => flaws.get(word)?.meant ?? word);
  const line = words.includes('--field') ? words.filter((word) => word !== '--json') : words;
  try {
    const parsed = parse(line, program, { write() {}, columns: () => 80 });
    return parsed && flawsIn(parsed).size === 0 ? line : undefined;
  } catch {
    return undefined;
  }
}
