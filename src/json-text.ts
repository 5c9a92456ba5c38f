import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

// A double holds any 15 digits. The exact parser costs ten times as much, so it must not run for every UUID.
const longNumber = /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/** Keeps a number that doesn't fit a double, such as an id above 2^53, as written. Throws `SyntaxError`. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

const keepDigits = (written: string): unknown =>
  isSafeNumber(written) ? Number(written) : new LosslessNumber(written);

export const stringifyJson = (value: unknown, indent = 0): string => stringify(value, null, indent) ?? 'null';
