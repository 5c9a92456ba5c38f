import { CommanderError } from 'commander';
import { hasOtherDash } from '../run/automation-name.ts';
import { type Problem, usageProblem } from '../run/problem.ts';
import { quote } from '../run/quote.ts';
import { checkCombination, checkValues, hoistFlags, namesOf, shared, sharedFlag } from './check-flags.ts';
import type { CommandDefinition } from './define-command.ts';
import { helpTopics, topicOf } from './help-text.ts';
import { type HelpOutput, type ParsedCommand, toCommander } from './to-commander.ts';

const noCancel = 'the service has no way to cancel a run';

/** What the service can't do. */
const impossible: ReadonlyMap<string, string> = new Map([
  ['cancel', noCancel],
  ['stop', noCancel],
  ['logs', 'the service has no logs of a run; `runctl result` prints its output'],
]);

/** A hint for a missing argument, which may come from the journal. */
type WhenMissing = (command: CommandDefinition) => string | undefined;

/** Parses a command line. Undefined if it asked for help or the version, which `output` has. Throws what it refuses. */
export function parse(
  argv: readonly string[],
  program: CommandDefinition,
  output: HelpOutput,
  whenMissing?: WhenMissing,
): ParsedCommand | undefined {
  const commands = program.commands ?? [];
  const words = expandHelp(hoistFlags(argv, program));
  const [asked = ''] = words;
  const command = commands.find(({ name, alias }) => name === asked || alias === asked);
  const inner = command?.commands?.find(({ name }) => name === words[1]) ?? command;
  checkValues(words, Object.values({ ...shared, ...inner?.options }));
  let parsed: ParsedCommand | undefined;
  try {
    const parser = toCommander(onlyTypedCommand(command, program), output, (found) => {
      parsed = found;
    });
    // Behind an unknown command, a `--help` asks for nothing.
    parser.parse(command ? words : words.slice(0, /^[^-]/.test(asked) ? 1 : undefined), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.unknownCommand' && !command) {
      const hint = impossible.get(asked) ?? suggestionIn(error);
      const otherwise = argv[0] === 'help' ? `topics are ${helpTopics.join(', ')}` : 'see `runctl --help`';
      throw usageProblem(`unknown command '${asked}'`, hint ?? otherwise);
    }
    if (error.exitCode !== 0) throw wrongUsage(error, command, words, whenMissing);
  }
  if (parsed) checkCombination(parsed.command, parsed);
  return parsed;
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

/** The command or flag that commander names for a mistyped one. */
const suggestionIn = ({ message }: CommanderError): string | undefined =>
  /\n\(Did you mean (.*)\?\)$/.exec(message)?.[1]?.replace(/^/, 'did you mean ').concat('?');

/** The program with nothing but the typed command; without one, with what its help shows. The rest would take 10 ms. */
function onlyTypedCommand(typed: CommandDefinition | undefined, program: CommandDefinition): CommandDefinition {
  const rest = { options: undefined, examples: undefined, commands: undefined, run: undefined };
  return { ...program, commands: typed ? [typed] : program.commands?.map((command) => ({ ...command, ...rest })) };
}

function wrongUsage(
  error: CommanderError,
  outer: CommandDefinition | undefined,
  words: readonly string[],
  whenMissing?: WhenMissing,
): Problem {
  const { code } = error;
  const [message = ''] = error.message.split('\n(Did you mean ');
  const inner = outer?.commands?.find(({ name }) => name === words[1]);
  const command = inner ?? outer;
  const path = [outer, inner].flatMap((each) => (each ? [each.name] : [])).join(' ');
  const help = `see \`runctl ${path ? `${path} ` : ''}--help\``;
  if (code === 'commander.unknownOption') return unknownOption(message, words, command, suggestionIn(error) ?? help);
  if (code === 'commander.help' && outer?.commands) {
    const names = outer.commands.map(({ name }) => name).filter((name) => name !== 'help');
    return usageProblem(`${outer.name} needs one of: ${names.join(', ')}`, help);
  }
  if (code === 'commander.missingArgument' && command) {
    const choices = Object.values(command.arguments ?? {})[0]?.choices;
    const toGive = choices ? `choose one of ${choices.join(', ')}` : whenMissing?.(command);
    return usageProblem(message.replace('error: ', ''), toGive ?? help);
  }
  if (code === 'commander.excessArguments' && command) {
    const dashed = words.find(hasOtherDash);
    if (dashed !== undefined) return usageProblem(`${quote(dashed)} begins with another dash than a flag`, help);
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
  command: CommandDefinition | undefined,
  hint: string,
): Problem {
  // What follows the = may be an API key. Of `-w=1`, commander takes `-w` for a flag and the rest for another.
  const short = words.find((each) => /^-\w=/.test(each)) ?? '';
  const [, unknown = ''] = /unknown option '([^=']*)/.exec(message) ?? [];
  const word = unknown === '-' && short ? short.slice(0, 2) : unknown;
  const early = command ? undefined : sharedFlag(word);
  if (early) return usageProblem('no command was given', `\`runctl ${early.flags.replace(/^-\w, /, '')} <command>\``);
  const isOwn = Object.values(command?.options ?? {}).some((option) => namesOf(option).includes(word));
  return isOwn
    ? usageProblem(`option '${word}' takes no value`, `leave out what follows \`${word}\``)
    : usageProblem(`unknown option '${word}'`, hint);
}
