import { readChunks } from '../config/read-text.ts';
import { usageProblem } from '../problems/problem.ts';

const longestLine = 64 * 1024;

/** Trimmed, without the empty ones. Throws a usage problem for an endless line and a stream that cannot be read. */
export async function* readInputLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of readChunks(stream, 'standard input')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine)
      throw usageProblem(`a line of standard input is longer than ${longestLine} characters`);
    yield* lines.map((line) => line.trim()).filter((line) => line !== '');
  }
  if (rest.trim() !== '') yield rest.trim();
}
