import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { segmentsOf } from './segments.ts';

const smallestBlockBytes = 32 * 1024;
const largestBlockBytes = 512 * 1024;

export interface LineFilter {
  /** A text that the line holds. */
  needle?: string;
  /** An ISO 8601 time: reading ends soon after the lines written before it begin. */
  since?: string;
}

/**
 * The lines of the journal in `folder`, the last one first. Reads no further than the caller asks. What cannot be read
 * is handed to `onError` and passed over; what is not there is no error.
 */
export function* readLines(folder: string, filter: LineFilter, onError: (error: unknown) => void): Generator<string> {
  const attempt = <T>(action: () => T): T | undefined => {
    try {
      return action();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error);
      return undefined;
    }
  };
  for (const { file } of attempt(() => segmentsOf(folder)) ?? []) {
    const fd = attempt(() => openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
    if (fd === undefined) continue;
    try {
      if ((yield* linesBackwards(fd, fstatSync(fd).size, filter)) === 'old') return;
    } catch (error) {
      onError(error);
    } finally {
      closeSync(fd);
    }
  }
}

function* linesBackwards(fd: number, size: number, filter: LineFilter): Generator<string, 'old' | 'read'> {
  const { needle = '', since = '' } = filter;
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
    if (timeOf(whole) < since) return 'old';
    end = start;
    blockBytes = Math.min(largestBlockBytes, blockBytes * 2);
  }
  return 'read';
}

/** When the first line was written; of a foreign one nobody knows, so that it is never too old. */
function timeOf(lines: Buffer): string {
  return /^\n*\{"schema":1,"at":"([^"]+)"/.exec(lines.toString('latin1', 0, 64))?.[1] ?? '~';
}

function readBytes(fd: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start));
}
