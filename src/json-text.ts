import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

// A double holds any 15 digits. A number stands at the start of the text or after one of three characters: looking for
// digits alone would find them in every UUID, and the exact parser costs ten times as much.
const longNumber = /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/**
 * Parses JSON without losing digits: a number that a double cannot hold (an id above 2^53, say) is kept as written.
 * Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

function keepDigits(written: string): unknown {
  return isSafeNumber(written) ? Number(written) : new LosslessNumber(written);
}

/** Writes JSON on one line, or indented by two; numbers kept by `parseJson` come out as they came in. */
export function stringifyJson(value: unknown, indent = 0): string {
  return stringify(value, null, indent) ?? 'null';
}
