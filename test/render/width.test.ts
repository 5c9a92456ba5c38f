import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme } from '../../src/render/theme.ts';
import { cutTo, padTo, widthOf } from '../../src/render/width.ts';
import { sanitizeLine } from '../../src/sanitize.ts';
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

describe('a text that is cut', () => {
  test.each([
    ['nightly', 7, 'nightly'],
    ['nightly', 6, 'night…'],
    ['nightly', 1, '…'],
    ['nightly', 0, ''],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
    ['', -1, ''],
  ])('%j to %i columns is %j', (text, columns, shown) => expect(cutTo(text, columns, theme)).toBe(shown));

  test('has an ellipsis of ASCII where the terminal knows no other', () => {
    expect(cutTo('nightly', 6, ascii)).toBe('nig...');
    expect(cutTo('nightly', 2, ascii)).toBe('');
  });

  test('is never wider than asked, and whole where it fits', () => {
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
