import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

// A double holds any 15 digits. A number stands at the start of the text or after one of three characters: looking for
// digits alone would find them in every UUID, and the exact parser costs ten times as much.
const longNumber = /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|[\d.]+[eE])/;

// Readers and writers of JSON recurse, and an empty list takes twenty times its two characters: what nests deeper or holds
// more than this is an attack on the stack or the memory, not an answer.
const deepest = 1000;
const mostContainers = 2_000_000;

/**
 * Parses JSON without losing digits: a number that a double cannot hold (an id above 2^53, say) is kept as written.
 * Throws `SyntaxError`, also for what nests deeper than 1,000 levels or holds more than 2,000,000 lists and objects.
 */
export function parseJson(text: string): unknown {
  if (text.length > deepest && isMonstrous(text)) throw new SyntaxError('it nests too deep or holds too much');
  const value: unknown = JSON.parse(text);
  if (!longNumber.test(text)) return value;
  return parse(text, null, { parseNumber: keepDigits, onDuplicateKey: ({ newValue }) => newValue });
}

/** Of text that may not be JSON at all. */
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

/** The index of the quote that closes the string opened at `start`, one after an even number of backslashes; else of the end. */
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

function keepDigits(written: string): unknown {
  return isSafeNumber(written) ? Number(written) : new LosslessNumber(written);
}

/** Writes JSON on one line, or indented by two; numbers kept by `parseJson` come out as they came in. */
export function stringifyJson(value: unknown, indent = 0): string {
  return stringify(value, null, indent) ?? 'null';
}
