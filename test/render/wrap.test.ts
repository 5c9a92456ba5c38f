import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTheme, loadColors, renderMarkup } from '../../src/render/theme.ts';
import { wrap } from '../../src/render/wrap.ts';

const word = fc.stringMatching(/^[!-~]{1,12}$/);

test('wrapped words are all there, in lines that fit unless a single word does not', () => {
  fc.assert(
    fc.property(fc.array(word), fc.integer({ min: 1, max: 60 }), fc.nat(8), (words, columns, indent) => {
      const lines = wrap(words, { columns, indent }).split('\n');
      expect(lines.join(' ').split(/ +/).filter(Boolean)).toEqual(words);
      for (const [index, line] of lines.entries()) {
        const width = line.length + (index === 0 ? indent : 0);
        if (line.trim().includes(' ')) expect(width).toBeLessThanOrEqual(columns);
        if (index > 0) expect(line).toMatch(new RegExp(`^ {${indent}}\\S`));
      }
    }),
  );
});

test('escape sequences take no room', () => {
  expect(wrap(['\u001B[31mred\u001B[39m', 'ink'], { columns: 7 })).toBe('\u001B[31mred\u001B[39m ink');
  expect(wrap(['\u001B[31mred\u001B[39m', 'ink'], { columns: 6 })).toBe('\u001B[31mred\u001B[39m\nink');
});

test('what is to be typed stays on one line, and in backquotes where there is no color', async () => {
  await loadColors({ colors: true });
  const [plain, colored] = [false, true].map((colors) => createTheme({ colors, unicode: true }));
  if (!plain || !colored) throw new Error('no theme');
  const sentence = 'settle it with `runctl recover --max-age 2d`, then go on';
  expect(renderMarkup(sentence, plain, { columns: 24 })).toBe(
    'settle it with\n`runctl recover --max-age 2d`,\nthen go on',
  );
  expect(renderMarkup(sentence, colored)).toBe(
    'settle it with \u001B[36mrunctl recover --max-age 2d\u001B[39m, then go on',
  );
});
