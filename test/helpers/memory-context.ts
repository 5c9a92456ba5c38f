import { PassThrough } from 'node:stream';
import type { Context, Sink } from '../../src/context.ts';
import { silentReporter } from '../../src/runs/events.ts';
import { createSecrets } from '../../src/secrets.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A context in memory: what is written is kept, and standard input is what the test says. */
export interface Memory extends Context {
  stdin: PassThrough & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  terminal: PassThrough & Context['terminal'];
  out(): string;
  err(): string;
  interrupt(reason: string): void;
}

export function createMemory(env: Record<string, string | undefined> = {}, input?: string): Memory {
  const stdin = new PassThrough();
  if (input !== undefined) stdin.end(input);
  const stdout = createSink();
  const stderr = createSink();
  const interrupt = new AbortController();
  return {
    stdin,
    stdout,
    stderr,
    terminal: Object.assign(new PassThrough(), { columns: 80, rows: 24 }),
    env,
    clock: createVirtualClock(),
    random: () => 0.5,
    secrets: createSecrets(),
    reporter: silentReporter,
    command: null,
    warnings: [],
    signal: interrupt.signal,
    unicode: true,
    out: () => stdout.text,
    err: () => stderr.text,
    interrupt: (reason) => interrupt.abort(reason),
  };
}

function createSink(): Sink & { text: string } {
  return {
    text: '',
    isTTY: false,
    columns: 80,
    colors: false,
    closed: new AbortController().signal,
    write(text) {
      this.text += text;
    },
  };
}
