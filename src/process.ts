import { runCli } from './cli.ts';
import type { Context, Sink } from './context.ts';
import { hasColors, hasUnicode } from './render/terminal.ts';
import type { Clock } from './runs/clock.ts';
import { onAbort } from './runs/on-abort.ts';
import { createSecrets } from './secrets.ts';

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The process as a context; the program's answer as the process's end. Nothing else in the program touches `process`. */
export async function runProcess(): Promise<void> {
  const interrupt = new AbortController();
  for (const [name, code] of Object.entries(signals)) {
    // `on`, not `once`: with `once`, a second press would kill the process with the cursor still hidden.
    process.on(name as NodeJS.Signals, () => {
      if (interrupt.signal.aborted) end(code);
      interrupt.abort(name);
    });
  }

  const secrets = createSecrets();
  const stdout = sinkOf(process.stdout, (text) => text);
  const stderr = sinkOf(process.stderr, secrets.scrub);
  const context: Context = {
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
    terminal: process.stderr,
    env: process.env,
    clock: systemClock,
    random: Math.random,
    secrets,
    signal: interrupt.signal,
    unicode: hasUnicode(process.env),
  };
  // Nobody reads what a watch would still say: end it, as a hang-up would.
  stdout.closed.addEventListener('abort', () => interrupt.abort('SIGHUP'));

  const code = await runCli(process.argv.slice(2), context);
  // Whatever still hangs (a connection being made, a timer) must not hold the process after its last word.
  process.stdout.write('', () => process.stderr.write('', () => end(code)));
}

function end(code: number): never {
  const showCursor = '\u001B[?25h';
  if (process.stderr.isTTY) process.stderr.write(showCursor);
  process.exit(code);
}

function sinkOf(stream: NodeJS.WriteStream, filter: (text: string) => string): Sink {
  const closed = new AbortController();
  stream.on('error', () => closed.abort());
  return {
    write(text) {
      if (!closed.signal.aborted) stream.write(filter(text));
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns || 80;
    },
    colors: hasColors(stream, process.env),
    closed: closed.signal,
  };
}

// A longer delay makes Node's timer fire at once.
const longestTimerMs = 2 ** 31 - 1;

const systemClock: Clock = {
  nowMs: Date.now,
  // The same clock as performance.now(), without loading node:perf_hooks.
  elapsedMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        clearTimeout(timer);
        forget?.();
        resolve();
      };
      const timer = setTimeout(wake, Math.min(ms, longestTimerMs));
      const forget = signal && onAbort(signal, wake);
    });
  },
};
