import { createInterface } from 'node:readline';
import { StringDecoder } from 'node:string_decoder';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { unlessInterrupted } from './read-text.ts';

/** Asks on the terminal for a line, which is shown and can be edited. Throws the interrupted problem on Ctrl-C and Ctrl-D. */
export async function askLine(question: string, { stdin, terminal, signal }: Context): Promise<string> {
  const reader = createInterface({ input: stdin, output: terminal });
  const typed = new Promise<string>((resolve, reject) => {
    reader.once('close', () => reject(new Problem({ name: 'interrupted', message: 'interrupted' })));
    reader.question(question, resolve);
  });
  try {
    return await unlessInterrupted(typed, signal);
  } catch (error) {
    // What is printed next begins a line of its own.
    terminal.write('\n');
    throw error;
  } finally {
    reader.close();
  }
}

const esc = '\u001B';
const paste = { on: `${esc}[?2004h`, off: `${esc}[?2004l`, begin: `${esc}[200~`, end: `${esc}[201~` };
const ctrl = { c: '\u0003', d: '\u0004', h: '\b', u: '\u0015', delete: '\u007F' };

/** An escape sequence (an arrow key, the edge of a paste), or one character. */
const key = new RegExp(`${esc}(?:\\[[0-9;]*[A-Za-z~]|O?.)|[^${esc}]`, 'gsu');
const unfinished = new RegExp(`${esc}(?:\\[[0-9;]*|O)?$`);

/** Asks for a line that is not shown; a pasted line break does not end it. Throws the interrupted problem on Ctrl-C. */
export async function askHidden(question: string, context: Context): Promise<string> {
  const { stdin, stderr, signal } = context;
  const decoder = new StringDecoder('utf8');
  const line = createLine();
  let stop = () => {};
  const typed = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer | string) => {
      const end = line.type(decoder.write(Buffer.from(chunk)));
      if (end === 'interrupted')
        reject(new Problem({ name: 'interrupted', message: 'interrupted; no API key was given' }));
      if (end === 'entered') resolve(line.text());
    };
    const finish = () => resolve(line.text());
    stdin.on('data', read).once('end', finish).once('error', reject);
    stop = () => stdin.off('data', read).off('end', finish).off('error', reject).pause();
  });
  try {
    stdin.setRawMode?.(true);
    stderr.write(question + (stderr.isTTY ? paste.on : ''));
    stdin.resume();
    return await unlessInterrupted(typed, signal);
  } finally {
    stop();
    stdin.setRawMode?.(false);
    stderr.write(`${stderr.isTTY ? paste.off : ''}\n`);
  }
}

function createLine() {
  let characters: string[] = [];
  let isPasting = false;
  let held = '';
  return {
    text: () => characters.join(''),
    type(chunk: string): 'entered' | 'interrupted' | undefined {
      const input = held + chunk;
      held = unfinished.exec(input)?.[0] ?? '';
      for (const [pressed] of input.slice(0, input.length - held.length).matchAll(key)) {
        if (pressed === paste.begin) isPasting = true;
        else if (pressed === paste.end) isPasting = false;
        else if (pressed.startsWith(esc)) continue;
        else if (isPasting) characters.push(pressed === '\r' ? '\n' : pressed);
        else if (pressed === ctrl.c) return 'interrupted';
        else if (pressed === '\r' || pressed === '\n' || pressed === ctrl.d) return 'entered';
        else if (pressed === ctrl.u) characters = [];
        else if (pressed === ctrl.h || pressed === ctrl.delete) characters.pop();
        else characters.push(pressed);
      }
      return undefined;
    },
  };
}
