import { createInterface, emitKeypressEvents, type Key } from 'node:readline';
import type { CommandContext } from '../context.ts';
import { Problem } from '../run/problem.ts';
import { unlessInterrupted } from './unless-interrupted.ts';

/**
 * Asks on the terminal for a line, which is shown and can be edited. Throws the interrupted problem
 * on Ctrl-C and Ctrl-D.
 */
export async function askLine(
  question: string,
  { signal, ...context }: CommandContext,
): Promise<string> {
  const terminal = context.terminal();
  const reader = createInterface({ input: context.stdin(), output: terminal });
  // After Ctrl-Z and `fg`, Node has paused the input, and without input the process would exit.
  reader.on('SIGCONT', () => reader.resume());
  const typed = new Promise<string>((resolve, reject) => {
    reader.once('close', () =>
      reject(new Problem({ name: 'interrupted', message: 'interrupted' })),
    );
    reader.question(question, (text) => {
      resolve(text);
      // What was pasted after the line break may be the API key, and would be shown.
      reader.close();
    });
  });
  try {
    return await unlessInterrupted(typed, signal);
  } catch (error) {
    // The next text must start on a new line.
    terminal.write('\n');
    throw error;
  } finally {
    reader.close();
  }
}

/**
 * Escape sequences that switch bracketed paste mode on and off, in which a terminal marks pasted
 * text.
 */
const pasteMarks = ['\u001B[?2004h', '\u001B[?2004l'] as const;

/**
 * Asks for a line that is not shown; a pasted line break does not end it. Throws the interrupted
 * problem on Ctrl-C.
 */
export async function askHidden(question: string, context: CommandContext): Promise<string> {
  const { stderr, signal, env } = context;
  const stdin = context.stdin();
  const [marksOn, marksOff] = stderr.isTTY && env.TERM !== 'dumb' ? pasteMarks : ['', ''];
  let characters: string[] = [];
  let isPasting = false;
  let stop = () => {};
  const typed = new Promise<string>((resolve, reject) => {
    const submit = () => resolve(characters.join(''));
    const press = (text: string | undefined, key: Key) => {
      switch (keyActionOf(text, key, isPasting)) {
        case 'start_paste':
          isPasting = true;
          break;
        case 'end_paste':
          isPasting = false;
          break;
        case 'insert':
          characters.push(isPasting && text === '\r' ? '\n' : (text ?? ''));
          break;
        case 'delete':
          characters.pop();
          break;
        case 'clear':
          characters = [];
          break;
        case 'submit':
          submit();
          break;
        case 'cancel':
          reject(
            new Problem({
              name: 'interrupted',
              message: 'interrupted before an API key was given',
            }),
          );
          break;
      }
    };
    emitKeypressEvents(stdin);
    stdin.on('keypress', press).once('end', submit).once('error', reject);
    stop = () => stdin.off('keypress', press).off('end', submit).off('error', reject).pause();
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

type KeyAction = 'start_paste' | 'end_paste' | 'insert' | 'delete' | 'clear' | 'submit' | 'cancel';

const controlActions: Record<string, KeyAction | undefined> = {
  c: 'cancel',
  d: 'submit',
  u: 'clear',
};

/** What a key does to the hidden line. Undefined if it does nothing. */
function keyActionOf(
  text: string | undefined,
  { name = '', ctrl }: Key,
  isPasting: boolean,
): KeyAction | undefined {
  if (name === 'paste-start') return 'start_paste';
  if (name === 'paste-end') return 'end_paste';
  // Some keys, such as the arrow keys, have no text.
  if (text === undefined) return undefined;
  if (isPasting) return 'insert';
  if (name === 'return' || name === 'enter') return 'submit';
  if (name === 'backspace') return 'delete';
  const controlAction = ctrl ? controlActions[name] : undefined;
  if (controlAction) return controlAction;
  // Another key with Ctrl, such as Ctrl-Z, is no part of an API key.
  return /^\p{Cc}/u.test(text) ? undefined : 'insert';
}
