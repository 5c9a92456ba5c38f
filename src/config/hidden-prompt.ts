import { stripVTControlCharacters } from 'node:util';
import type { Context } from '../context.ts';
import { interruptedProblem } from '../runs/fault-problem.ts';
import { usageProblem } from '../runs/problem.ts';

/** Asks on the terminal without echo. Throws when the user interrupts; the terminal's mode is put back whatever happens. */
export function askHidden(question: string, { stdin, stderr, signal }: Context): Promise<string> {
  stderr.write(question);
  return new Promise<string>((resolve, reject) => {
    let typed = '';
    const onData = (chunk: Buffer | string) => {
      // A pasted text may come wrapped in marks; an arrow key as an escape sequence.
      for (const character of stripVTControlCharacters(String(chunk))) {
        if (character === '\u0003') return finish(() => reject(interruptedProblem(AbortSignal.abort('SIGINT'))));
        if (character === '\r' || character === '\n') return finish(() => resolve(typed));
        if (character === '\u0004') {
          return finish(() =>
            typed ? resolve(typed) : reject(usageProblem('nothing was typed, so nothing was stored')),
          );
        }
        if (character === '\u0015') typed = '';
        else if (character === '\u007F' || character === '\b') typed = [...typed].slice(0, -1).join('');
        else typed += character;
      }
    };
    const onAbort = () => finish(() => reject(interruptedProblem(signal)));
    const finish = (settle: () => void) => {
      stdin.off('data', onData);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    stdin.setRawMode?.(true);
    stdin.setEncoding('utf8');
    stdin.on('data', onData);
    signal.addEventListener('abort', onAbort, { once: true });
    stdin.resume();
  });
}
