import type { Clock } from './runs/clock.ts';
import type { Reporter, WarningEvent } from './runs/events.ts';
import type { Secrets } from './secrets.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly columns: number; // as it is now; 80 where nobody knows
  readonly colors: boolean;
  readonly closed: AbortSignal; // aborts when the reader has left (`| head`), with the reason `SIGPIPE`
  readonly lost?: Error; // a full disk, say. That nobody reads any more is no loss
}

/** The outside world. Only `process.ts` touches `process`. */
export interface Context {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Sink;
  stderr: Sink; // scrubbed of every secret
  terminal: NodeJS.WritableStream & { readonly columns: number; readonly rows: number };
  env: Env;
  clock: Clock;
  random(): number;
  secrets: Secrets;
  reporter: Reporter;
  command: string | null; // `config list`, say; null before the command line is read
  warnings: WarningEvent[];
  signal: AbortSignal; // the reason is SIGINT, SIGTERM or SIGHUP
  typed?: readonly unknown[]; // arguments and values of flags, but for the user's own commands
  /** What a command to type next needs to mean the same service: ` --profile staging`. */
  connectionFlags?: string;
  /** In a step of GitHub Actions, where the two sinks hide the runner's commands in what they write. */
  runner?: {
    data: Sink;
    commands?: Sink; // none with `RUNCTL_CI=0`
  };
  unicode: boolean;
}

/** Not a copy: that would open standard input, which is a getter. */
export function variantOf(context: Context, changes: Partial<Context>): Context {
  return Object.assign(Object.create(context), changes);
}

export const endedBy = (context: Context, signal: AbortSignal): Context =>
  variantOf(context, { signal: AbortSignal.any([context.signal, signal]) });
