import { closeSync, constants, fstatSync, readSync, statSync } from 'node:fs';
import { openOwn } from '../open-own.ts';
import { filesIn } from './files.ts';
import { type JournalRecord, recordsIn } from './records.ts';

export type Tail = ReturnType<typeof createTail>;

type Offsets = Map<number, number>; // how many bytes were read of each file that may grow, by its number

/** Reads everything that is appended to the journal from now on. Throws the errors of node:fs. */
export function createTail(folder: string) {
  const files = filesIn(folder);
  let offsets: Offsets = new Map(newest(files).map(({ path, number }) => [number, statSync(path).size]));
  let last = files[0]?.number ?? -1;
  return {
    /** The complete records since the last call. Throws the errors of node:fs and of `openOwn`. */
    read(): JournalRecord[] {
      const now = filesIn(folder);
      // If the journal was removed, start over.
      if ((now[0]?.number ?? -1) < last) [offsets, last] = [new Map(), -1];
      // A process that chose its file before the next one was started may still write to it.
      const growing = now.filter(({ number }) => number > last || offsets.has(number)).reverse();
      const records = growing.flatMap(({ path, number }) => recordsFrom(path, number, offsets));
      last = now[0]?.number ?? -1;
      offsets = new Map([...offsets].filter(([number]) => newest(now).some((file) => file.number === number)));
      return records;
    },
  };
}

const newest = <T>(files: readonly T[]) => files.slice(0, 2);

function recordsFrom(path: string, number: number, offsets: Offsets): JournalRecord[] {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(fd);
    const known = offsets.get(number) ?? 0;
    const from = size < known ? 0 : known;
    const bytes = Buffer.allocUnsafe(size - from);
    const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
    const end = read.lastIndexOf('\n') + 1;
    offsets.set(number, from + end);
    return recordsIn(read.subarray(0, end));
  } finally {
    closeSync(fd);
  }
}
