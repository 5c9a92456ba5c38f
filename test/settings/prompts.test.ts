import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/run/problem.ts';
import { askHidden } from '../../src/settings/prompts.ts';
import { createMemory } from '../helpers/memory-context.ts';

function createTerminal() {
  const memory = createMemory();
  const modes: boolean[] = [];
  Object.assign(memory.stdin(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
  Object.assign(memory.stderr, { isTTY: true });
  return { ...memory, modes };
}

const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;

describe('a hidden line', () => {
  test.each([
    ['is what was typed', ['hunter', '2', '\r'], 'hunter2'],
    ['ends at a newline too', ['hunter2\n'], 'hunter2'],
    ['ends at Ctrl-D', ['hunter2\u0004'], 'hunter2'],
    ['loses its last character to backspace', ['huntex\u007fr22\b\r'], 'hunter2'],
    ['is not emptied below nothing', ['\u007f\u007fa\r'], 'a'],
    ['loses a whole character, whatever its length', ['a\u{1F511}\u007fb\r'], 'ab'],
    ['is emptied by Ctrl-U', ['wrong\u0015hunter2\r'], 'hunter2'],
    ['takes no notice of other keys with Ctrl', ['hun\u001ater\u00012\r'], 'hunter2'],
    ['takes no notice of arrow keys', ['hun\u001b[D\u001bOAter2\u001b[1;5C\r'], 'hunter2'],
    ['may be pasted', [paste('hunter2'), '\r'], 'hunter2'],
    ['may be pasted in pieces', ['\u001b[20', '0~hun', 'ter2\u001b', '[201~', '\r'], 'hunter2'],
    ['keeps the line breaks of a paste for the check to see', [paste('hun\rter2'), '\r'], 'hun\nter2'],
    ['is empty when nothing was typed', ['\r'], ''],
  ])('%s', async (_, chunks, line) => {
    const terminal = createTerminal();
    const asked = askHidden('API key: ', terminal);
    for (const chunk of chunks) terminal.stdin().write(chunk);
    expect(await asked).toBe(line);
  });

  test('is asked for on stderr in bracketed paste mode, and the terminal is as before', async () => {
    const terminal = createTerminal();
    const asked = askHidden('API key: ', terminal);
    terminal.stdin().write('hunter2\r');
    await asked;
    expect(terminal.modes).toEqual([true, false]);
    expect([terminal.out(), terminal.err()]).toEqual(['', 'API key: \u001b[?2004h\u001b[?2004l\n']);
  });

  test('joins characters that arrive in pieces', async () => {
    const terminal = createTerminal();
    const asked = askHidden('?', terminal);
    const [first, second] = Buffer.from('\u00e9');
    terminal.stdin().write(Buffer.from([first ?? 0]));
    terminal.stdin().write(Buffer.from([second ?? 0, 13]));
    expect(await asked).toBe('\u00e9');
  });

  test('ends with the input', async () => {
    const terminal = createTerminal();
    const asked = askHidden('?', terminal);
    terminal.stdin().end('hunter2');
    expect(await asked).toBe('hunter2');
  });

  test.each([
    ['Ctrl-C', 'interrupted', (terminal: ReturnType<typeof createTerminal>) => terminal.stdin().write('hun\u0003')],
    [
      'SIGTERM',
      'interrupted_terminated',
      (terminal: ReturnType<typeof createTerminal>) => terminal.interrupt('SIGTERM'),
    ],
  ])('is cancelled by %s as %s, and the terminal is as before', async (_, name, interrupt) => {
    const terminal = createTerminal();
    const asked = askHidden('?', terminal);
    interrupt(terminal);
    const problem = await asked.catch((error: Problem) => error);
    expect(problem).toMatchObject({ facts: { name } });
    expect(terminal.modes).toEqual([true, false]);
    expect(terminal.stdin().listenerCount('keypress')).toBe(0);
    expect(terminal.stdin().isPaused()).toBe(true);
  });

  test('writes no control sequences if stderr is no terminal', async () => {
    const terminal = createTerminal();
    Object.assign(terminal.stderr, { isTTY: false });
    const asked = askHidden('?', terminal);
    terminal.stdin().write('a\r');
    await asked;
    expect(terminal.err()).toBe('?\n');
  });
});
