import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

// A double holds any 15 digits. The exact parser costs ten times as much, so it must not run for every UUID.
const longNumber = /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

// JSON readers recurse, and an empty list takes forty bytes of memory. Beyond these limits, it is an attack.
const deepest = 1000;
const mostContainers = 2_000_000;

/** Keeps a number that doesn't fit a double, such as an id above 2^53, as written. Throws `SyntaxError`. */
export function parseJson(text: string): unknown {
  if (text.length > deepest && isMonstrous(text)) throw new SyntaxError('it nests too deep or holds too much');
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

function isMonstrous(json: string): boolean {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (char === '"') at = endOfString(json, at);
    else if (char === '[' || char === '{') {
      depth++;
      containers++;
      if (depth > deepest || containers > mostContainers) return true;
    } else if (char === ']' || char === '}') depth--;
  }
  return false;
}

/** The index of the quotation mark that closes the string, after an even number of backslashes. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

const keepDigits = (written: string): unknown =>
  isSafeNumber(written) ? Number(written) : new LosslessNumber(written);

export const stringifyJson = (value: unknown, indent = 0): string => stringify(value, null, indent) ?? 'null';
