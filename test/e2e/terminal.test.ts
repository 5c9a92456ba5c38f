// What only a terminal of the system shows: keys, a change of its size, and how it is left. The rest is in test/program.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { shellWord } from '../../src/run/quote.ts';
import type { Scenario } from '../fault-kit/scenario.ts';
import { going, withEmulator } from '../helpers/emulator.ts';
import { entry } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openScreen, openTerminal, type ScreenOptions } from '../helpers/screen.ts';
import { atTheEnd } from '../helpers/screen-reader.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ctrlC = '\u0003';

/** The built program on a terminal, beside an emulator of its own. */
async function onScreen(argv: string[], scenario: Scenario, { env = {}, ...size }: Partial<ScreenOptions> = {}) {
  const served = await withEmulator(scenario);
  const around = { ...served.env, ...env };
  const screen = openScreen(argv, { ...size, env: around });
  onTestFinished(screen.kill);
  return { ...served, ...screen, env: around };
}

describe('a watch on a terminal', () => {
  const watching = ['--watch', '--interval', '50ms'];

  test('leaves nothing behind if the terminal becomes narrower', async () => {
    const screen = await onScreen(['trigger', 'nightly', ...watching], going);
    await screen.sees(/RUNNING/);
    screen.resize(40, 20);
    screen.endRuns();
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(0);
    expect(text).not.toContain('RUNNING');
  });

  test.each<[string[], Record<string, string>, hasColors: boolean, isAscii: boolean]>([
    [[], {}, true, false],
    [['--no-color'], {}, false, false],
    [[], { LANG: 'C' }, true, true],
  ])('with %j and %j has colors: %s, ASCII alone: %s', async (flags, env, hasColors, isAscii) => {
    const screen = await onScreen(['trigger', 'nightly', ...watching, ...flags], going, { env });
    await screen.sees(/RUNNING/);
    screen.endRuns();
    await atTheEnd(screen);
    const written = screen.written();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what begins a color
    expect([/\u001B\[\d+m/.test(written), /^\p{ASCII}*$/u.test(written)]).toEqual([hasColors, isAscii]);
  });

  test('is reported in plain lines with CI set', async () => {
    const short = { automations: { '*': { duration: '1ms' } } };
    const screen = await onScreen(['trigger', 'nightly', ...watching], short, { env: { CI: 'true' } });
    const { code, text } = await atTheEnd(screen);
    expect([code, text]).toEqual([0, expect.stringMatching(/ \+0000 nightly COMPLETED$/m)]);
    expect(screen.written()).not.toContain('\u001B');
  });

  test('leaves no part of the board of several runs after Ctrl-C, and names each run', async () => {
    const names = ['a-name-of-some-length', 'another-name-of-some-length', 'c'];
    const screen = await onScreen(['trigger', ...names, ...watching], going, { columns: 120 });
    await screen.sees(/^ {2}c +RUNN/);
    screen.type(ctrlC);
    const { code, text } = await atTheEnd(screen);
    expect(code).toBe(130);
    expect(text).not.toContain('RUNNING');
    for (const { executionId } of screen.emulator.runs()) expect(text).toContain(`runctl watch ${executionId}`);
  });
});

describe('in a shell with job control', () => {
  const [ctrlZ, enter] = ['\u001A', '\r'];

  /** A shell on a terminal, in which `command` was typed. */
  async function inShell(command: string) {
    const served = await withEmulator(going);
    const env = { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...served.env };
    const screen = openTerminal('/bin/bash', ['--norc', '--noprofile', '-i'], { env, columns: 200 });
    onTestFinished(screen.kill);
    const type = (line: string) => screen.type(`${line}${enter}`);
    const words = [process.execPath, entry].map(shellWord).join(' ');
    type(`alias runctl="${words}"; PS1='> '`);
    type(command);
    return { ...served, ...screen, enter: type, ctrlZ: () => screen.type(ctrlZ) };
  }

  test('`runctl config` continues after Ctrl-Z and `fg`, and shows nothing that was pasted after a line', async () => {
    const screen = await inShell(`RUNCTL_CONFIG_DIR=${shellWord(temporaryFolder())} runctl config`);
    await screen.sees(/^base URL/);
    screen.ctrlZ();
    await screen.sees(/Stopped/);
    screen.enter('fg');
    const questions = async () => (await screen.lines()).filter((line) => line.startsWith('base URL of the service:'));
    await vi.waitFor(async () => expect(await questions()).toHaveLength(2), { timeout: 10_000 });
    screen.enter(`${screen.emulator.url}${enter}pasted-api-key`);
    await screen.sees(/^API key/);
    expect(screen.written()).not.toContain('pasted-api-key');
  });

  /** Lines of the shell, which a board that is drawn later must not erase. */
  const shellLines = (lines: string[]) => lines.filter((line) => /Stopped|^> |^typed/.test(line)).slice(1);

  test('a board continues below the lines of the shell after Ctrl-Z and `fg`', async () => {
    const screen = await inShell('runctl trigger nightly weekly --watch');
    await screen.sees(/^ +nightly +RUNNING/);
    screen.ctrlZ();
    await screen.sees(/Stopped/);
    screen.enter('echo typed');
    await screen.sees(/^typed/);
    screen.enter('fg');
    await vi.waitFor(async () => expect((await screen.lines()).at(-1)).toMatch(/weekly +RUNNING/), { timeout: 10_000 });
    const lines = await screen.lines();
    expect(shellLines(lines)).toEqual([expect.stringContaining('Stopped'), '> echo typed', 'typed', '> fg']);
  });

  test.each([
    ['Ctrl-Z and `bg`', 'runctl trigger nightly --watch'],
    ['`&`', 'runctl trigger nightly --watch &'],
  ])('after %s changes are lines, and nothing is erased', async (_, command) => {
    const screen = await inShell(command);
    if (command.endsWith('&')) await screen.sees(/nightly RUNNING/);
    else {
      await screen.sees(/^\S nightly RUNNING/);
      screen.ctrlZ();
      await screen.sees(/Stopped/);
      screen.enter('bg');
    }
    screen.enter('echo typed');
    await screen.sees(/^typed/);
    const before = screen.written().length;
    screen.endRuns();
    await screen.sees(/ \+0000 nightly COMPLETED/);
    expect(screen.written().slice(before)).not.toContain('\u001B[1A');
  });
});

describe('`runctl config` without arguments', () => {
  const env = { RUNCTL_API_KEY: '', RUNCTL_BASE_URL: '', RUNCTL_PROJECT: '' };

  test('asks for base URL, key and project, and does not show the key', async () => {
    const screen = await onScreen(['config'], {}, { env });
    const { url, apiKey, projectId } = screen.emulator;
    for (const [question, answer] of [
      [/base URL/, url],
      [/API key/, apiKey],
      [/project/, projectId],
    ] as const) {
      await screen.sees(question);
      screen.type(`${answer}\r`);
    }
    expect(await screen.exit).toBe(0);
    expect(screen.written()).not.toContain(apiKey);
    expect(await runProgram(['trigger', 'nightly'], { env: screen.env })).toMatchObject({ code: 0 });
  });
});
