import { type CommandContext, endedBy } from '../context.ts';
import { attributions } from '../run/attribution.ts';
import type { OutcomeOf } from '../run/outcome.ts';
import { quotedName } from '../run/quote.ts';
import { isAbortedByOsSignal } from '../system/clock.ts';
import { isJsonObject, type JsonObject, stringifyJson } from '../system/json.ts';
import { createLineBuffer, runShellCommand } from '../system/shell-command.ts';

const maxAtOnce = 8;
const maxWaitMs = 600_000;

/**
 * The `--on-final` commands. Failures are reported, but don't change the exit code. Without a
 * command, nothing runs.
 */
export function createFinalHooks(command: string | undefined, context: CommandContext) {
  const { clock, reporter, signal } = context;
  const limited = createLimit(maxAtOnce);
  const tooLate = new AbortController();
  const running = new Set<Promise<void>>();

  async function runFor(
    outcome: OutcomeOf<'status'>,
    document: JsonObject,
    shellCommand: string,
  ): Promise<void> {
    const { run } = outcome;
    const failure = await limited(async () => {
      if (isAbortedByOsSignal(signal)) return 'was not run: interrupted';
      if (tooLate.signal.aborted) return 'was not run: earlier commands took too long';
      return runHook(shellCommand, outcome, document, endedBy(context, tooLate.signal));
    });
    if (!failure) return;
    const code = isAbortedByOsSignal(signal) ? '' : "; the exit code is still the run's";
    const message = `the --on-final command for run ${run.executionId} of ${quotedName(run.target)} ${failure}${code}`;
    reporter.emit({ event: 'warning', name: 'hook_failed', message, run });
  }

  return {
    /** Runs a run's hook as soon as fewer than eight others are running. */
    start(outcome: OutcomeOf<'status'>, document: JsonObject): void {
      if (command === undefined) return;
      const hook = runFor(outcome, document, command).finally(() => running.delete(hook));
      running.add(hook);
    },
    /** Waits for all hooks. After ten minutes, stops those that are still running. */
    async waitForAll() {
      if (running.size === 0) return;
      const allEnded = new AbortController();
      void clock
        .sleep(maxWaitMs, allEnded.signal)
        .then(() => tooLate.abort('the time limit for hooks expired'));
      await Promise.all(running);
      allEnded.abort();
    },
  };
}

type Limit = <T>(action: () => Promise<T>) => Promise<T>;

/** Runs actions in the order in which they were added, at most this many at the same time. */
export function createLimit(max: number): Limit {
  const waiting: (() => void)[] = [];
  let free = max;
  return async (action) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await action();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/**
 * Runs a hook with the run's document on its standard input, and with its output on stderr. Returns
 * why it failed, as the end of a sentence.
 */
export async function runHook(
  command: string,
  outcome: OutcomeOf<'status'>,
  document: JsonObject,
  context: CommandContext,
): Promise<string | undefined> {
  const write = (text: string) => context.stderr.write(text);
  const lines = { stdout: createLineBuffer(write), stderr: createLineBuffer(write) };
  const variables = variablesOf(outcome, document, context.command);
  const input = `${stringifyJson(document)}\n`;
  const onOutput = (text: string, from: keyof typeof lines) => lines[from].push(text);
  const failure = await runShellCommand({ command, variables, input, onOutput }, context);
  lines.stdout.end();
  lines.stderr.end();
  return failure;
}

// Linux can't start a process with a variable of more than 128 KiB or with NUL in one.
const maxVariable = 32_000;
const variableValue = (text: unknown) =>
  String(text ?? '')
    .replaceAll('\0', '')
    .slice(0, maxVariable);

function variablesOf(
  { run, triggerInfo }: OutcomeOf<'status'>,
  document: JsonObject,
  command: string | null,
) {
  const { exitCode, outcome } = isJsonObject(document.runctl) ? document.runctl : {};
  const variables = {
    RUNCTL_COMMAND: command,
    RUNCTL_EXIT_CODE: exitCode,
    RUNCTL_OUTCOME: outcome,
    RUNCTL_STARTED: triggerInfo ? attributions[triggerInfo.attribution].started : 'no',
    RUNCTL_STATUS: statusIn(document),
    RUNCTL_EXECUTION_ID: run.executionId,
    RUNCTL_AUTOMATION: run.target.automationName,
  };
  return Object.fromEntries(
    Object.entries(variables).map(([name, text]) => [name, variableValue(text)]),
  );
}

/**
 * Hooks build file names from the status, so one with a slash or a dot is left out: the service
 * must not choose the folder.
 */
const statusIn = ({ status }: JsonObject) =>
  typeof status === 'string' && /^[a-z_]+$/i.test(status) ? status : undefined;
