import type { CommandUnknownOpts } from 'commander';
import { version } from '../../package.json';
import { isAutomation } from '../connection/known-automations.ts';
import { type Context, guardFromRunner, type Invocation } from '../context.ts';
import { printNextStep, printSentence } from '../output/print-message.ts';
import { printResult } from '../output/print-result.ts';
import { createReporter } from '../output/reporter.ts';
import { exitNamesOf, type OutputOptions, type Result } from '../output/result.ts';
import { loadColors } from '../output/theme.ts';
import { silentReporter } from '../run/events.ts';
import {
  exitCodeOf,
  exitCodeOfAll,
  exitCodeWithOutput,
  exitNameOfSignal,
} from '../run/exit-codes.ts';
import { endedBySignal } from '../run/exit-of.ts';
import type { TriggerInfo } from '../run/outcome.ts';
import { mayHaveStarted, Problem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { type Setting, settingTable, unknownVariables } from '../settings/table.ts';
import { isInterrupted } from '../system/clock.ts';
import { misplacedApiKeys } from '../system/secrets.ts';
import { checkFields } from './check-fields.ts';
import { checkNames } from './check-names.ts';
import { detailsOf, findCommand, pathOf } from './command.ts';
import { parse } from './parse-command-line.ts';
import { namedCommand } from './read-words.ts';

/**
 * Runs one command line and returns the exit code. Never rejects; a promise in `crash` rejects with
 * an uncaught error.
 */
export async function runCli(
  words: readonly string[],
  program: CommandUnknownOpts,
  outer: Context,
  crash: readonly Promise<never>[] = [],
): Promise<number> {
  const context = guardFromRunner(outer);
  context.secrets.protect((context.env.RUNCTL_API_KEY ?? '').trim());
  // A `--` before the command has no meaning.
  const argv = words[0] === '--' ? words.slice(1) : words;
  // If the command line can't be parsed, `--json` is searched for as a word, up to the next `--`.
  const ownEnd = argv.indexOf('--', 1);
  const typed = ownEnd < 0 ? argv : argv.slice(0, ownEnd);
  let output: OutputOptions = { json: typed.includes('--json') };
  const commandNamed = (word: string) => findCommand(program, word);
  let command = namedCommand(typed, program);
  const commandLine = ['runctl', ...argv.map(shellWord)].join(' ');
  const about = {
    command: command ? pathOf(command) : null,
    commandLine,
    typed: [],
    withFlags: (line: string) => line,
  };
  let own = invocationOf(output, { ...context, ...about });
  try {
    await loadColors(context.stdout, context.stderr);
    const overview = argv.length === 0 ? await detailsOf(program).whenBare?.(own) : undefined;
    if (overview !== undefined) return end(overview, {}, own);
    const parsed = parse(argv, program, context.stdout, (typed) =>
      detailsOf(typed).whenMissing?.(context),
    );
    if (!parsed) return 0;
    const { path, args, options } = parsed;
    const { onFinal: _, ...shown } = options;
    checkNames(parsed, (word) => commandNamed(word) !== undefined && !isAutomation(word, own));
    const texts = [args, shown].flatMap(Object.values).flat();
    command = parsed.command;
    const flags = connectionFlags(options);
    const withFlags = (line: string) => (connects(line) ? line + flags : line);
    own = invocationOf(options, { ...own, command: path, withFlags, typed: texts });
    // `doctor` reports these warnings as findings.
    if (!/^(help|version|completion|doctor)$/.test(path)) warnOfVariables(own);
    await checkFields(options.field, path);
    output = options;
    const running = detailsOf(command).run?.(args, options, own) ?? 0;
    return end(await Promise.race([running, ...crash]), options, own);
  } catch (error) {
    // An API key may have been typed in the place of another argument, so it is hidden before the
    // message is printed.
    for (const word of misplacedApiKeys(argv)) context.secrets.protect(word);
    return fail(error, output, own, command);
  }
}

function warnOfVariables(context: Invocation): void {
  const names = unknownVariables(context.env);
  const word = names.length === 1 ? 'variable' : 'variables';
  if (names.length > 0) printSentence(`runctl: unknown ${word} ${names.join(', ')}`, context);
}

/** Makes an invocation with the reporter that these options ask for. */
function invocationOf(
  output: OutputOptions,
  called: Omit<Invocation, 'reporter' | 'warnings'> & Partial<Invocation>,
): Invocation {
  const invocation = { warnings: [], ...called, reporter: silentReporter };
  return { ...invocation, reporter: createReporter(output, invocation) };
}

/** Prints the result of a command, and returns the exit code. */
function end(result: Result | number, output: OutputOptions, context: Invocation): number {
  if (typeof result !== 'number') {
    printResult(afterSignal(result, context), output, context);
    if (context.signal.reason === 'SIGHUP')
      printNextStep(
        'to outlive a terminal, use `setsid -f` or a systemd unit (`nohup` has no effect on Node)',
        context,
      );
  }
  return typeof result === 'number' ? result : exitCodeNow(result, context);
}

/**
 * After a signal, the documents must agree with the exit code, which the signal decides even if it
 * came after an outcome was known.
 */
function afterSignal(result: Result, { signal }: Invocation): Result {
  if (!isInterrupted(signal)) return result;
  const { outcomes = [] } = result;
  const interruptedBy = exitNameOfSignal(signal);
  // A run that was named twice has one outcome, which is reported once.
  const ended = new Map(
    outcomes.map((outcome) => [outcome, endedBySignal(outcome, interruptedBy)]),
  );
  return { ...result, outcomes: result.outcomes?.map((outcome) => ended.get(outcome) ?? outcome) };
}

/**
 * The exit code at this moment. A signal decides over everything else. It may still come while the
 * result is being printed, so this is called last.
 */
function exitCodeNow(result: Result, { signal, stdout }: Invocation): number {
  if (isInterrupted(signal)) return exitCodeOf(exitNameOfSignal(signal));
  return exitCodeWithOutput(exitCodeOfAll(exitNamesOf(result)), {
    lost: stdout.lost(),
    isClosed: stdout.closed.aborted,
  });
}

function fail(
  error: unknown,
  output: OutputOptions,
  context: Invocation,
  command: CommandUnknownOpts | undefined,
): number {
  const problem = error instanceof Problem ? error : ownFault(error);
  const triggerInfo = command && detailsOf(command).triggersRuns ? failedStart(problem) : undefined;
  return end({ outcomes: [{ kind: 'problem', problem, triggerInfo }] }, output, context);
}

/** The `trigger` field for a command that failed before it sent a trigger. */
function failedStart(problem: Problem): TriggerInfo {
  const isInDoubt = mayHaveStarted(problem);
  return {
    attribution: isInDoubt ? 'in_doubt' : 'no_run',
    idempotencyKey: null,
    isSafeToRepeat: !isInDoubt,
  };
}

function ownFault(error: unknown): Problem {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const place = stack?.split('\n')[1]?.trim() ?? 'somewhere';
  return new Problem({
    name: 'internal_error',
    message: `bug in runctl ${version}: ${message} (${place})`,
    hint: 'please report it\nif a trigger was cut short: `runctl recover`',
    started: 'unknown',
    cause: error,
  });
}

/** Whether this suggested command line connects to the service. */
const connects = (line: string): boolean =>
  /^runctl (?!(completion|config(?! list)|emulator|explain|help|version)\b)\w/.test(line) &&
  !/ --help\b/.test(line);

/**
 * The flags with which a suggested command uses the same service and project, such as
 * ` --profile staging`.
 */
export function connectionFlags(options: Readonly<Record<string, unknown>>): string {
  return repeatedFlags
    .map(({ key, flag }) =>
      typeof options[key] === 'string' ? ` ${flag} ${shellWord(options[key])}` : '',
    )
    .join('');
}

const repeatedFlags = Object.entries<Setting>(settingTable).flatMap(
  ([key, { flag, isForwarded }]) => (flag && isForwarded ? { key, flag: flag.split(' ')[0] } : []),
);
