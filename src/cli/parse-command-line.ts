import { CommanderError } from 'commander';
import { type Problem, usageProblem } from '../problems/problem.ts';
import { quote, shellWord } from '../problems/quote.ts';
import { flawOfFilter, hasOtherDash } from '../runs/automation-name.ts';
import { checkCombination, hoistFlags, namesOf, sharedFlag, withCommandFirst } from './check-flags.ts';
import type { CommandDefinition } from './define-command.ts';
import { helpTopics, topicOf } from './help-text.ts';
import { type HelpOutput, type ParsedCommand, toCommander, UnknownCommand } from './to-commander.ts';

/** A word that no definition has. `suggest.ts`, which is loaded only then, knows what was probably meant. */
export class RefusedCommandLine extends Error {
  readonly refused: Refused;

  constructor(message: string, refused: Refused) {
    super(message);
    this.refused = refused;
  }
}

export interface Refused {
  word: string;
  value?: string; // what follows its `=`; it may be an API key
  path: string; // the command before it, such as `list` or `config set`; empty if it is where the command should be
  command?: CommandDefinition;
  rest?: readonly string[]; // for a command, the words after it
  next?: string; // for a flag, the first argument of its command
  after?: string; // for a flag, the word after it
}

/** Parses a command line. Undefined if it asked for help or the version, which `output` has. Throws what it refuses. */
export function parse(
  argv: readonly string[],
  program: CommandDefinition,
  output: HelpOutput,
  whenMissing: (command: CommandDefinition) => string | undefined = () => undefined,
): ParsedCommand | undefined {
  const commands = program.commands ?? [];
  const words = expandHelp(hoistFlags(argv, program));
  const [asked = ''] = words;
  const command = commands.find(({ name, alias }) => name === asked || alias === asked);
  if (/^[^-]/.test(asked) && !command) {
    const path = argv[0] === 'help' ? 'help' : '';
    throw new RefusedCommandLine(`unknown command '${asked}'`, { word: asked, path, rest: words.slice(1) });
  }
  let parsed: ParsedCommand | undefined;
  try {
    const parser = toCommander(onlyTypedCommand(command, program), output, (found) => {
      parsed = found;
    });
    parser.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof UnknownCommand) throw new RefusedCommandLine(error.message, { ...error, path: asked });
    if (!(error instanceof CommanderError)) throw error;
    if (!command && error.exitCode !== 0) refuseOrder(argv, program);
    if (error.exitCode !== 0) throw wrongUsage(error, command, words, whenMissing);
  }
  if (parsed) checkCombination(parsed.command, parsed);
  return parsed;
}

export const lineOf = (words: readonly string[]): string => ['runctl', ...words.map(shellWord)].join(' ');

/** Throws what the line lacks if its flags stand behind the command, or else that line. */
function refuseOrder(argv: readonly string[], program: CommandDefinition): void {
  const ordered = withCommandFirst(argv, program);
  if (!ordered) return;
  parse(ordered, program, { write() {}, columns: () => 80 });
  throw usageProblem('a flag was given before its command', `\`${lineOf(ordered)}\``);
}

/** `help config set` means `config set --help`, unless it names a topic. An empty command line asks for help, too. */
function expandHelp([first, second, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return ['--help'];
  if (first === '--version' || first === '-V') return ['version', ...(second === undefined ? [] : [second, ...others])];
  // `--help trigger`, as git takes it.
  if (/^(-h|--help)$/.test(first) && /^\w/.test(second ?? '')) return expandHelp(['help', second ?? '', ...others]);
  const words = second === undefined ? [] : [second, ...others];
  if (first !== 'help') return [first, ...words];
  const topic = helpTopics.find((each) => each === topicOf(second));
  if (topic) return [first, topic, ...others];
  return [...words, '--help'];
}

/** The program with nothing but the typed command; without one, with what its help shows. The rest would take 10 ms. */
function onlyTypedCommand(typed: CommandDefinition | undefined, program: CommandDefinition): CommandDefinition {
  const rest = { options: undefined, examples: undefined, commands: undefined, run: undefined };
  return { ...program, commands: typed ? [typed] : program.commands?.map((command) => ({ ...command, ...rest })) };
}

function wrongUsage(
  { code, message }: CommanderError,
  outer: CommandDefinition | undefined,
  words: readonly string[],
  whenMissing: (command: CommandDefinition) => string | undefined,
): Problem | RefusedCommandLine {
  const inner = outer?.commands?.find(({ name }) => name === words[1]);
  const command = inner ?? outer;
  const path = [outer, inner].flatMap((each) => (each ? [each.name] : [])).join(' ');
  const help = `see \`runctl ${path ? `${path} ` : ''}--help\``;
  if (code === 'commander.unknownOption') return unknownOption(message, words, { outer, inner, path });
  if (code === 'commander.help' && outer?.commands) {
    const names = outer.commands.map(({ name }) => name).filter((name) => name !== 'help');
    return usageProblem(`${outer.name} needs one of: ${names.join(', ')}`, help);
  }
  if (code === 'commander.missingArgument' && command) {
    const choices = Object.values(command.arguments ?? {})[0]?.choices;
    const toGive = choices ? `choose one of ${choices.join(', ')}` : whenMissing(command);
    return usageProblem(message.replace('error: ', ''), toGive ?? help);
  }
  if (code === 'commander.excessArguments' && command) {
    const dashed = words.find(hasOtherDash);
    if (dashed !== undefined) {
      const meant = words.flatMap((word) => (word === dashed ? (flawOfFilter(word)?.meant ?? word) : word));
      return usageProblem(
        `${quote(dashed)} begins with another dash than a flag`,
        `did you mean \`${lineOf(meant)}\`?`,
      );
    }
    const most = Object.keys(command.arguments ?? {}).length;
    const number = ['no arguments', 'only one argument', 'only two arguments'][most] ?? `only ${most} arguments`;
    return usageProblem(`${path} takes ${number}`, command.whenExcess ?? help);
  }
  const [, flags = ''] = /^error: option '(?:-\w, )?(.*)' argument missing$/.exec(message) ?? [];
  if (flags) return usageProblem(`${flags.replace(/ .*/, '')} needs a value: ${flags}`, help);
  return usageProblem(message.replace('error: ', ''), help);
}

function unknownOption(
  message: string,
  words: readonly string[],
  { outer, inner, path }: { outer?: CommandDefinition; inner?: CommandDefinition; path: string },
): Problem | RefusedCommandLine {
  // What follows the = may be an API key. Of `-w=1`, commander takes `-w` for a flag and the rest for another.
  const short = words.find((each) => /^-\w=/.test(each)) ?? '';
  const [, unknown = '', assigned] = /unknown option '([^=']*)(?:=(.*))?'/s.exec(message) ?? [];
  const [word, value] = unknown === '-' && short ? [short.slice(0, 2), short.slice(3)] : [unknown, assigned];
  const early = outer ? undefined : sharedFlag(word);
  if (early) return usageProblem('no command was given', `\`runctl ${early.flags.replace(/^-\w, /, '')} <command>\``);
  const command = inner ?? outer;
  const isOwn = Object.values(command?.options ?? {}).some((option) => namesOf(option).includes(word));
  const what = isOwn ? `option '${word}' takes no value` : `unknown option '${word}'`;
  const next = words[inner ? 2 : 1];
  const after = words[words.indexOf(word) + 1];
  return new RefusedCommandLine(what, { word, value, path, command, next, after });
}
