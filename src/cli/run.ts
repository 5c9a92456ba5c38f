import { version } from '../../package.json';
import { valueIfGiven } from '../config/setting-table.ts';
import { resolveSettings } from '../config/settings.ts';
import { type Context, variantOf } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { shellWord } from '../problems/quote.ts';
import { printDocuments, printNextStep, printProblem } from '../render/output.ts';
import { loadColors } from '../render/theme.ts';
import type { CommandDefinition } from './define-command.ts';
import { parse } from './parse.ts';

/** Runs one command line of `program` and returns the exit code. Never rejects: every way out of a command ends here. */
export async function runCli(words: readonly string[], program: CommandDefinition, context: Context): Promise<number> {
  // What follows a first `--` is a command like any other.
  const argv = words[0] === '--' ? words.slice(1) : words;
  let own = context;
  try {
    const parsed = parse(argv, program, context.stdout);
    if (!parsed && argv.length > 0) return 0;
    await loadColors(context.stdout, context.stderr);
    if (!parsed) return await welcome(context);
    own = variantOf(context, { connectionFlags: connectionFlags(parsed.options) });
    return (await parsed.command.run?.(parsed.arguments, parsed.options, own)) ?? 0;
  } catch (error) {
    return failWith(error, argv, own);
  }
}

/** `runctl` alone: after the help, where to begin. */
async function welcome(context: Context): Promise<number> {
  const { baseUrl } = await resolveSettings({}, context);
  if (valueIfGiven(baseUrl) === undefined) {
    printNextStep('it is not set up yet: `runctl config` asks for the address, the key and the project', context);
  }
  return 0;
}

/** The one place where an error becomes words, data and an exit code. Anything but a `Problem` is a fault of our own. */
export async function failWith(error: unknown, argv: readonly string[], context: Context): Promise<number> {
  const problem = error instanceof Problem ? error : ownFault(error);
  await loadColors(context.stdout, context.stderr);
  // The command line may be what is wrong, so it is asked for the one flag that matters here.
  const words = argsBeforeDashDash(argv);
  const document = { problem: problem.toJSON() };
  if (words.includes('--events')) {
    const { createEventReporter } = await import('../render/events.ts');
    createEventReporter(context, 1).last?.(document, true);
  } else if (words.includes('--json')) printDocuments([document], { json: true }, context);
  printProblem(problem, context);
  return problem.exitCode;
}

function ownFault(error: unknown): Problem {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const place = stack?.split('\n')[1]?.trim() ?? 'somewhere';
  return new Problem({
    name: 'bug',
    message: `a fault of runctl ${version} itself: ${message} (${place})`,
    hint: 'please report it; a trigger that it cut short is settled by `runctl recover`',
    started: 'unknown',
    cause: error,
  });
}

/** The arguments for runctl itself: behind a `--` that is not the first stands a command of its own. */
function argsBeforeDashDash(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--', 1);
  return end < 0 ? argv : argv.slice(0, end);
}

/** The flags that another command line needs too, to mean the same service and project: ` --profile staging`. */
export function connectionFlags({ profile, baseUrl, project }: Readonly<Record<string, unknown>>): string {
  const given = Object.entries({ '--profile': profile, '--base-url': baseUrl, '--project': project });
  return given.map(([flag, value]) => (typeof value === 'string' ? ` ${flag} ${shellWord(value)}` : '')).join('');
}
