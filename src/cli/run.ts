import { type Command, CommanderError } from 'commander';
import { type Context, variantOf } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { failWith } from './fail-with.ts';
import { placeFlagsOf } from './place-flags.ts';
import { createProgram } from './program.ts';

/** Runs one command line and returns the exit code. Never rejects: every way out of a command ends here. */
export async function runCli(words: readonly string[], context: Context): Promise<number> {
  // What follows a first `--` is a command like any other.
  const argv = words[0] === '--' ? words.slice(1) : words;
  const here = variantOf(context, { placeFlags: placeFlagsOf(argv) });
  try {
    return await run(argv, here);
  } catch (error) {
    return failWith(error, argv, here);
  }
}

async function run(argv: readonly string[], context: Context): Promise<number> {
  if (argv[0] === '__complete') return complete(argv.slice(1), context);
  let code = 0;
  const done = async (exit: Promise<number>) => {
    code = await exit;
  };
  const asked = (argv[0] === 'help' ? argv[1] : argv[0]) ?? '';
  const program = createProgram({ context, done }, asked);
  const command = program.commands.find((candidate) => candidate.name() === asked);
  // The help of a command that does not exist is no help.
  const isUnknown = /^[^-]/.test(asked) && !command && asked !== 'help';
  try {
    await program.parseAsync(isUnknown ? [asked] : argv.length === 0 ? ['help'] : argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (argv.length === 0) return welcome(context);
    if (error.exitCode === 0) return 0;
    throw wrongUsage(error, command);
  }
}

/** What a shell's completion script asks. */
async function complete(words: readonly string[], context: Context): Promise<number> {
  const { answerCompletion } = await import('../completion/answer.ts');
  const { outlineOf } = await import('../completion/outline.ts');
  const outline = outlineOf(createProgram({ context, done: async () => {} }));
  context.stdout.write(answerCompletion(words, outline, context.env));
  return 0;
}

/** `runctl` alone: after the help, where to begin. */
async function welcome(context: Context): Promise<number> {
  const { valueIfGiven } = await import('../config/setting-table.ts');
  const { resolveSettings } = await import('../config/settings.ts');
  const { baseUrl } = await resolveSettings({}, context);
  if (valueIfGiven(baseUrl) === undefined) {
    const { printNextStep } = await import('../render/output.ts');
    await printNextStep('it is not set up yet: `runctl config` asks for the address, the key and the project', context);
  }
  return 0;
}

function wrongUsage({ code, message }: CommanderError, command: Command | undefined) {
  const help = `see \`runctl ${command ? `${command.name()} ` : ''}--help\``;
  if (code === 'commander.help' && command) {
    const names = command.commands.map((sub) => sub.name()).join(', ');
    return usageProblem(`runctl ${command.name()} needs one of: ${names}`, help);
  }
  // What follows the = of an option that does not exist may be a key.
  const told = message
    .replace(/^error: /, '')
    .replace(/^command-argument value /, '')
    .replace(/(unknown option '[^=']*)=.*'$/m, "$1'")
    .replace(/ is invalid(?: for argument '(\w+)')?\. /, (_, name) => (name ? ` is no ${name}: ` : ' is invalid: '))
    .replace('Allowed choices are', 'it is one of');
  const [first = '', suggestion] = told.split('\n');
  const [, meant] = /Did you mean (.*)\?/.exec(suggestion ?? '') ?? [];
  return usageProblem(first.replace(/\.$/, ''), meant ? `did you mean \`${meant}\`?` : help);
}
