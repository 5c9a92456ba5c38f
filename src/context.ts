import type { Clock } from './runs/clock.ts';
import type { Reporter, WarningEvent } from './runs/events.ts';
import type { Secrets } from './secrets.ts';

/** The environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** A stream that people or programs read. */
export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width in columns, as it is now; 80 where nobody knows. */
  readonly columns: number;
  readonly colors: boolean;
  /** Aborts when the reader has left (`| head`), with the reason `SIGPIPE`. */
  readonly closed: AbortSignal;
  /** Why text was lost: a full disk, say. Whoever reads no more has what they wanted: a closed pipe is no loss. */
  readonly lost?: Error;
}

/** Everything from the outside world, handed to every command as its last parameter. Only `process.ts` touches `process`. */
export interface Context {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Sink;
  /** Scrubbed of every secret. */
  stderr: Sink;
  /** The stream behind `stderr`, for a spinner that moves the cursor. */
  terminal: NodeJS.WritableStream & { readonly columns: number; readonly rows: number };
  env: Env;
  clock: Clock;
  random(): number;
  secrets: Secrets;
  /** Sees everything that happens while the command runs. */
  reporter: Reporter;
  /** The command that runs, `config list`, say; null before the command line is read. */
  command: string | null;
  /** The warnings of this command line so far, for its documents. */
  warnings: WarningEvent[];
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP; the reason is the signal's name. */
  signal: AbortSignal;
  /** What was typed and may be sent or recorded: arguments and values of flags, but for the user's own commands. */
  typed?: readonly unknown[];
  /** The flags of this command line that a command to type next needs too, to mean the same service: ` --profile staging`. */
  connectionFlags?: string;
  /** In a step of GitHub Actions, where the two sinks keep the runner's commands out of what they write. */
  runner?: {
    /** stdout as it is, for documents. */
    data: Sink;
    /** stderr as it is, for commands of our own; none with `RUNCTL_CI=0`. */
    commands?: Sink;
  };
  /** Can the terminal and the locale show more than ASCII? */
  unicode: boolean;
}

/** The same world with some of it changed. Not a copy: that would open standard input, which is a getter. */
export function variantOf(context: Context, changes: Partial<Context>): Context {
  return Object.assign(Object.create(context), changes);
}

/** The same world, which this signal ends too. */
export const endedBy = (context: Context, signal: AbortSignal): Context =>
  variantOf(context, { signal: AbortSignal.any([context.signal, signal]) });
