import type { Reporter, WarningEvent } from './run/events.ts';
import type { Clock } from './system/clock.ts';
import type { Env } from './system/env.ts';
import { withoutCommands } from './system/sanitize.ts';
import type { Secrets } from './system/secrets.ts';

export interface Sink {
  write(text: string): void;
  /** A terminal, in whose foreground the command began, and not in CI. */
  readonly isTTY: boolean;
  /** The current width in columns, or 80 if the width isn't known. */
  columns(): number;
  readonly colors: boolean;
  /** Aborts with the reason `SIGPIPE` when the reader closes the pipe (`| head`). */
  readonly closed: AbortSignal;
  /** Why output was lost, such as a full disk; a closed pipe isn't a loss. */
  lost(): Error | undefined;
}

export type Input = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
export type Terminal = NodeJS.WritableStream & { readonly columns: number; readonly rows: number };

/**
 * The outside world. Only `process.ts` makes one, and uses the streams, the signals and the
 * environment of the process.
 */
export interface ProcessContext {
  /** Standard input, which the first call opens. */
  stdin(): Input;
  terminal(): Terminal;
  stdout: Sink;
  /** Text that is written here has every secret hidden. */
  stderr: Sink;
  env: Env;
  clock: Clock;
  random(): number;
  secrets: Secrets;
  /** The reason is SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  unicode: boolean;
  /**
   * Whether this process may draw and ask on its terminal at this moment. It may not in the
   * background, where the terminal belongs to the shell, and not in CI.
   */
  isInteractive(): boolean;
  /**
   * How often this process was continued after it was stopped. The shell has printed since, so what
   * the process had drawn may stand anywhere above the cursor.
   */
  resumptions(): number;
}

/**
 * The outside world, and how runctl was called. A parameter `context` is one, or a part of one.
 * `cli/run-cli.ts` makes the one of a command. Others are copies with another signal or reporter.
 */
export interface CommandContext extends ProcessContext {
  /** The names of the command, such as `config list`. Null before the command line is read. */
  command: string | null;
  /** The command line in a form that can be typed again. */
  commandLine: string;
  /** Arguments and values of flags, except the shell commands of hooks. */
  typed: readonly unknown[];
  /**
   * A suggested command with the flags that it needs to reach the same service, such as
   * ` --profile staging`.
   */
  withFlags(command: string): string;
  reporter: Reporter;
  warnings: WarningEvent[];
  /** Set in a step of GitHub Actions, where `stdout` and `stderr` break the runner's commands. */
  rawStdout?: Sink;
}

/** Returns a context whose output can't give the runner of GitHub Actions a command. */
export function guardFromRunner<C extends ProcessContext>(
  processContext: C,
): C & Pick<CommandContext, 'rawStdout'> {
  const { env, stdout, stderr } = processContext;
  if (env.GITHUB_ACTIONS !== 'true') return processContext;
  return { ...processContext, rawStdout: stdout, stdout: guarded(stdout), stderr: guarded(stderr) };
}

const guarded = (sink: Sink): Sink => ({
  ...sink,
  write: (text) => sink.write(withoutCommands(text)),
});

/** The same context, whose signal also aborts with this one. */
export const endedBy = (context: CommandContext, signal: AbortSignal): CommandContext => ({
  ...context,
  signal: AbortSignal.any([context.signal, signal]),
});
