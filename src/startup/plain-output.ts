import { fstatSync, writeSync } from 'node:fs';

export interface Output {
  write(text: string | Buffer, written?: (error?: NodeJS.ErrnoException | null) => void): unknown;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Every empty pipe has room for this much, so Ctrl-C works even if the reader doesn't read. */
const roomOfPipe = 4096;

/** Writes the first 4 KiB to a file or a pipe without the stream, which takes 8 ms to load. */
export function openOutput(fd: number, open: () => Output): Output {
  let room = roomOfPipe;
  let fail = (_error: NodeJS.ErrnoException) => {};
  let stream: Output | undefined;
  if (!isPlain(fd)) return open();
  return {
    on(_event, listener) {
      fail = listener;
    },
    write(text, written) {
      let rest = Buffer.from(text);
      room -= rest.length;
      try {
        while (room >= 0 && rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          fail(error as NodeJS.ErrnoException);
          return written?.();
        }
        room = -1;
      }
      if (!stream && rest.length === 0) return written?.();
      if (!stream) {
        stream = open();
        stream.on('error', fail);
      }
      stream.write(rest, written);
    },
  };
}

function isPlain(fd: number): boolean {
  try {
    const status = fstatSync(fd);
    return status.isFile() || status.isFIFO() || status.isSocket();
  } catch {
    return false;
  }
}
