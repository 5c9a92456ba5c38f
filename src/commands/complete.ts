import type { Argument, Command, Option } from 'commander';
import { configKeys } from '../settings/table.ts';
import type { Shell } from './completion.ts';

interface Candidate {
  value: string;
  description?: string;
}

/**
 * Answers a completion script: the candidates for the last word that was typed, one a line;
 * `:files` asks for file names. The script gives the shell's name, and the words that were typed as
 * they are: bash the line up to the cursor, the others the words after `runctl`.
 */
export function complete(
  shell: Shell,
  typed: readonly string[],
  program: Command,
  automations: () => readonly string[],
): string {
  const words = shell === 'bash' ? splitLine(typed[0] ?? '') : typed;
  const unquoted = words.map(unquote);
  const candidates = candidatesFor(
    unquoted.at(-1) ?? '',
    unquoted.slice(0, -1),
    program,
    automations,
  );
  if (candidates === 'files') return ':files\n';
  return candidates
    .filter(({ value }) => !/\p{Cc}/u.test(value))
    .map((candidate) => `${lineOf(candidate, shell, words.at(-1) ?? '')}\n`)
    .join('');
}

function candidatesFor(
  word: string,
  before: readonly string[],
  program: Command,
  automations: () => readonly string[],
): Candidate[] | 'files' {
  const { command, option, argument, isPastOptions } = placeAfter(before, program);
  if (option) return startingWith(word, valuesOf(option, automations));
  if (word.startsWith('-') && !isPastOptions) return startingWith(word, flagsOf(command));
  if (command.commands.length > 0) return startingWith(word, subcommandsOf(command));
  if (argument?.name() === 'topic') return startingWith(word, subcommandsOf(program));
  return startingWith(word, argument ? valuesOf(argument, automations) : []);
}

/** What the word after these can be: the value of an option, an argument, a flag, a command. */
function placeAfter(words: readonly string[], program: Command) {
  let command = program;
  let option: Option | undefined;
  let operands = 0;
  let isPastOptions = false;
  for (const word of words) {
    const subcommand = command.commands.find((each) =>
      [each.name(), ...each.aliases()].includes(word),
    );
    if (option) option = undefined;
    else if (isPastOptions) operands += 1;
    else if (word === '--') isPastOptions = true;
    else if (/^-./.test(word)) option = optionOf(command, word);
    else if (subcommand) command = subcommand;
    else operands += 1;
  }
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[operands] ?? (last?.variadic ? last : undefined);
  return { command, option, argument, isPastOptions };
}

/** The option of this flag, if it takes a value. */
const optionOf = (command: Command, flag: string) =>
  command.options.find((option) => option.required && [option.short, option.long].includes(flag));

const flagsOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));

const subcommandsOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => ({ value: each.name(), description: each.description() }));

/** The values that definitions and journal have. */
function valuesOf(
  place: Option | Argument,
  automations: () => readonly string[],
): Candidate[] | 'files' {
  const name = 'flags' in place ? /<(\w+)>/.exec(place.flags)?.[1] : place.name();
  if (name === 'path') return 'files';
  const isAutomation = name === 'automation' || name === 'run';
  const ofName = isAutomation ? automations() : name === 'setting' ? configKeys : [];
  return (place.argChoices ?? ofName).map((value) => ({ value }));
}

const startingWith = (word: string, candidates: Candidate[] | 'files') =>
  candidates === 'files' ? candidates : candidates.filter(({ value }) => value.startsWith(word));

/** The words after the program's, quoted as they are. The last one is typed up to the cursor. */
function splitLine(line: string): string[] {
  const words = [...line.matchAll(/(?:\\.?|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s\\'"])+/gs)];
  const last = words.at(-1);
  const isAtEnd = last !== undefined && last.index + last[0].length === line.length;
  return [...words.slice(1).map(([word]) => word), ...(isAtEnd ? [] : [''])];
}

/** Without quotes and escapes. Nothing is expanded. */
const unquote = (word: string): string =>
  word.replace(
    /\\(.?)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs,
    (_, escaped, single, double) => escaped ?? single ?? double.replace(/\\(["$`\\])/g, '$1'),
  );

function lineOf({ value, description }: Candidate, shell: Shell, typed: string): string {
  if (shell === 'bash') return bashWord(value, typed);
  if (shell === 'fish') return `${value}\t${description ?? ''}`;
  const escaped = value.replace(/[\\:]/g, '\\$&');
  return description ? `${escaped}:${description}` : escaped;
}

/** Quoted as the typed word is. The other shells do that themselves. */
function bashWord(value: string, typed: string): string {
  const [openQuote] = typed.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/gs, '').match(/['"]/) ?? [];
  if (openQuote === '"') return value.replace(/["$`\\!]/g, '\\$&');
  if (openQuote === "'") return value.replaceAll("'", "'\\''");
  // Readline ends a word after `=` and `:` and before `@`, and replaces only what follows.
  const word = unquote(typed);
  const replaced = word.replace(/^.*(?:[=:]|(?=@))/s, '');
  return value.slice(word.length - replaced.length).replace(/[^\w@%+=:,./-]/gu, '\\$&');
}
