import { CommanderError } from 'commander';
import { type Problem, usageProblem } from '../problems/problem.ts';
import type { CommandDefinition } from './define-command.ts';
import { checkCombination, hoistFlags, namesOf, sharedFlag } from './flags.ts';
import { helpTopics, topicOf } from './help.ts';
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
  path: string; // the command before it, such as `list` or `config set`; empty if it stands in the place of the command
  command?: CommandDefinition;
  next?: string; // for a command, the word after it; for a flag, the first argument of its command
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
    throw new RefusedCommandLine(`unknown command '${asked}'`, { word: asked, path, next: words[1] });
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
    if (error.exitCode !== 0) throw wrongUsage(error, command, words, whenMissing);
  }
  if (parsed) checkCombination(parsed.command, parsed);
  return parsed;
}

/** `help config set` means `config set --help`, unless it names a topic. An empty command line asks for help, too. */
function expandHelp([first, second, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return ['--help'];
  const words = second === undefined ? [] : [second, ...others];
  if (first !== 'help') return [first, ...words];
  const topic = helpTopics.find((each) => each === topicOf(second));
  if (topic) return [first, topic, ...others];
  return second === '--json' ? [first, ...words] : [...words, '--help'];
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
  const known = code === 'commander.missingArgument' && outer ? whenMissing(outer) : undefined;
  const inner = outer?.commands?.find(({ name }) => name === words[1]);
  const path = [outer, inner].flatMap((each) => (each ? [each.name] : [])).join(' ');
  const help = known ?? `see \`runctl ${path ? `${path} ` : ''}--help\``;
  if (code === 'commander.help' && outer?.commands) {
    const names = outer.commands.map(({ name }) => name).filter((name) => name !== 'help');
    return usageProblem(`${outer.name} needs one of: ${names.join(', ')}`, help);
  }
  // What follows the = of an unknown option may be an API key.
  const shown = message
    .replace(/^error: /, '')
    .replace(/^command-argument value /, '')
    .replace(/(unknown option '[^=']*)=.*'$/m, "$1'")
    .replace(/ is invalid(?: for argument '(\w+)')?\. /, (_, name) => (name ? ` is no ${name}: ` : ' is invalid: '))
    .replace('Allowed choices are', 'it is one of');
  const [first = ''] = shown.split('\n');
  if (code !== 'commander.unknownOption') return usageProblem(first.replace(/\.$/, ''), help);
  const [, word = '', value] = /unknown option '([^=']*)(?:=(.*))?'/.exec(message) ?? [];
  const early = outer ? undefined : sharedFlag(word);
  if (early) return usageProblem('no command was given', `\`runctl ${early.flags.replace(/^-\w, /, '')} <command>\``);
  const command = inner ?? outer;
  const isOwn = Object.values(command?.options ?? {}).some((option) => namesOf(option).includes(word));
  const what = isOwn ? `option '${word}' takes no value` : first;
  const next = words[inner ? 2 : 1];
  const after = words[words.indexOf(word) + 1];
  return new RefusedCommandLine(what, { word, value, path, command, next, after });
}
