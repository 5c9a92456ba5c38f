import { PassThrough } from 'node:stream';
import type { CommandContext, Input, Sink, Terminal } from '../../src/context.ts';
import { silentReporter } from '../../src/run/events.ts';
import { createSecrets } from '../../src/system/secrets.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A context in memory: what is written is kept, and standard input is what the test says. */
export interface Memory extends CommandContext {
  stdin(): PassThrough & Input;
  terminal(): PassThrough & Terminal;
  out(): string;
  err(): string;
  interrupt(reason: string): void;
}

export function createMemory(env: Record<string, string | undefined> = {}, input?: string): Memory {
  const stdin = new PassThrough();
  if (input !== undefined) stdin.end(input);
  const stdout = createSink();
  const stderr = createSink();
  const terminal = Object.assign(new PassThrough(), { columns: 80, rows: 24 });
  const interrupt = new AbortController();
  return {
    stdin: () => stdin,
    stdout,
    stderr,
    terminal: () => terminal,
    env,
    clock: createVirtualClock(),
    random: () => 0.5,
    secrets: createSecrets(),
    reporter: silentReporter,
    command: null,
    commandLine: '',
    typed: [],
    withFlags: (command) => command,
    warnings: [],
    signal: interrupt.signal,
    unicode: true,
    isInteractive: () => true,
    resumptions: () => 0,
    out: () => stdout.text,
    err: () => stderr.text,
    interrupt: (reason) => interrupt.abort(reason),
  };
}

function createSink(): Sink & { text: string } {
  const sink = {
    text: '',
    isTTY: false,
    columns: () => 80,
    colors: false,
    closed: new AbortController().signal,
    lost: () => undefined,
    write(text: string) {
      sink.text += text;
    },
  };
  return sink;
}
