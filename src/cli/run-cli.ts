import type { CommandUnknownOpts } from 'commander';
import { version } from '../../package.json';
import { isAutomation } from '../connection/known-automations.ts';
import { type CommandContext, guardFromRunner, type ProcessContext } from '../context.ts';
import { type CommandResult, exitNamesOf, type OutputOptions } from '../output/command-result.ts';
import { printNextStep, printSentence } from '../output/print-message.ts';
import { printResult } from '../output/print-result.ts';
import { createReporter } from '../output/reporter.ts';
import { loadColors } from '../output/theme.ts';
import { silentReporter } from '../run/events.ts';
import {
  exitCodeOf,
  exitCodeOfAll,
  exitCodeWithOutput,
  exitNameOfSignal,
} from '../run/exit-codes.ts';
import { endedBySignal } from '../run/exit-of.ts';
import type { Outcome, TriggerInfo } from '../run/outcome.ts';
import { isRunPossible, Problem } from '../run/problem.ts';
import { shellWord } from '../run/quote.ts';
import { unknownVariables } from '../settings/unknown-variables.ts';
import { isAbortedByOsSignal } from '../system/clock.ts';
import { misplacedApiKeys } from '../system/secrets.ts';
import { checkFields } from './check-fields.ts';
import { checkNames } from './check-names.ts';
import { commandPathOf, detailsOf, findCommand } from './command.ts';
import { type ParsedCommand, parse } from './parse-command-line.ts';
import { namedCommand } from './read-words.ts';
import { withConnectionFlags } from './suggested-command.ts';

/**
 * Runs one command line and returns the exit code. Never rejects. The promise `crash` rejects with
 * an uncaught error.
 */
export async function runCli(
  words: readonly string[],
  program: CommandUnknownOpts,
  outer: ProcessContext,
  crash?: Promise<never>,
): Promise<number> {
  const processContext = guardFromRunner(outer);
  const { env, secrets, stdout, stderr } = processContext;
  secrets.protect((env.RUNCTL_API_KEY ?? '').trim());
  // A `--` before the command has no meaning.
  const argv = words[0] === '--' ? words.slice(1) : words;
  // Grows as more is known. A problem is printed with what is known when it is thrown.
  let known = knownBeforeParsing(argv, program, processContext);
  try {
    await loadColors(stdout, stderr);
    if (argv.length === 0) {
      const overview = await detailsOf(program).whenBare?.(known.context);
      if (overview !== undefined) return printAndGetExitCode(overview, {}, known.context);
    }
    const parsed = parse(argv, program, stdout, (command) =>
      detailsOf(command).whenMissing?.(known.context),
    );
    if (!parsed) return 0;
    const { command, path, args, options } = parsed;
    const { ignoresUnknownVariables, run } = detailsOf(command);
    checkNames(parsed, (word) => isLikelyCommand(word, program, known.context));
    const context = contextWithReporter(options, {
      ...known.context,
      command: path,
      withFlags: withConnectionFlags(options),
      typed: typedValuesOf(parsed),
    });
    known = { ...known, command, context };
    if (!ignoresUnknownVariables) warnOfVariables(context);
    await checkFields(options.field, path);
    known = { ...known, output: options };
    const running = run?.(args, options, context) ?? 0;
    const result = await (crash ? Promise.race([running, crash]) : running);
    return printAndGetExitCode(result, options, context);
  } catch (error) {
    // An API key may have been typed in the place of another argument, so it is hidden before the
    // message is printed.
    for (const word of misplacedApiKeys(argv)) secrets.protect(word);
    return endWithProblem(error, known);
  }
}

/** A command line, as far as it is known. Its problem is printed as these options ask for. */
interface KnownCommandLine {
  command: CommandUnknownOpts | undefined;
  output: OutputOptions;
  context: CommandContext;
}

/**
 * What is known of a command line before it is parsed, or if it can't be. `--json` is searched for
 * as a word, up to the next `--`.
 */
