import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme, loadColors, renderMarkup } from '../../src/output/theme.ts';
import { cutTo, padTo, widthOf } from '../../src/output/width.ts';
import { wrap } from '../../src/output/wrap.ts';
import { sanitizeLine } from '../../src/system/sanitize.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

const theme = createTheme({ colors: false, unicode: true });
const ascii = createTheme({ colors: false, unicode: false });

const lines = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60, size: 'max' }),
  fc.string({
    unit: fc.constantFrom('a', '漢', 'é', 'e\u0301', '👩‍👩‍👧', '🇨🇭', '\uFE0F', '\u200D', ' '),
    maxLength: 60,
    size: 'max',
  }),
);
const widths = fc.integer({ min: -3, max: 70 });
const themes = fc.constantFrom(theme, ascii);

test.each([
  ['abc', 3],
  ['漢字', 4],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => expect(widthOf(text)).toBe(columns));

test('what is taken for narrow without being measured is as wide as string-width says', () => {
  const letters = String.fromCodePoint(...Array.from({ length: 0x17f - 0xc0 + 1 }, (_, index) => 0xc0 + index));
  const symbols = Object.values(theme.symbols).join('');
  for (const character of letters + symbols) expect(stringWidth(character), character).toBe(1);
  expect(stringWidth(symbols + letters)).toBe(widthOf(symbols + letters));
});

describe('cutTo', () => {
  test.each([
    ['nightly', 7, 'nightly'],
    ['nightly', 6, 'night…'],
    ['nightly', 1, '…'],
    ['nightly', 0, ''],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
    ['', -1, ''],
  ])('cuts %j to %i columns: %j', (text, columns, shown) => expect(cutTo(text, columns, theme)).toBe(shown));

  test('writes an ASCII ellipsis if the terminal has no other', () => {
    expect(cutTo('nightly', 6, ascii)).toBe('nig...');
    expect(cutTo('nightly', 2, ascii)).toBe('');
  });

  test('returns a text that is never wider than asked, and whole if it fits', () => {
    fc.assert(
      fc.property(lines, widths, themes, (text, columns, looks) => {
        const line = sanitizeLine(text);
        const shown = cutTo(line, columns, looks);
        expect(widthOf(shown)).toBeLessThanOrEqual(Math.max(0, columns));
        if (widthOf(line) <= columns) expect(shown).toBe(line);
        else if (shown !== '') expect(shown.slice(-looks.symbols.ellipsis.length)).toBe(looks.symbols.ellipsis);
      }),
      { numRuns: propertyRuns(1_000) },
    );
  });
});

test('a text that is padded is as wide as asked, or as it was', () => {
  fc.assert(
    fc.property(lines, widths, (text, columns) => {
      const line = sanitizeLine(text);
      expect(widthOf(padTo(line, columns))).toBe(Math.max(widthOf(line), columns));
    }),
  );
});

const words = fc.array(fc.stringMatching(/^[!-~]{1,12}$/));

test('wrapped words are all there, in lines that fit unless a single word does not', () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 60 }), fc.nat(8), (words, columns, indent) => {
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

test('escape sequences take no columns', () => {
  expect(wrap(['\u001B[31mred\u001B[39m', 'ink'], { columns: 7 })).toBe('\u001B[31mred\u001B[39m ink');
  expect(wrap(['\u001B[31mred\u001B[39m', 'ink'], { columns: 6 })).toBe('\u001B[31mred\u001B[39m\nink');
});

test.each([
  ['`runctl list`', 'runctl list'],
  ['to watch it: `runctl watch x`', 'to watch it:\n    runctl watch x'],
  ["to watch it: `runctl watch 'two  blanks, `a` mark'`", "to watch it:\n    runctl watch 'two  blanks, `a` mark'"],
  ['`runctl list` shows all', "'runctl list' shows all"],
])(
  'a command is printed alone on its line without quotes, and in a sentence between single quotes: %s',
  (marked, shown) => {
    expect(renderMarkup(marked, theme)).toBe(shown);
  },
);

test('what is to be typed stays on one line, and between single quotes', async () => {
  await loadColors({ colors: true });
  const colored = createTheme({ colors: true, unicode: true });
  const sentence = 'settle it with `runctl recover --max-age 2d`, then go on';
  expect(renderMarkup(sentence, theme, { columns: 24 })).toBe(
    "settle it with\n'runctl recover --max-age 2d',\nthen go on",
  );
  expect(renderMarkup(sentence, colored)).toBe(
    "settle it with '\u001B[36mrunctl recover --max-age 2d\u001B[39m', then go on",
  );
});
