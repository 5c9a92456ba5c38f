import { describe, expect, test } from 'vitest';
import { createRepeatReader } from '../../src/api/repeated-answer.ts';
import type { Answer } from '../../src/runs/service.ts';

const response = (text: string, status = 200, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(text),
  truncated: false,
});
const good = (value: string): Answer<string> => ({ kind: 'ok', value });
const bad: Answer<string> = {
  kind: 'fault',
  fault: { kind: 'unavailable', message: '' },
};

/** Hands a reader one response after another and tells which of them were read. */
async function readsOf(responses: [path: string, ...Parameters<typeof response>][], answer = good) {
  const readOrRecall = createRepeatReader<string>();
  const read: string[] = [];
  const answers: Answer<string>[] = [];
  for (const [path, text, ...rest] of responses) {
    const reading = async () => {
      read.push(text);
      return answer(`${path}: ${text}`);
    };
    answers.push(await readOrRecall(path, response(text, ...rest), reading));
  }
  return { read, answers };
}

describe('an answer', () => {
  test('that repeats the last one is not read again', async () => {
    const { read, answers } = await readsOf([
      ['/a', 'RUNNING'],
      ['/a', 'RUNNING'],
      ['/a', 'COMPLETED'],
      ['/a', 'RUNNING'],
    ]);
    expect(read).toEqual(['RUNNING', 'COMPLETED', 'RUNNING']);
    expect(answers.map((answer) => answer.kind === 'ok' && answer.value)).toEqual([
      '/a: RUNNING',
      '/a: RUNNING',
      '/a: COMPLETED',
      '/a: RUNNING',
    ]);
  });

  test.each([
    ['to another path', ['/b', 'RUNNING']],
    ['with another status', ['/a', 'RUNNING', 500]],
    ['in another encoding', ['/a', 'RUNNING', 200, { 'content-encoding': 'gzip' }]],
  ] as const)('%s is read, though its bytes are the same', async (_, second) => {
    const { read } = await readsOf([['/a', 'RUNNING'], [...second]]);
    expect(read).toHaveLength(2);
  });

  test('that was no good one is always read', async () => {
    const { read } = await readsOf(
      [
        ['/a', 'oops'],
        ['/a', 'oops'],
      ],
      () => bad,
    );
    expect(read).toHaveLength(2);
  });

  test('is kept apart from the buffer that it came in', async () => {
    const readOrRecall = createRepeatReader<string>();
    const first = response('RUNNING');
    await readOrRecall('/a', first, async () => good('first'));
    first.body.fill('x');
    expect(await readOrRecall('/a', response('RUNNING'), async () => bad)).toEqual(good('first'));
  });
});
