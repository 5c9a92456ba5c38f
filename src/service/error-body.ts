import { cleanLine } from '../text/clean.ts';
import { type HttpResponse, valuesOf } from './http.ts';

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

// biome-ignore format: a list
const codeFields = [
  'code', 'errorCode', 'error_code', 'errorcode', 'Code', 'serviceCode', 'name', 'reason', 'type',
  'error', 'errors', 'codes',
];
// biome-ignore format: a list
const messageFields = [
  'message', 'Message', 'msg', 'detail', 'details', 'error_description', 'description',
  'faultstring', 'error', 'fault', 'title', 'reason', 'errors',
];

const maxDepth = 5;
const maxItems = 20;
const maxMessageLength = 300;
/** A page may be long, and made to keep regular expressions busy. */
const maxPageLength = 4096;

const runAlreadyActive =
  /(?<![a-z])run[_\s-]?already[_\s-]?active(error|exception)?(?![a-z]|"\s*:\s*(false|null|0|""))/i;
const htmlTag = /<(!doctype html|html|head|title|body|h1)\b/i;
const httpPhrase =
  /^(\d{3}:? *)?(bad request|unauthorized|forbidden|not found|conflict|payment required|too many requests|unprocessable (entity|content)|internal server error|bad gateway|service (temporarily )?unavailable|gateway time-?out)\.?$/i;

/** Reads a body of any shape. `scrub` hides secrets. */
export function readErrorBody(
  { text, headers }: HttpResponse,
  scrub: (text: string) => string,
): ErrorBody {
  const isRunAlreadyActive = runAlreadyActive.test(text);
  const document = parseJson(text);
  if (document === undefined) {
    // Scrubbed before it is cut, because half a secret isn't recognized.
    const start = scrub(text).slice(0, maxPageLength);
    const isHtml =
      /\bhtml\b/i.test(valuesOf(headers, 'content-type').join()) || htmlTag.test(start);
    const message = firstMessage([isHtml ? titleOf(start) : start]);
    return { isJson: false, isHtml, isRunAlreadyActive, message };
  }
  const code = codeIn(document);
  const message = firstMessage(textsIn(document, messageFields).map(scrub), code);
  return { isJson: true, isHtml: false, isRunAlreadyActive, code: code && scrub(code), message };
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstMessage(texts: string[], code?: string): string | undefined {
  const line = texts.map(cleanLine).find((each) => {
    // A compressed page isn't UTF-8.
    const isReadable = each !== '' && !each.includes('\uFFFD');
    return isReadable && each !== code && !httpPhrase.test(each);
  });
  const isLong = line !== undefined && line.length > maxMessageLength;
  return isLong ? `${line.slice(0, maxMessageLength - 1)}…` : line;
}

const titleOf = (page: string) => /<title[^>]*>([^<]*)/i.exec(page)?.[1] ?? '';

function codeIn(document: unknown): string | undefined {
  const isCode = (text: string) => /^[A-Za-z][\w.-]{0,79}$/.test(text);
  const isCamelCase = (text: string) => /^[a-z]+([A-Z_][A-Za-z]*)+$/.test(text);
  // The type of a problem document (RFC 9457) is a URL that may end with the code.
  const types = textsIn(document, ['type']).filter((type) => type !== 'about:blank');
  return (
    textsIn(document, codeFields).find(isCode) ??
    textsIn(document, ['title']).find(isCamelCase) ??
    types.map((type) => type.split(/[/#:]/).at(-1) ?? '').find(isCode)
  );
}

/**
 * The texts of these fields, the outermost first. `field` is where the value is; texts in a list
 * belong to the field of the list.
 */
function textsIn(
  value: unknown,
  fields: readonly string[],
  field = fields[0] ?? '',
  depth = 0,
): string[] {
  if (isText(value)) return fields.includes(field) ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > maxDepth) return [];
  const inside = (inner: unknown, name: string) => textsIn(inner, fields, name, depth + 1);
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems);
    const others = items.filter((item) => !isText(item));
    return [items.filter(isText).join('; '), ...others].flatMap((item) => inside(item, field));
  }
  const entries = Object.entries(value);
  const own = new Map(entries.filter(([, each]) => isText(each)));
  return [
    ...fields.flatMap((name) => own.get(name) ?? []),
    ...entries.flatMap(([name, each]) => {
      if (own.has(name)) return [];
      // Rails: `{ "errors": { "title": ["is too long"] } }`
      const isProperty = field === 'errors' && Array.isArray(each) && each.some(isText);
      return isProperty ? [`${name} ${each.filter(isText).join('; ')}`] : inside(each, name);
    }),
  ];
}

const isText = (value: unknown): value is string => typeof value === 'string';
