import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** A document as the service sent it: unknown fields are kept. */
export interface JsonObject {
  [field: string]: unknown;
}

/** Whether the value is an object, and not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A double holds any number of up to 15 digits. The exact parser takes ten times as long, so it
// must not run for every UUID.
const longNumber = /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

/**
 * Keeps a number that doesn't fit a double, such as an id above 2^53, as written. Throws
 * `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

const keepDigits = (written: string): unknown =>
  isSafeNumber(written) ? Number(written) : new LosslessNumber(written);

/**
 * JSON in which nothing but a line feed ends a line, also for programs that split text at these
 * characters (Python).
 */
export function stringifyJson(value: unknown, indent = 0): string {
  const json = stringify(value, null, indent) ?? 'null';
  return json.replace(/[\u0085\u2028\u2029]/g, escapeUnit);
}

/** A UTF-16 unit as JSON can write it: `\u2028`. */
export const escapeUnit = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
