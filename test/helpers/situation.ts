import { mkdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { Terminal } from '@xterm/headless';
import { vi } from 'vitest';
import { splitLine } from '../../src/commands/complete.ts';
import { parseDuration } from '../../src/system/time-text.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import type { FaultyEmulator } from '../fault-kit/start.ts';
import { withEmulator } from './emulator.ts';
import { startFaultyServer } from './faulty-server.ts';
import { createLeapingClock, type LeapingClock } from './leaping-clock.ts';
import { type Ended, runProgram } from './run-program.ts';
import { readerOf } from './screen-reader.ts';
import { ScreenStream } from './screen-stream.ts';

/** A machine and a service on which something has happened, in which a command is typed. */
export interface Situation {
  scenario?: Scenario;
  /** The config file: its text, or what it holds. `<url>` is the base URL. */
  config?: string | object;
  /** What happened before, in this order: command lines, time that passed (`2h`), and anything else. */
  before?: readonly Step[];
  /** Variables of the command alone. An empty one is as good as none, and `<server>` is the origin of `server`. */
  env?: Record<string, string>;
  /** What a server does with a request, once it has the whole head. */
  server?: (socket: Socket, head: string) => void;
  /** What is in standard input. */
  input?: string;
  /** What is typed whenever something is asked; `<url>` is the base URL. With it, everything is at a terminal. */
  typed?: readonly string[];
  /** A signal comes before the command begins, with its nth request, or when its nth pause begins. */
  signal?: { at: 'start' | 'request' | 'pause'; nth?: number; name?: 'SIGINT' | 'SIGTERM' | 'SIGHUP' };
  /** Another process is waited for, so a pause lasts as long as it says. */
  isReal?: boolean;
}

export type Step = string | ((machine: Machine) => unknown);

export interface Machine {
  env: Record<string, string>;
  clock: LeapingClock;
  emulator: FaultyEmulator;
}

export interface Said {
  code: number;
  text: string;
}

const startMs = Date.parse('2026-01-02T03:04:05Z');

/** What a person reads, on both streams. Everything that differs from one time to another is replaced. */
export async function saidIn(line: string, situation: Situation): Promise<Said> {
  const { scenario = {}, config, before = [], server, signal, isReal } = situation;
  const clock = createLeapingClock(startMs);
  const interrupt = new AbortController();
  let left = Number.POSITIVE_INFINITY;
  const note = (what: 'start' | 'request' | 'pause') => {
    if (signal?.at === what && --left === 0) interrupt.abort(signal.name ?? 'SIGINT');
  };
  const { emulator, env: given } = await withEmulator(scenario, { onRequest: () => note('request') }, clock);
  const machine = { env: { ...given, LANG: 'C.UTF-8', NO_COLOR: '1' }, clock, emulator };
  if (config !== undefined) writeConfig(config, machine);
  for (const step of before) await take(step, machine);

  left = signal?.nth ?? 1;
  note('start');
  const sleep: LeapingClock['sleep'] = async (ms, ended) => {
    note('pause');
    if (!isReal) return clock.sleep(ms, ended);
    await clock.sleepReally(ms, ended);
    clock.leap(ms);
  };
  const { origin = '' } = server ? await startFaultyServer(server) : {};
  const own = Object.entries(situation.env ?? {}).map(([name, value]) => [name, value.replace('<server>', origin)]);
  const { code, text } = await readBy(wordsOf(line, machine), situation, emulator.url, {
    env: { ...machine.env, ...Object.fromEntries(own) },
    clock: { ...clock, sleep },
    random,
    signal: interrupt.signal,
  });
  return { code, text: settled(text, machine) };
}

const random = () => 0.5;

function writeConfig(config: string | object, { env, emulator }: Machine): void {
  const { RUNCTL_CONFIG_DIR: folder = '' } = env;
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  mkdirSync(folder);
  writeFileSync(join(folder, 'config.json'), text.replaceAll('<url>', emulator.url), { mode: 0o600 });
}

async function take(step: Step, machine: Machine): Promise<void> {
  const { env, clock } = machine;
  if (typeof step === 'function') return void (await step(machine));
  const ms = parseDuration(step.replace(/^-/, ''));
  if (ms === undefined) await runProgram(wordsOf(step, machine), { env, clock, random });
  else clock.leap(step.startsWith('-') ? -ms : ms);
}

/** The id of the nth run that the service has started, or its first eight characters, as lines and texts have it. */
const nthId = /\b000000(\d\d)(-0000-4000-8000-000000000000)?\b/g;

function wordsOf(line: string, { emulator }: Machine): string[] {
  const real = line.replace(nthId, (_, nth, rest) => {
    const { executionId = '' } = emulator.runs()[Number(nth) - 1] ?? {};
    return rest ? executionId : executionId.slice(0, 8);
  });
  return real === '' ? [] : splitLine(real).words;
}

function settled(text: string, { emulator, env }: Machine): string {
  const ids = emulator.runs().map(({ executionId }) => executionId);
  const numbered = ids.reduce((shown, id, index) => {
    const start = String(index + 1).padStart(8, '0');
    return shown.replaceAll(id, `${start}-0000-4000-8000-000000000000`).replaceAll(id.slice(0, 8), start);
  }, text);
  return numbered
    .replaceAll(emulator.projectId, '<project>')
    .replaceAll(dirname(env.RUNCTL_STATE_DIR ?? ''), '<folder>')
    .replace(/'(<folder>[^']*)'/g, '$1') // quoted, if it has a blank
    .replaceAll(/127\.0\.0\.1:\d{4,}/g, '127.0.0.1:8080')
    .replaceAll(/process \d+ on [\w-]+(\.[\w-]+)*/g, 'process 4711 on vm')
    .replaceAll(/(bug in runctl )\S+(: .*) \(at .*\)/g, '$1<version>$2 (at <place>)')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => (isFixed(id) ? id : '<key>'));
}

/** Is it an id, or the example of one, and no idempotency key that runctl has made? */
const isFixed = (id: string) => /^(000000..|6f1c9f5e|123e4567)-/.test(id);

/** Runs it. At a terminal, what is read is what is on the screen, which is so wide that no line is broken. */
async function readBy(
  words: string[],
  { input, typed }: Situation,
  url: string,
  options: Parameters<typeof runProgram>[1],
): Promise<Said> {
  if (!typed) {
    const { code, said }: Ended = await runProgram(words, { ...options, input });
    return { code, text: said };
  }
  const terminal = new Terminal({ cols: 400, rows: 100, allowProposedApi: true, convertEol: true });
  const screen = new ScreenStream(terminal);
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  const ended = runProgram(words, { ...options, screen, input: keyboard });
  for (const answer of typed) {
    const seen = screen.written.length;
    const isAsked = () => /[:\]] $/.test(stripVTControlCharacters(screen.written.slice(seen)));
    await vi.waitUntil(isAsked, { timeout: 10_000, interval: 2 });
    keyboard.write(`${answer.replace('<url>', url)}\r`);
  }
  const { code } = await ended;
  const lines = await readerOf(terminal).lines();
  return { code, text: lines.map((each) => `${each}\n`).join('') };
}
