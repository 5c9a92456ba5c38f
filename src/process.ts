import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { runCli } from './cli/run-cli.ts';
import type { ProcessContext, Sink } from './context.ts';
import { eraseBelow, hasColors, hasUnicode } from './output/theme.ts';
import { program } from './program.ts';
import { exitCodeOf, exitCodeWithOutput, signalExits } from './run/exit-codes.ts';
import type { Clock } from './system/clock.ts';
import { onAbort } from './system/clock.ts';
import type { Env } from './system/env.ts';
import { createForeground } from './system/foreground.ts';
import { createSecrets } from './system/secrets.ts';

const bugCode = exitCodeOf('internal_error');
/** The signals that end a command, each with the exit code after it. */
const signals = Object.entries(signalExits).map(
  ([signal, name]) => [signal, exitCodeOf(name)] as const,
);

/**
 * At the exit, Node 20 restores the terminal settings of each of these file descriptors. It aborts
 * if a terminal has hung up and its descriptor isn't closed.
 */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/** Runs this process's command line, and exits with its exit code. */
export async function runProcess(): Promise<void> {
  const interrupt = new AbortController();
  let hasEnded = false;
  for (const [name, code] of signals) {
    // With `once`, a second press would kill the process with the cursor still hidden.
    process.on(name as NodeJS.Signals, () => {
      if (interrupt.signal.aborted || hasEnded) {
        eraseDrawing();
        exit(code);
      }
      interrupt.abort(name);
    });
  }

  const secrets = createSecrets();
  const argv = process.argv.slice(2);
  const ownArguments = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  const colorEnv = ownArguments.includes('--no-color') ? { NO_COLOR: '1' } : process.env;
  let resumptions = 0;
  process.on('SIGCONT', () => {
    resumptions += 1;
  });
  const isInForeground = createForeground(() => resumptions);
  const isInteractive = () => !process.env.CI && isInForeground();
  const isTerminal = (stream: NodeJS.WriteStream) => stream.isTTY === true && isInteractive();
  const stdout = sinkOf(process.stdout, isTerminal(process.stdout), colorEnv);
  const stderr = sinkOf(process.stderr, isTerminal(process.stderr), colorEnv, secrets.scrub);
  const eraseDrawing = () => {
    if (stderr.isTTY && process.env.TERM !== 'dumb' && isInteractive()) stderr.write(eraseBelow);
  };
  const processContext: ProcessContext = {
    stdin: () => process.stdin,
    stdout,
    stderr,
    terminal: () => process.stderr,
    env: process.env,
    clock: systemClock,
    random: Math.random,
    secrets,
    signal: interrupt.signal,
    unicode: hasUnicode(process.env),
    isInteractive,
    resumptions: () => resumptions,
  };
  // If the error were unhandled, Node would exit with 1.
  const crash = new Promise<never>((_, reject) => process.on('uncaughtException', reject));
  crash.catch(eraseDrawing);
  const code =
    argv[0] === '__complete'
      ? await Promise.race([complete(argv.slice(1), processContext), crash]).catch(() => bugCode)
      : await runCli(argv, program, processContext, crash);
  hasEnded = true;
  exitAfterOutput(code, stdout, stderr);
}

/** Exits once all output was written. An open connection or timer must not delay that. */
function exitAfterOutput(code: number, stdout: Sink, stderr: Sink): void {
  process.stdout.write('', (error?: NodeJS.ErrnoException | null) => {
    const lost = error && error.code !== 'EPIPE' ? error : stdout.lost();
    if (lost) stderr.write(`runctl: the output couldn't be written: ${lost.message}\n`);
    // The stream reports only after this that its reader has closed the pipe.
    const isClosed = stdout.closed.aborted || error?.code === 'EPIPE';
    process.stderr.write('', () => exit(exitCodeWithOutput(code, { lost, isClosed })));
  });
}

async function complete(
  words: readonly string[],
  { stdout, env }: ProcessContext,
): Promise<number> {
  const { answerCompletion } = await import('./commands/complete.ts');
  stdout.write(answerCompletion(words, program, env));
  return 0;
}

function exit(code: number): never {
  for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
  // Node's own exit waits for a look-up that hangs in the system's resolver. A signal doesn't.
  const isResolving = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
  if (isResolving) {
    // Without a listener, a signal that comes now ends the process. During any other exit, it comes
    // too late to change the exit code.
    for (const [name] of signals) process.removeAllListeners(name);
    const signal = signals.find(([, codeAfter]) => codeAfter === code)?.[0];
    if (signal) process.kill(process.pid, signal);
  }
  process.exit(code);
}

function sinkOf(
  stream: NodeJS.WriteStream,
  isTTY: boolean,
  colorEnv: Env,
  filter = (text: string) => text,
): Sink {
  const closed = new AbortController();
  let lost: Error | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost = error;
    closed.abort('SIGPIPE');
  });
  return {
    write(text) {
      if (!closed.signal.aborted) stream.write(filter(text));
    },
    isTTY,
    columns: () => stream.columns || 80,
    colors: hasColors({ isTTY }, colorEnv),
    closed: closed.signal,
    lost: () => lost,
  };
}

const maxTimerMs = 2 ** 31 - 1; // a longer delay makes Node's timer fire at once

export const systemClock: Clock = {
  nowMs: Date.now,
  elapsedMs: () => process.uptime() * 1000, // as performance.now(), without loading node:perf_hooks
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        forget?.();
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, maxTimerMs));
      const forget = signal && onAbort(signal, wake);
    });
  },
};
