import { CommanderError } from 'commander';
import { type Problem, usageProblem } from '../problems/problem.ts';
import type { CommandDefinition } from './define-command.ts';
import { helpCommand } from './help.ts';
import { checkOutput } from './options.ts';
import { type Output, type ParsedCommand, toCommander } from './to-commander.ts';

/**
 * Reads a command line. Undefined where it asks for help or the version: that has been written to `output`.
 * Throws a usage problem.
 */
export function parse(argv: readonly string[], program: CommandDefinition, output: Output): ParsedCommand | undefined {
  const asked = (argv[0] === helpCommand.name ? argv[1] : argv[0]) ?? '';
  const command = program.commands?.find(({ name }) => name === asked);
  // The help of a command that does not exist is no help.
  const isUnknown = /^[^-]/.test(asked) && !command;
  const words = isUnknown ? [asked] : argv.length === 0 ? [helpCommand.name] : argv;
  let parsed: ParsedCommand | undefined;
  try {
    const parser = toCommander(withOptionsOf(command, program), output, (found) => {
      parsed = found;
    });
    parser.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw wrongUsage(error, command);
  }
  if (parsed) checkOutput(parsed.options);
  return parsed;
}

/** The program without the options of the other commands: to make all 150 takes 10 ms, and none is needed. */
function withOptionsOf(typed: CommandDefinition | undefined, program: CommandDefinition): CommandDefinition {
  const withoutOptions = ({ name, about, heading, arguments: args }: CommandDefinition) => ({
    name,
    about,
    heading,
    arguments: args,
  });
  return {
    ...program,
    commands: program.commands?.map((command) => (command === typed ? command : withoutOptions(command))),
  };
}

function wrongUsage({ code, message }: CommanderError, command: CommandDefinition | undefined): Problem {
  const help = `see \`runctl ${command ? `${command.name} ` : ''}--help\``;
  if (code === 'commander.help' && command?.commands) {
    const names = command.commands.map(({ name }) => name).filter((name) => name !== helpCommand.name);
    return usageProblem(`runctl ${command.name} needs one of: ${names.join(', ')}`, help);
  }
  // What follows the = of an option that does not exist may be a key.
  const shown = message
    .replace(/^error: /, '')
    .replace(/^command-argument value /, '')
    .replace(/(unknown option '[^=']*)=.*'$/m, "$1'")
    .replace(/ is invalid(?: for argument '(\w+)')?\. /, (_, name) => (name ? ` is no ${name}: ` : ' is invalid: '))
    .replace('Allowed choices are', 'it is one of');
  const [first = '', suggestion] = shown.split('\n');
  const [, meant] = /Did you mean (.*)\?/.exec(suggestion ?? '') ?? [];
  return usageProblem(first.replace(/\.$/, ''), meant ? `did you mean \`${meant}\`?` : help);
}
