import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { runCli } from '../../src/cli/run-cli.ts';
import type { Sink } from '../../src/context.ts';
import { hasColors, hasUnicode } from '../../src/output/theme.ts';
import { systemClock } from '../../src/process.ts';
import { program } from '../../src/program.ts';
import type { Clock } from '../../src/system/clock.ts';
import type { Env } from '../../src/system/env.ts';
import { createSecrets } from '../../src/system/secrets.ts';
import { checkDocuments } from './check-documents.ts';
import { jsonLines } from './json-lines.ts';
import { checkPrinted } from './printed-commands.ts';
import type { ScreenStream } from './screen-stream.ts';

export interface ProgramOptions {
  /** The whole environment, as cron would give it: nothing is inherited. */
  env?: Env;
  /** Standard input; without it, input is empty. A stream ends when the test ends it. */
  input?: string | PassThrough;
  /** Interrupts the program, as a process is by a signal: the reason is the signal's name. */
  signal?: AbortSignal;
  /** Aborts when the reader of standard output leaves. */
  reader?: AbortSignal;
  /** Default: the clock of the machine. */
  clock?: Clock;
  /** Default: Math.random. */
  random?(): number;
  /** A terminal in memory, on which both streams are. */
  screen?: ScreenStream;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
  /** What `--json` printed. */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects.
  documents: any[];
  /** Both streams, in the order in which they were written. */
  said: string;
  tookMs: number;
}

/** Runs the program in this process, to its end: the real HTTP, the streams in memory. */
export async function runProgram(argv: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  const { env = {}, input = '', signal = new AbortController().signal, screen } = options;
  const { clock = systemClock, random = Math.random } = options;
  const startMs = performance.now();
  const secrets = createSecrets();
  const stdin = typeof input === 'string' ? new PassThrough().end(input) : input;
  const said: string[] = [];
  const stdout = Object.assign(memorySink(env, said, screen), options.reader && { closed: options.reader });
  const stderr = memorySink(env, said, screen, secrets.scrub);
  const code = await runCli(argv, program, {
    stdin: () => stdin,
    stdout,
    stderr,
    terminal: () => screen ?? process.stderr,
    env,
    clock,
    random,
    secrets,
    signal,
    unicode: hasUnicode(env),
    isInteractive: () => !env.CI,
    resumptions: () => 0,
  });
  checkDocuments(argv, stdout.text);
  checkPrinted(argv, stdout.text, stderr.text);
  if (code === 2) checkNextStep(argv, stderr.text);
  const documents = argv.includes('--json') && stdout.text.startsWith('{') ? jsonLines(stdout.text) : [];
  const tookMs = performance.now() - startMs;
  return { code, stdout: stdout.text, stderr: stderr.text, said: said.join(''), documents, tookMs };
}

/** Throws if a refusal doesn't say what to type instead. */
function checkNextStep(argv: readonly string[], stderr: string): void {
  const isForPeople = !argv.includes('--json') && /^runctl: /m.test(stderr);
  const steps = /^( *→| *--|then:) /m;
  if (isForPeople && !steps.test(stripVTControlCharacters(stderr))) throw new Error(`no next step: ${stderr}`);
}

function memorySink(
  env: Env,
  said: string[],
  screen?: ScreenStream,
  filter = (text: string) => text,
): Sink & { text: string } {
  const sink = {
    text: '',
    isTTY: screen !== undefined && !env.CI,
    columns: () => screen?.columns ?? 80,
    colors: hasColors({ isTTY: screen !== undefined && !env.CI }, env),
    closed: new AbortController().signal,
    lost: () => undefined,
    write(text: string) {
      const shown = filter(text);
      sink.text += shown;
      said.push(shown);
      screen?.write(shown);
    },
  };
  return sink;
}
