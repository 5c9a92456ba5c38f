import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Context } from '../context.ts';
import { usageProblem } from '../runs/problem.ts';

const mostBytes = 64 * 1024;

/** What may be shown of a stored key: its last four characters, and of a short one nothing. */
export function maskKey(key: string): string {
  return key.length < 8 ? '****' : `****${key.slice(-4)}`;
}

/** The text of a key file, or of standard input for `-`. Throws a usage problem that names the path. */
export async function readKeyFile(path: string, { stdin }: Pick<Context, 'stdin'>): Promise<string> {
  if (path === '-') return readAll(stdin);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    if (fstatSync(file).isDirectory()) throw new Error('it is a folder');
    const bytes = Buffer.alloc(mostBytes + 1);
    const size = readSync(file, bytes, 0, bytes.length, null);
    if (size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
    return bytes.toString('utf8', 0, size);
  } catch (error) {
    throw usageProblem(`the key file ${path} cannot be read: ${(error as Error).message}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > mostBytes) throw usageProblem(`standard input is larger than ${mostBytes} bytes: that is no API key`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
