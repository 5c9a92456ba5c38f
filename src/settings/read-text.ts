import { interruptNameOf } from '../run/exit-codes.ts';
import { interruptedProblem, usageProblem } from '../run/problem.ts';
import { onAbort } from '../system/clock.ts';

interface Expected {
  what: string;
  mostBytes: number;
  hint?: string;
}

/** Reads all of a stream. Throws a usage problem if it is too large or unreadable, the interrupted one on a signal. */
export function readText(
  stream: AsyncIterable<string | Buffer>,
  { what, mostBytes, hint }: Expected,
  signal: AbortSignal,
): Promise<string> {
  const read = async () => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of readChunks(stream, what, hint)) {
      const part = Buffer.from(chunk as Buffer);
      bytes += part.length;
      if (bytes > mostBytes) throw usageProblem(`${what} is larger than ${mostBytes / 1024} KiB`, hint);
      chunks.push(part);
    }
    return Buffer.concat(chunks).toString('utf8');
  };
  return unlessInterrupted(read(), signal);
}

/** The chunks of a stream. Throws a usage problem if it is unreadable, such as an input that is only open for writing. */
async function* readChunks<T>(stream: AsyncIterable<T>, what: string, hint?: string): AsyncGenerator<T> {
  try {
    yield* stream;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw usageProblem(`${what} can't be read (${code})`, hint);
  }
}

/** The outcome of `work`. Throws the interrupted problem as soon as `signal` aborts. */
export async function unlessInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let forget = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    const stop = () => reject(interruptedProblem(interruptNameOf(signal)));
    if (signal.aborted) stop();
    else forget = onAbort(signal, stop);
  });
  return Promise.race([work, interrupted]).finally(forget);
}
