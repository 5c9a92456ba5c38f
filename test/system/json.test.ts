import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../src/system/json.ts';

const roundTrip = (text: string) => stringifyJson(parseJson(text));

describe('JSON text', () => {
  test.each([
    '12345678901234567890',
    '9007199254740993',
    '-9007199254740993',
    '12345678901.123456789',
    '123456789.123456789',
    '0.12345678901234567890',
    '3.141592653589793238462643383279',
    '1e400',
    '-1E400',
    '1e-400',
    '1.00000000000000000001',
  ])('keeps every digit of %s', (number) => {
    expect(roundTrip(number)).toBe(number);
    expect(roundTrip(`{"a":[${number}]}`)).toBe(`{"a":[${number}]}`);
  });

  test.each([
    ['12.50', 12.5],
    ['1.0', 1],
    ['1e3', 1000],
    ['0.0000001', 1e-7],
    ['1.5E+2', 150],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('has %s as a plain number, whatever else is in the document', (written, value) => {
    expect(parseJson(`[${written}]`)).toEqual([value]);
    expect(parseJson(`[${written},"3e"]`)).toEqual([value, '3e']);
    expect(parseJson(`[${written},"1234567890123456"]`)).toEqual([value, '1234567890123456']);
  });

  test.each(['', ' ', '{', '[1,]', 'undefined', 'NaN', '01', '{"a":1}x', '{"a":12345678901234567890'])(
    'is refused if it is %j',
    (text) => expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  test('is read with the last of two equal fields, as by JSON.parse', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(parseJson('{"a":1,"a":2,"b":"3e"}')).toEqual({ a: 2, b: '3e' });
  });

  test('is read with a field called __proto__', () => {
    for (const rest of ['', ',"b":"3e"']) {
      const value = parseJson(`{"__proto__":{"polluted":1}${rest}}`);
      expect(Object.keys(value as object)).toContain('__proto__');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  test('escapes the characters at which some programs split lines', () => {
    const text = 'a\u0085b\u2028c\u2029d';
    expect(stringifyJson({ [text]: text })).toBe(String.raw`{"a\u0085b\u2028c\u2029d":"a\u0085b\u2028c\u2029d"}`);
    expect(JSON.parse(stringifyJson(text))).toBe(text);
  });

  test('is the same after a round trip, whatever JSON.parse reads in it', () => {
    const sameAfter = (text: string) => void expect(JSON.parse(roundTrip(text))).toEqual(JSON.parse(text));
    fc.assert(fc.property(fc.json(), sameAfter));
  });

  test('loses no digit of any number', () => {
    const digits = (min: number, max: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });
    const number = fc
      .tuple(fc.constantFrom('', '-'), fc.constantFrom(...'123456789'), digits(0, 25), digits(0, 25))
      .map(([sign, first, more, fraction]) => `${sign}${first}${more}${fraction && `.${fraction}1`}`);
    fc.assert(fc.property(number, (text) => void expect(plain(roundTrip(text))).toBe(plain(text))));
  });

  test('is indented if asked for', () => expect(stringifyJson({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}'));
  test('is null for undefined', () => expect(stringifyJson(undefined)).toBe('null'));
});

/** A decimal as its digits and a power of ten, so that `1e-7` and `0.0000001` are the same. */
function plain(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const bare = digits.replace(/0+$/, '');
  return `${sign}${bare}e${Number(exponent) - fraction.length + digits.length - bare.length}`;
}

test.each([
  ['an open string', `["${'x'.repeat(2000)}`],
  ['a list without an end', '['.repeat(5_000_000)],
])('%s is refused without delay', (_, text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});
