import type { Clock } from './runs/clock.ts';
import type { Secrets } from './secrets.ts';

/** A stream that people or programs read. */
export interface Sink {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width in columns, as it is now; 80 where nobody knows. */
  readonly columns: number;
  readonly colors: boolean;
  /** Aborts when the reader is gone (`| head`). */
  readonly closed: AbortSignal;
}

/** Everything from the outside world, handed to every command as its last parameter. Only `process.ts` touches `process`. */
export interface Context {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Sink;
  /** Scrubbed of every secret. */
  stderr: Sink;
  /** The stream behind `stderr`, for a spinner that moves the cursor. */
  terminal: NodeJS.WriteStream;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  random(): number;
  secrets: Secrets;
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP; the reason is the signal's name. */
  signal: AbortSignal;
  /** Can the terminal and the locale show more than ASCII? */
  unicode: boolean;
}
