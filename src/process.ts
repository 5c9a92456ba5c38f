import { readFileSync } from 'node:fs';
import type { Shell } from './commands/completion.ts';
import type { Sink } from './context.ts';
import { exitCodeOf, type SignalName, signalExitCodes } from './core/exit-codes.ts';
import type { Clock } from './core/ports.ts';
import { Problem } from './core/report.ts';
import { runCli } from './run-cli.ts';
import { createSecrets, type Secrets } from './text/secrets.ts';

const signalNames = Object.keys(signalExitCodes) as SignalName[];

/** Runs this process's command line, and ends the process with its exit code or by its signal. */
export async function runProcess(): Promise<void> {
  const interrupt = new AbortController();
  for (const name of signalNames) {
    process.on(name, () => {
      if (interrupt.signal.aborted) endBySignal(name);
      interrupt.abort(name);
    });
  }
  const secrets = createSecrets();
  const endByBug = (error: unknown): never => {
    process.stderr.write(secrets.scrub(`runctl: a bug: ${firstLine(error)}\n`));
    process.exit(exitCodeOf('internal_error'));
  };
  process.on('uncaughtException', endByBug);
  // The event loop has run empty. Node would exit with 0, which means that the run COMPLETED.
  // After Ctrl-D in a question, which leaves stdin paused, it is no bug.
  process.on('beforeExit', () => {
    const isBug = interrupt.signal.aborted || !process.stdin.isPaused();
    if (isBug) endByBug('nothing is left to wait for');
    interrupt.abort('SIGINT');
  });
  // Node would open a debugger, to which every user of the machine may connect.
  process.on('SIGUSR1', () => {});

  const argv = process.argv.slice(2);
  const command =
    argv[0] === '__complete' ? answerTab(argv.slice(1)) : run(argv, secrets, interrupt);
  const exitCode = await command.catch(endByBug);
  const wasInterrupted = interrupt.signal.aborted;
  const end = () => {
    // In a question, Ctrl-C is a key. And a signal may come when the command has done its work.
    const ofCode = signalNames.find((each) => signalExitCodes[each] === exitCode);
    const signal = ofCode ?? (wasInterrupted ? undefined : interrupt.signal.reason);
    if (signal) endBySignal(signal);
    else process.exit(exitCode);
  };
  // A turn of the event loop, so that such a signal is heard.
  process.stderr.write('', () => setImmediate(() => setImmediate(end)));
}

function run(argv: string[], secrets: Secrets, { signal }: AbortController): Promise<number> {
  const { env, stdout, stderr } = process;
  // FORCE_COLOR wins. With both, Node prints a warning of its own.
  if (env.FORCE_COLOR !== undefined) delete env.NO_COLOR;
  const isPlain = argv.includes('--no-color');
  // Asked each time, because Ctrl-Z and `bg` put it into the background.
  const canShow = () => !env.CI && isInForeground();
  const options = { canShow, isPlain, signal };
  const errSink = createSink(stderr, { ...options, filter: secrets.scrub });
  return runCli(argv, {
    stdout: createSink(stdout, options),
    stderr: errSink,
    terminal: stderr,
    // A non-blocking pipe can't be read by `readFileSync(0)` (EAGAIN).
    async readStdin() {
      // What is typed would be shown, and it is an API key.
      if (process.stdin.isTTY) throw new Problem('stdin is a terminal: pipe the API key to it');
      return (await import('node:stream/consumers')).text(process.stdin);
    },
    // It takes 3 ms to open stdin.
    canPrompt: errSink.isTTY && process.stdin.isTTY === true,
    env,
    clock: systemClock,
    random: Math.random,
    randomUuid: () => crypto.randomUUID(),
    signal,
    secrets,
    terminalStyle: {
      hasUnicode: hasUnicode(env),
      // Without a width (`script` in cron), ora would clear lines without end.
      canRedraw: env.TERM !== 'dumb' && !env.ACCESSIBLE && stderr.columns !== 0,
    },
  });
}

/** Answers the Tab key. What can't be read is not offered. */
async function answerTab([shell, ...words]: string[]): Promise<number> {
  const { complete } = await import('./commands/completion.ts');
  const { createProgram } = await import('./cli.ts');
  const { recordedNames } = await import('./commands/arguments.ts');
  const program = createProgram(async () => {});
  const names = () => recordedNames(process.env, Date.now());
  process.stdout.write(complete(shell as Shell, words, program, names));
  return 0;
}

/**
 * A shell ends its loop only if a command was ended by the signal. A process without a parent that
 * reaps it (PID 1) lives on, and exits with the code that a shell would show.
 */
function endBySignal(name: SignalName): void {
  for (const each of signalNames) process.removeAllListeners(each);
  process.kill(process.pid, name);
  setTimeout(() => process.exit(signalExitCodes[name]), 100);
}

/** What was thrown, and where. Packages may throw anything. */
const firstLine = (error: unknown) =>
  error instanceof Error
    ? `${error.message.split('\n')[0]} ${error.stack?.split('\n    ')[1] ?? ''}`
    : String(error).split('\n')[0];

interface SinkOptions {
  canShow(): boolean;
  isPlain: boolean;
  signal: AbortSignal;
  filter?(text: string): string;
}

function createSink(
  stream: NodeJS.WriteStream,
  { canShow, isPlain, signal, filter = (text) => text }: SinkOptions,
): Sink {
  const { env } = process;
  let failure: Error | undefined;
  stream.on('error', (error: Error) => {
    failure ??= error;
  });
  const isTTY = () => stream.isTTY === true && canShow();
  const isColorful =
    env.FORCE_COLOR === undefined
      ? isTTY() && !env.NO_COLOR && env.TERM !== 'dumb'
      : !/^(0|false)$/.test(env.FORCE_COLOR);
  return {
    write(text) {
      if (!failure) stream.write(filter(text));
    },
    flush: () =>
      new Promise((resolve) => {
        // The stream reports an error of the last write only after its callback.
        stream.write('', (error) => setImmediate(() => resolve(failure ?? error ?? undefined)));
        // A reader that has stalled doesn't keep a command that a signal is to end.
        const giveUp = () => setTimeout(resolve, 1000, new Error('nobody reads it'));
        if (signal.aborted) giveUp();
        else signal.addEventListener('abort', giveUp, { once: true });
      }),
    get isTTY() {
      return isTTY();
    },
    columns: () => stream.columns || 80,
    hasColors: isColorful && !isPlain,
  };
}

/**
 * In the background of a shell the terminal belongs to somebody else. Fields 5 and 8 of proc(5):
 * the process groups of this process and of the terminal's foreground.
 */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return own === foreground;
  } catch {
    return true; // macOS has no such file
  }
}

/** The locale says so, as libc reads it; the Linux console can't. */
function hasUnicode({ TERM, LC_ALL, LC_CTYPE, LANG, TERM_PROGRAM }: NodeJS.ProcessEnv): boolean {
  if (TERM === 'linux' || TERM === 'dumb') return false;
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '') || Boolean(TERM_PROGRAM);
}

const systemClock: Clock = {
  nowMs: Date.now,
  elapsedMs: () => process.uptime() * 1000, // as performance.now(), without loading node:perf_hooks
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      // With a longer delay, Node's timer fires at once.
      const timer = setTimeout(wake, Math.min(ms, 2 ** 31 - 1));
      signal.addEventListener('abort', wake);
    }),
};
