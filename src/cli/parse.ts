import { CommanderError } from 'commander';
import { type Problem, usageProblem } from '../problems/problem.ts';
import type { CommandDefinition } from './define-command.ts';
import { checkCombination, hoistFlags, sharedFlag } from './flags.ts';
import { helpTopics } from './help.ts';
import { aboutCommand, aboutFlag } from './suggest.ts';
import { type HelpOutput, type ParsedCommand, toCommander } from './to-commander.ts';

/** Parses a command line. Undefined if it asked for help or the version, which `output` has. Throws a usage problem. */
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
    const suggestion = aboutCommand(asked, namesOf(commands), words[1]);
    throw usageProblem(`unknown command '${asked}'`, suggestion ?? 'see `runctl --help`');
  }
  let parsed: ParsedCommand | undefined;
  try {
    const parser = toCommander(onlyTypedCommand(command, program), output, (found) => {
      parsed = found;
    });
    parser.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw wrongUsage(error, command, words[1], whenMissing);
  }
  if (parsed) checkCombination(parsed.command, parsed);
  return parsed;
}

const namesOf = (commands: readonly CommandDefinition[]) => commands.map(({ name }) => name);

/** `help config set` means `config set --help`, unless it names a topic. An empty command line asks for help, too. */
function expandHelp([first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return ['--help'];
  const isAnswered = others[0] === '--json' || helpTopics.some((topic) => topic === others[0]);
  return first === 'help' && !isAnswered ? [...others, '--help'] : [first, ...others];
}

/** The program with nothing but the typed command; without one, with what its help shows. The rest would take 10 ms. */
function onlyTypedCommand(typed: CommandDefinition | undefined, program: CommandDefinition): CommandDefinition {
  const rest = { options: undefined, examples: undefined, commands: undefined, run: undefined };
  return { ...program, commands: typed ? [typed] : program.commands?.map((command) => ({ ...command, ...rest })) };
}

function wrongUsage(
  { code, message }: CommanderError,
  command: CommandDefinition | undefined,
  second: string | undefined,
  whenMissing: (command: CommandDefinition) => string | undefined,
): Problem {
  const known = code === 'commander.missingArgument' && command ? whenMissing(command) : undefined;
  const inner = command?.commands?.find(({ name }) => name === second);
  const path = [command, inner].flatMap((each) => (each ? [each.name] : [])).join(' ');
  const help = known ?? `see \`runctl ${path ? `${path} ` : ''}--help\``;
  if (code === 'commander.help' && command?.commands) {
    const names = namesOf(command.commands).filter((name) => name !== 'help');
    return usageProblem(`${command.name} needs one of: ${names.join(', ')}`, help);
  }
  // What follows the = of an unknown option may be an API key.
  const shown = message
    .replace(/^error: /, '')
    .replace(/^command-argument value /, '')
    .replace(/(unknown option '[^=']*)=.*'$/m, "$1'")
    .replace(/ is invalid(?: for argument '(\w+)')?\. /, (_, name) => (name ? ` is no ${name}: ` : ' is invalid: '))
    .replace('Allowed choices are', 'it is one of');
  const [first = '', suggestion] = shown.split('\n');
  const [, unknown = ''] = /^unknown option '(.*)'/.exec(first) ?? [];
  const early = command ? undefined : sharedFlag(unknown);
  if (early) return usageProblem('no command was given', `\`runctl ${early.flags.replace(/^-\w, /, '')} <command>\``);
  if (unknown !== '' && suggestion?.includes(`mean ${unknown}?`))
    return usageProblem(`option '${unknown}' takes no value`, help);
  const similar = /Did you mean (.*)\?/.exec(suggestion ?? '')?.[1];
  return usageProblem(first.replace(/\.$/, ''), aboutFlag(unknown, similar, command?.name) ?? help);
}
