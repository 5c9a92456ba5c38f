import { createReadStream } from 'node:fs';
import type { Context } from '../context.ts';
import { usageProblem } from '../runs/problem.ts';
import { askHidden } from './hidden-prompt.ts';
import { unlessInterrupted } from './unless-interrupted.ts';

const mostBytes = 64 * 1024;

/** The text of a key file, at most 64 KiB; a pipe will do (`<(pass show runctl)`). Throws a usage problem with its path. */
export async function readKeyFile(path: string, { signal }: Context): Promise<string> {
  try {
    return await unlessInterrupted(readText(createReadStream(path), `the key file ${path}`), signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw usageProblem(`the key file ${path} cannot be read (${code})`, 'it must hold the API key and nothing else');
  }
}

/** The key from standard input: asked for without echo on a terminal, read to the end from a pipe. */
export async function readKeyInput(context: Context): Promise<string> {
  const { stdin, signal } = context;
  if (stdin.isTTY) return askHidden('API key: ', context);
  return unlessInterrupted(readText(stdin, 'the API key on standard input'), signal);
}

async function readText(stream: AsyncIterable<string | Buffer>, what: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk as Buffer);
    bytes += part.length;
    if (bytes > mostBytes) throw usageProblem(`${what} is larger than 64 KiB`, 'give the API key and nothing else');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
