import type { Answer } from '../runs/service.ts';
import type { HttpResponse } from './exchange.ts';

export type RepeatReader<T> = (
  path: string,
  response: HttpResponse,
  read: () => Promise<Answer<T>>,
) => Promise<Answer<T>>;

/**
 * A reader of responses that does not read again what is to the byte the last good answer to the same path. While a run
 * goes on the service repeats itself, and to read an answer costs as much as to ask for it.
 */
export function createRepeatReader<T>(): RepeatReader<T> {
  const last = new Map<string, { status: number; encoding?: string; body: Buffer; answer: Answer<T> }>();
  return async (path, { status, headers, body }, read) => {
    const known = last.get(path);
    const encoding = headers['content-encoding'];
    if (known?.status === status && known.encoding === encoding && known.body.equals(body)) return known.answer;
    const answer = await read();
    // A copy: the body is a part of the much larger buffer that the connection was read into.
    if (answer.kind === 'ok') last.set(path, { status, encoding, body: Buffer.from(body), answer });
    return answer;
  };
}
