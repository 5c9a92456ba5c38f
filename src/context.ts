import type { Clock } from './runs/clock.ts';
import type { Reporter, WarningEvent } from './runs/events.ts';
import type { Secrets } from './secrets.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly columns: number; // the current width; 80 if unknown
  readonly colors: boolean;
  readonly closed: AbortSignal; // aborts with the reason `SIGPIPE` when the reader closes the pipe (`| head`)
  readonly lost?: Error; // why output was lost, such as a full disk; a closed pipe isn't a loss
}

/** The outside world. Only `process.ts` touches `process`. */
export interface Context {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Sink;
  stderr: Sink; // hides every secret
  terminal: NodeJS.WritableStream & { readonly columns: number; readonly rows: number };
  env: Env;
  clock: Clock;
  random(): number;
  secrets: Secrets;
  reporter: Reporter;
  command: string | null; // such as `config list`; null before the command line is read
  warnings: WarningEvent[];
  signal: AbortSignal; // the reason is SIGINT, SIGTERM or SIGHUP
  typed?: readonly unknown[]; // arguments and values of flags, except the shell commands of hooks
  commandLine?: string; // in a form that can be typed again
  /** The flags that a suggested command needs to reach the same service, such as ` --profile staging`. */
  connectionFlags?: string;
  /** Set in a step of GitHub Actions, where `stdout` and `stderr` break the runner's commands; these sinks do not. */
  runner?: {
    data: Sink;
    commands?: Sink; // undefined with `RUNCTL_CI=0`
  };
  unicode: boolean;
}

/** The context with changes. Inherits, because copying would call the getter that opens standard input. */
export function variantOf(context: Context, changes: Partial<Context>): Context {
  return Object.assign(Object.create(context), changes);
}

export const endedBy = (context: Context, signal: AbortSignal): Context =>
  variantOf(context, { signal: AbortSignal.any([context.signal, signal]) });
