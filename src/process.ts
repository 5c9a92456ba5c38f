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
  let isOver = false;
  for (const [name, code] of Object.entries(signals)) {
    // `on`, not `once`: with `once`, a second press would kill the process with the cursor still hidden.
    process.on(name as NodeJS.Signals, () => {
      if (interrupt.signal.aborted || isOver) end(code);
      interrupt.abort(name);
    });
  }

  const secrets = createSecrets();
  const stdout = sinkOf(process.stdout, (text) => text);
  // A closed stdout ends the program quietly (contract §3).
  const stderr = sinkOf(process.stderr, (text) => (stdout.closed.aborted ? '' : secrets.scrub(text)));
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
  isOver = true;
  // Whatever still hangs (a connection being made, a timer) must not hold the process after its last word.
  process.stdout.write('', () => process.stderr.write('', () => end(code)));
}

function end(code: number): never {
  // Node does not end before a look-up that hangs in the system's resolver, ten seconds or so. A signal does not wait.
  for (const name of Object.keys(signals)) process.removeAllListeners(name);
  const killer = Object.entries(signals).find(([, ofSignal]) => ofSignal === code)?.[0];
  const isHeld = process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap');
  if (killer && isHeld && process.platform !== 'win32') process.kill(process.pid, killer);
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
  // The clock of performance.now(), without loading node:perf_hooks.
  elapsedMs: () => process.uptime() * 1000,
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
