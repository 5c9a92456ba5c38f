import { usageProblem } from '../problems/problem.ts';

/** The whole text of a stream. Throws a usage problem that names it once it is larger than `mostBytes`. */
export async function readText(
  stream: AsyncIterable<string | Buffer>,
  what: string,
  mostBytes: number,
  hint?: string,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk as Buffer);
    bytes += part.length;
    if (bytes > mostBytes) throw usageProblem(`${what} is larger than ${mostBytes / 1024} KiB`, hint);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
