import { cleanLine } from '../text/clean.ts';
import type { HttpResponse } from './http.ts';

/** The body of an error response, whose shape the service doesn't document. */
export interface ErrorBody {
  isJson: boolean;
  isHtml: boolean;
  /** It has `runAlreadyActive` anywhere, in any usual spelling. */
  isRunAlreadyActive: boolean;
  /** The service's code, such as `notFound`. */
  code?: string;
  /** The service's words on one line, if they say more than the code and the HTTP status. */
  message?: string;
}

const runAlreadyActive = /run[ _-]?already[ _-]?active/i;
const htmlTag = /<(!doctype html|html|head|title|body|h1)\b/i;

/** The fields of a code and of a message, the best first. */
const codeFields = [/code$/i, /^(type|error|reason|title)$/i];
const messageFields = [/^(message|msg|details?)$/i, /desc|string|^(errors?|title|reason)$/i];

const maxMessageLength = 300;
/** A page may be long, and made to keep regular expressions busy. */
const maxPageLength = 4096;

/** Reads a body of any shape. `scrub` hides secrets. */
export function readErrorBody(
  { text, headers, phrase }: HttpResponse,
  scrub: (text: string) => string,
): ErrorBody {
  const isRunAlreadyActive = runAlreadyActive.test(text);
  const document = parseJson(text);
  if (document === undefined) {
    // Scrubbed before it is cut, because half a secret isn't recognized.
    const page = scrub(text).slice(0, maxPageLength);
    const isHtml = /\bhtml\b/i.test(`${headers['content-type']}`) || htmlTag.test(page);
    const ofMarkup = page.startsWith('<') ? page.replace(/<[^<>]*>/g, ' ') : page;
    const words = isHtml ? (/<title[^>]*>([^<]*)/i.exec(page)?.[1] ?? '') : ofMarkup;
    return { isJson: false, isHtml, isRunAlreadyActive, message: firstMessage([words], phrase) };
  }
  const found = textsIn(document, scrub);
  const code = inFields(codeFields, found).find((each) => /^[A-Za-z][\w.-]{0,79}$/.test(each));
  const sentences = found.map(({ text }) => text).filter((each) => each.includes(' '));
  const messages = [...inFields(messageFields, found), ...sentences];
  const message = firstMessage(
    messages.filter((each) => each !== code),
    phrase,
  );
  return { isJson: true, isHtml: false, isRunAlreadyActive, code, message };
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface FoundText {
  field: string;
  text: string;
}

/** Every text of a document, the outermost first. One in a list belongs to the list's field. */
function textsIn(document: unknown, scrub: (text: string) => string): FoundText[] {
  const values = [{ field: '', value: document }];
  for (const { field, value } of values) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      values.push({ field: Array.isArray(value) ? field : name, value: inner });
    }
  }
  return values.flatMap(({ field, value }) =>
    typeof value === 'string' ? { field, text: scrub(value) } : [],
  );
}

const inFields = (fields: readonly RegExp[], texts: readonly FoundText[]): string[] =>
  fields.flatMap((form) => texts.flatMap(({ field, text }) => (form.test(field) ? text : [])));

/** The first one that says more than the phrase of the HTTP status, on one line. */
function firstMessage(texts: readonly string[], phrase: string): string | undefined {
  const line = texts.map(cleanLine).find((each) => {
    const isPhrase = each.replace(/^\d{3}:? */, '').toLowerCase() === phrase.toLowerCase();
    // A compressed page isn't UTF-8.
    return each !== '' && !each.includes('\uFFFD') && !isPhrase;
  });
  const isLong = line !== undefined && line.length > maxMessageLength;
  return isLong ? `${line.slice(0, maxMessageLength - 1)}…` : line;
}
