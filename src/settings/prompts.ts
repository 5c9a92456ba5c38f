import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import type { Context } from '../context.ts';
import { Problem } from '../run/problem.ts';
import { unlessInterrupted } from './unless-interrupted.ts';

/** Asks on the terminal for a line, which is shown and can be edited. Throws the interrupted problem on Ctrl-C and Ctrl-D. */
export async function askLine(question: string, { signal, ...context }: Context): Promise<string> {
  const terminal = context.terminal();
  const reader = createInterface({ input: context.stdin(), output: terminal });
  // After Ctrl-Z and `fg`, Node has paused the input, and without input the process would exit.
  reader.on('SIGCONT', () => reader.resume());
  const typed = new Promise<string>((resolve, reject) => {
    reader.once('close', () => reject(new Problem({ name: 'interrupted', message: 'interrupted' })));
    reader.question(question, (text) => {
      resolve(text);
      // What was pasted after the line break may be the API key, and would be shown.
      reader.close();
    });
  });
  try {
    return await unlessInterrupted(typed, signal);
  } catch (error) {
    // What is printed next starts on a new line.
    terminal.write('\n');
    throw error;
  } finally {
    reader.close();
  }
}

/** On a terminal, they turn the marks around pasted text on and off. */
const pasteMarks = ['\u001B[?2004h', '\u001B[?2004l'] as const;

/** Asks for a line that is not shown; a pasted line break does not end it. Throws the interrupted problem on Ctrl-C. */
export async function askHidden(question: string, context: Context): Promise<string> {
  const { stderr, signal, env } = context;
  const stdin = context.stdin();
  const [marksOn, marksOff] = stderr.isTTY && env.TERM !== 'dumb' ? pasteMarks : ['', ''];
  let characters: string[] = [];
  let isPasting = false;
  let stop = () => {};
  const typed = new Promise<string>((resolve, reject) => {
    const finish = () => resolve(characters.join(''));
    const press = (text: string | undefined, { name, ctrl }: Key) => {
      if (name === 'paste-start' || name === 'paste-end') isPasting = name === 'paste-start';
      // An arrow key, for instance, has no text.
      else if (text === undefined) return;
      else if (isPasting) characters.push(text === '\r' ? '\n' : text);
      else if (ctrl && name === 'c')
        reject(new Problem({ name: 'interrupted', message: 'interrupted before an API key was given' }));
      else if (name === 'return' || name === 'enter' || (ctrl && name === 'd')) finish();
      else if (ctrl && name === 'u') characters = [];
      else if (name === 'backspace') characters.pop();
      // Another key with Ctrl, such as Ctrl-Z, is no part of an API key.
      else if (!/^\p{Cc}/u.test(text)) characters.push(text);
    };
    emitKeypressEvents(stdin);
    stdin.on('keypress', press).once('end', finish).once('error', reject);
    stop = () => stdin.off('keypress', press).off('end', finish).off('error', reject).pause();
  });
  try {
    stdin.setRawMode?.(true);
    stderr.write(question + marksOn);
    stdin.resume();
    return await unlessInterrupted(typed, signal);
  } finally {
    stop();
    stdin.setRawMode?.(false);
    stderr.write(`${marksOff}\n`);
  }
}
