import type { Clock, RunEvent } from './core/ports.ts';
import type { Secrets } from './text/secrets.ts';

/** stdout or stderr, as a command sees it. */
export interface Sink {
  /** What is written to stderr has its secrets hidden. */
  write(text: string): void;
  /** Resolves once everything was written, to the error if it couldn't be. */
  flush(): Promise<Error | undefined>;
  /** A person is looking: not a pipe, not CI, and in the foreground. */
  isTTY: boolean;
  /** 80 if it doesn't say. */
  columns(): number;
  hasColors: boolean;
}

/** The flags of settings. */
export interface SettingFlags {
  apiKeyFile?: string;
  baseUrl?: string;
  project?: string;
  profile?: string;
}

/** The flags that every command takes. */
export interface CommonFlags extends SettingFlags {
  json?: boolean;
  field?: string;
  quiet?: boolean;
  debug?: boolean;
}

/** The world as a command gets it. */
export interface Context {
  /** The command's name, such as `trigger` or `config set`. */
  command: string;
  flags: CommonFlags;
  stdout: Sink;
  stderr: Sink;
  /** The real stream below stderr, for ora. */
  terminal: NodeJS.WriteStream;
  /** Everything that stdin has, as text. */
  readStdin(): Promise<string>;
  /** Both stdin and stderr are a terminal: questions can be asked. */
  canPrompt: boolean;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  random(): number;
  randomUuid(): string;
  /** Aborts with the name of the signal that is to end the command. */
  signal: AbortSignal;
  secrets: Secrets;
  /** Tells of progress, notes and warnings. */
  emit(event: RunEvent): void;
  /** Whether the terminal can show `✔ ✖ ●` and a moving spinner (not TERM=dumb, ACCESSIBLE=1). */
  terminalStyle: { hasUnicode: boolean; canRedraw: boolean };
}
