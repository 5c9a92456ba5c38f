import { createInterface } from 'node:readline';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { unlessInterrupted } from './unless-interrupted.ts';

/** Asks on the terminal for a line, which is shown and can be edited. Ctrl-C and Ctrl-D throw an interrupted problem. */
export async function askLine(question: string, { stdin, terminal, signal }: Context): Promise<string> {
  const reader = createInterface({ input: stdin, output: terminal });
  const typed = new Promise<string>((resolve, reject) => {
    reader.once('close', () => reject(new Problem({ name: 'interrupted', message: 'interrupted' })));
    reader.question(question, resolve);
  });
  try {
    return await unlessInterrupted(typed, signal);
  } finally {
    reader.close();
  }
}
