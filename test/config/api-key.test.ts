import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { accountOf, mask, parseApiKey } from '../../src/config/api-key.ts';
import { Problem } from '../../src/problems/problem.ts';

describe('an API key', () => {
  test.each([
    ['', '****'],
    ['1234567', '****'],
    ['12345678', '****5678'],
    ['sk-live-0123456789', '****6789'],
  ])('%j is shown as %s', (key, shown) => {
    expect(mask(key)).toBe(shown);
  });

  test.each(['key', 'key with blank', 'k\u00e9y', 'key\n', 'key\r\n'])('%j is taken without its newline', (text) => {
    expect(parseApiKey(text, 'test')).toBe(text.replace(/\r?\n$/, ''));
  });

  test.each([
    ['', 'is empty'],
    ['\n', 'is empty'],
    ['hunter2\n\n', 'line break'],
    ['hunter2\r', 'line break'],
    ['hunter2\nx-evil: 1', 'line break'],
    ['hunter2\u0000', 'control character'],
    ['hunter2\tx', 'control character'],
    ['hunter2\u007f', 'control character'],
    ['hunter2\u0085x', 'control character'],
    [' hunter2', 'begins or ends with a blank'],
    ['hunter2 ', 'begins or ends with a blank'],
    ['\u00a0hunter2', 'begins or ends with a blank'],
    ['hunter2\u2026', 'no header can carry'],
    ['\ufeffhunter2', 'no header can carry'],
    ['hunter2\u{1F511}', 'no header can carry'],
  ])('%j is refused: %s', (text, why) => {
    expect(() => parseApiKey(text, 'RUNCTL_API_KEY')).toThrow(why);
  });

  test('of any form is either what a header can carry, or refused without a word of it', () => {
    const text = fc.string({ unit: 'binary', minLength: 6, maxLength: 40 }).map((tail) => `hunter2${tail}`);
    fc.assert(
      fc.property(text, (key) => {
        try {
          validateHeaderValue('x-api-key', parseApiKey(key, 'RUNCTL_API_KEY'));
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
          expect(JSON.stringify(error)).not.toContain('hunter2');
          expect((error as Problem).facts.cause).toBeUndefined();
        }
      }),
    );
  });

  test('has an account that tells it from others and is not it', () => {
    expect(accountOf('test-key')).toMatch(/^[0-9a-f]{8}$/);
    expect(accountOf('test-key')).not.toBe(accountOf('test-kez'));
  });
});
