import { isUuid } from '../run/run.ts';
import { isJsonObject, type JsonObject } from '../system/json.ts';

/**
 * The body of an error response. Its shape is undocumented (docs/service.md, Error bodies of every
 * usual shape).
 */
export interface ErrorBody {
  code?: string;
  /** One line of at most 300 characters. */
  message?: string;
  /** An HTML page's title or first words. */
  page?: string;
  isJson: boolean;
  executionId?: string;
  /** Whether the body has this code anywhere, in any spelling with `_`, `-` or capitals. */
  mentions(code: string): boolean;
}

const codeFields =
  'code errorCode error_code serviceCode name reason type error errors codes'.split(' ');
const messageFields = [
  'message',
  'detail',
  'error_description',
  'description',
  'error',
  'title',
  'reason',
  'errors',
];
const idFields = [
  'executionId',
  'activeExecutionId',
  'runningExecutionId',
  'execution_id',
  'runId',
];

/** Reads a body of any shape. `isHtml`: the headers say so. */
export function readErrorBody(text: string, { isHtml = false } = {}): ErrorBody {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return readText(text, isHtml);
  }
  return readDocument(document);
}

/** Takes one line from the start of a page and doesn't search the rest, which may be hostile. */
function readText(text: string, isHtml: boolean): ErrorBody {
  const start = text.slice(0, maxPage);
  const words = withoutTags(start);
  const message = oneLine(titleOf(start) ?? words) || undefined;
  return {
    isJson: false,
    message,
    page: pageIn(start, { isHtml }),
    executionId: executionIn(words),
    mentions: (code) => hasCode(message ?? '', code) || hasCode(words, code),
  };
}

function readDocument(document: unknown): ErrorBody {
  const texts: BodyTexts = { strings: new Map(), flags: [] };
  collect(document, texts, 0);
  const { strings, flags } = texts;
  const firstOf = (fields: string[], fits: (value: string) => boolean) =>
    fields.flatMap((field) => strings.get(field) ?? []).find(fits);
  const problemType = firstOf(['type'], isProblemType)?.split(/[/#:]/).at(-1);
  const code = firstOf(codeFields, isCode) ?? firstOf(['title'], isIdentifier) ?? problemType;
  const message = firstOf(messageFields, (value) => value.trim() !== '' && value !== code) ?? '';
  const allTexts = [...strings.values()].flat();
  return {
    isJson: true,
    code,
    message: oneLine(message) || undefined,
    executionId: firstOf(idFields, isUuid) ?? executionIn(allTexts.join('\n')),
    mentions: (wanted) => [...flags, ...allTexts].some((text) => hasCode(text, wanted)),
  };
}

interface BodyTexts {
  /** Texts by field name, outermost first, so that `{error:{code}}` and `{code}` are read alike. */
  strings: Map<string, string[]>;
  /** Names of fields that aren't empty: `{runAlreadyActive:true}`. */
  flags: string[];
}

const maxDepth = 5;
const maxItems = 20;

/** Strings in a list belong to the list's field: `{errors:["runAlreadyActive"]}`. */
function collect(value: unknown, texts: BodyTexts, depth: number, field = 'message'): void {
  if (depth > maxDepth) return;
  const items = Array.isArray(value) ? value.slice(0, maxItems) : [value];
  for (const item of items) {
    if (typeof item === 'string') addText(field, item, texts);
    else if (isJsonObject(item)) collectFields(item, texts, depth);
  }
}

/** Collects the texts of an object, then the texts of the objects in it. */
function collectFields(object: JsonObject, texts: BodyTexts, depth: number): void {
  const fields = Object.entries(object);
  for (const [name, value] of fields) {
    if (typeof value === 'string') addText(name, value, texts);
    if (value) texts.flags.push(name);
  }
  for (const [name, value] of fields) {
    if (typeof value !== 'string') collect(value, texts, depth + 1, name);
  }
}

function addText(field: string, text: string, { strings }: BodyTexts): void {
  const texts = strings.get(field);
  if (texts) texts.push(text);
  else strings.set(field, [text]);
}

const isCode = (value: string) => /^[A-Za-z][\w.-]{0,79}$/.test(value);
/** `runAlreadyActive` or `run_already_active`, but not `Conflict`. */
const isIdentifier = (value: string) => /^[a-z]+([A-Z_][a-zA-Z]*)+$/.test(value);
const isProblemType = (value: string) => /[/#:]([\w.-]+)$/.test(value) && value !== 'about:blank';
const withoutSeparators = (text: string) => text.toLowerCase().replace(/[_\s-]/g, '');

/** Whether a word of the text, or all of it, is this code. */
function hasCode(text: string, code: string): boolean {
  const wanted = withoutSeparators(code);
  const words = [text, ...text.split(/[^\w-]+/)];
  return words.some((word) => withoutSeparators(word) === wanted);
}

/** How much of a page is read. */
const maxPage = 4096;

const anyTag = /<[a-z!]/i;

/** The title or first words of an HTML page. Undefined if it isn't one. */
export function pageIn(text: string, { isHtml = false } = {}): string | undefined {
  const start = text.slice(0, maxPage);
  const sign = isHtml ? anyTag : /<(!doctype html|html|head|title|body|h1)\b/i;
  if (!sign.test(start)) return undefined;
  return oneLine(titleOf(start) ?? withoutTags(start)) || 'untitled';
}

const titleOf = (page: string) => /<title[^>]*>([^<]*)/i.exec(page)?.[1];

function withoutTags(text: string): string {
  return anyTag.test(text)
    ? text.replace(/<(style|script)[\s\S]*?(?:<\/\1>|$)|<[^>]*>/gi, ' ')
    : text;
}

/**
 * The id after a word such as `run`, if there is only one. Project ids and request ids look the
 * same, so any other id isn't taken.
 */
function executionIn(text: string): string | undefined {
  const ids = [...text.matchAll(/\b(?:execution|run)(?:[_ ]?id)?\W{1,4}([\da-f-]{36})\b/gi)].map(
    ([, id = '']) => id,
  );
  const [id] = ids;
  return new Set(ids.map((each) => each.toLowerCase())).size === 1 && id && isUuid(id)
    ? id
    : undefined;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