function knownBeforeParsing(
  argv: readonly string[],
  program: CommandUnknownOpts,
  processContext: ProcessContext,
): KnownCommandLine {
  const ownEnd = argv.indexOf('--', 1);
  const ownWords = ownEnd < 0 ? argv : argv.slice(0, ownEnd);
  const command = namedCommand(ownWords, program);
  const output = { json: ownWords.includes('--json') };
  const context = contextWithReporter(output, {
    ...processContext,
    command: command ? commandPathOf(command) : null,
    commandLine: ['runctl', ...argv.map(shellWord)].join(' '),
    typed: [],
    withFlags: (line) => line,
  });
  return { command, output, context };
}

/** Whether this word was probably meant to be a command, and not an automation of that name. */
const isLikelyCommand = (word: string, program: CommandUnknownOpts, context: CommandContext) =>
  findCommand(program, word) !== undefined && !isAutomation(word, context);

/** Arguments and values of flags, except the shell command of a hook. */
function typedValuesOf({ args, options }: ParsedCommand): unknown[] {
  const { onFinal: _, ...others } = options;
  return [args, others].flatMap(Object.values).flat();
}

function warnOfVariables(context: CommandContext): void {
  const names = unknownVariables(context.env);
  const word = names.length === 1 ? 'variable' : 'variables';
  if (names.length > 0) printSentence(`runctl: unknown ${word} ${names.join(', ')}`, context);
}

/** Makes a context with the reporter that these options ask for. */
function contextWithReporter(
  output: OutputOptions,
  facts: Omit<CommandContext, 'reporter' | 'warnings'> & Partial<CommandContext>,
): CommandContext {
  const context = { warnings: [], ...facts, reporter: silentReporter };
  return { ...context, reporter: createReporter(output, context) };
}

/** Prints the result of a command, and returns the exit code. */
function printAndGetExitCode(
  result: CommandResult | number,
  output: OutputOptions,
  context: CommandContext,
): number {
  if (typeof result === 'number') return result;
  printResult(afterSignal(result, context), output, context);
  if (context.signal.reason === 'SIGHUP') printNextStep(hangupHint, context);
  return exitCodeNow(result, context);
}

const hangupHint =
  'to outlive a terminal, use `setsid -f` or a systemd unit (`nohup` has no effect on Node)';

/**
 * After a signal, the documents must agree with the exit code, which the signal decides even if it
 * came after an outcome was known.
 */
function afterSignal(result: CommandResult, { signal }: CommandContext): CommandResult {
  if (!isAbortedByOsSignal(signal)) return result;
  const { outcomes = [] } = result;
  const interruptedBy = exitNameOfSignal(signal);
  // A run that was named twice has one outcome, which is reported once.
  const ended = new Map(
    outcomes.map((outcome) => [outcome, endedBySignal(outcome, interruptedBy)]),
  );
  return { ...result, outcomes: outcomes.map((outcome) => ended.get(outcome) ?? outcome) };
}

/**
 * The exit code at this moment. A signal decides over everything else. It may still come while the
 * result is being printed, so this is called last.
 */
function exitCodeNow(result: CommandResult, { signal, stdout }: CommandContext): number {
  if (isAbortedByOsSignal(signal)) return exitCodeOf(exitNameOfSignal(signal));
  return exitCodeWithOutput(exitCodeOfAll(exitNamesOf(result)), {
    lost: stdout.lost(),
    isClosed: stdout.closed.aborted,
  });
}

/** Prints the problem, and returns its exit code. */
function endWithProblem(error: unknown, { command, output, context }: KnownCommandLine): number {
  const problem = error instanceof Problem ? error : bugProblem(error);
  const triggersRuns = command && detailsOf(command).triggersRuns;
  const triggerInfo = triggersRuns ? triggerInfoOfProblem(problem) : undefined;
  const outcome: Outcome = { kind: 'problem', problem, triggerInfo };
  return printAndGetExitCode({ outcomes: [outcome] }, output, context);
}

/** The `trigger` field for a command that failed before it sent a trigger. */
function triggerInfoOfProblem(problem: Problem): TriggerInfo {
  const isInDoubt = isRunPossible(problem);
  return {
    attribution: isInDoubt ? 'in_doubt' : 'no_run',
    idempotencyKey: null,
    isSafeToRepeat: !isInDoubt,
  };
}

function bugProblem(error: unknown): Problem {
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
