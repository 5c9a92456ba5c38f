import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * Parses JSON without losing digits: a number that a double cannot hold (an id above 2^53, say) is kept as written.
 * Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A double holds any 15 digits.
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

function keepDigits(written: string): unknown {
  return isSafeNumber(written) ? Number(written) : new LosslessNumber(written);
}

/** Writes JSON on one line, or indented by two; numbers kept by `parseJson` come out as they came in. */
export function stringifyJson(value: unknown, indent = 0): string {
  return stringify(value, null, indent) ?? 'null';
}
