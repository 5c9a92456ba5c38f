import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { askHidden } from './hidden-prompt.ts';
import { readText } from './read-text.ts';
import { unlessInterrupted } from './unless-interrupted.ts';

const mostBytes = 64 * 1024;
const readKey = (stream: AsyncIterable<string | Buffer>, what: string) =>
  readText(stream, what, mostBytes, 'give the API key and nothing else');

/** The text of a key file, at most 64 KiB; a pipe will do (`<(pass show runctl)`). Throws a usage problem with its path. */
export async function readKeyFile(path: string, { signal }: Context): Promise<string> {
  try {
    return await unlessInterrupted(readKey(openKeyFile(path), `the key file ${path}`), signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw usageProblem(`the key file ${path} cannot be read (${code})`, 'it must hold the API key and nothing else');
  }
}

/**
 * A pipe that nobody writes to would block the thread that opens it, and the process could not end before that thread:
 * it is opened without waiting, and read as a socket is.
 */
function openKeyFile(path: string): AsyncIterable<Buffer> {
  if (!statSync(path).isFIFO()) return createReadStream(path);
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
}

/** The key from standard input: asked for without echo on a terminal, read to the end from a pipe. */
export async function readKeyInput(context: Context): Promise<string> {
  const { stdin, signal } = context;
  if (stdin.isTTY) return askHidden('API key: ', context);
  return unlessInterrupted(readKey(stdin, 'the API key on standard input'), signal);
}
