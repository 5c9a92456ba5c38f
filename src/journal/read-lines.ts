import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { activeFile, segmentsOf } from './segments.ts';

const smallestBlockBytes = 32 * 1024;
const largestBlockBytes = 512 * 1024;

/**
 * The lines of the journal in `folder`, the last one first; with `needle` only those that hold it. Reads no further
 * than the caller asks. What cannot be read is handed to `onError` and passed over; what is not there is no error.
 */
export function* readLines(
  folder: string,
  needle: string | undefined,
  onError: (error: unknown) => void,
): Generator<string> {
  // Opened before the segments are listed: a file set aside in between is met twice, never missed.
  const active = attempt(() => openToRead(activeFile(folder)));
  if (active) yield* linesOf(active);
  for (const segment of attempt(() => segmentsOf(folder)) ?? []) {
    const file = attempt(() => openToRead(segment));
    if (file) yield* linesOf(file, active?.inode);
  }

  function* linesOf({ fd, size, inode }: OpenFile, readAlready?: number): Generator<string> {
    try {
      if (inode !== readAlready) yield* linesBackwards(fd, size, needle);
    } catch (error) {
      onError(error);
    } finally {
      closeSync(fd);
    }
  }

  function attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error);
      return undefined;
    }
  }
}

interface OpenFile {
  fd: number;
  size: number;
  inode: number;
}

function openToRead(file: string): OpenFile {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const { size, ino } = fstatSync(fd);
  return { fd, size, inode: ino };
}

function* linesBackwards(fd: number, size: number, needle = ''): Generator<string> {
  // The end of a line that begins further to the left.
  let rest = Buffer.alloc(0);
  let blockBytes = smallestBlockBytes;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    const block = Buffer.concat([readBytes(fd, start, end), rest]);
    const lineBreak = block.indexOf('\n');
    const cut = start === 0 ? 0 : lineBreak === -1 ? block.length : lineBreak;
    const whole = block.subarray(cut);
    rest = block.subarray(0, cut);
    // Searching the raw bytes is ten times as fast as taking them apart.
    if (whole.includes(needle)) {
      for (const line of whole.toString().split('\n').reverse()) {
        if (line !== '' && line.includes(needle)) yield line;
      }
    }
    end = start;
    blockBytes = Math.min(largestBlockBytes, blockBytes * 2);
  }
}

function readBytes(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
}
