import { isUuid } from '../run/run.ts';
import { isJsonObject } from '../system/json.ts';

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
  names(code: string): boolean;
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

/** `isHtml`: the headers say so. */
export function readErrorBody(text: string, { isHtml = false } = {}): ErrorBody {
  const strings = new Map<string, string[]>();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Takes one line from the start of a page and doesn't search the rest, which may be hostile.
    const start = text.slice(0, 4096);
    const words = withoutTags(start);
    const message = oneLine(titleOf(start) ?? words) || undefined;
    return {
      isJson: false,
      message,
      page: pageIn(start, { isHtml }),
      executionId: executionIn(words),
      names: (code) => mentions(message ?? '', code) || mentions(words, code),
    };
  }
  const flags: string[] = [];
  collect(parsed, { strings, flags }, 0);
  const first = (fields: string[], fits: (value: string) => boolean) => {
    for (const field of fields) {
      const value = strings.get(field)?.find(fits);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const ofType = first(['type'], isProblemType)?.split(/[/#:]/).at(-1);
  const code = first(codeFields, isCode) ?? first(['title'], isIdentifier) ?? ofType;
  const message = first(messageFields, (value) => value.trim() !== '' && value !== code);
  return {
    isJson: true,
    code,
    message: message === undefined ? undefined : oneLine(message) || undefined,
    executionId: first(idFields, isUuid) ?? executionIn([...strings.values()].flat().join('\n')),
    names: (wanted) => flags.concat(...strings.values()).some((value) => mentions(value, wanted)),
  };
}

interface BodyTexts {
  /** Texts by field name, outermost first, so that `{error:{code}}` and `{code}` are read alike. */
  strings: Map<string, string[]>;
  /** Names of fields that aren't empty: `{runAlreadyActive:true}`. */
  flags: string[];
}

/** Strings in a list belong to the list's field: `{errors:["runAlreadyActive"]}`. */
function collect(value: unknown, texts: BodyTexts, depth: number, field = 'message'): void {
  if (depth > 5) return;
  const items = Array.isArray(value) ? value.slice(0, 20) : [value];
  for (const item of items) {
    if (typeof item === 'string') note(field, item, texts);
    if (!isJsonObject(item)) continue;
    const fields = Object.entries(item);
    for (const [name, inner] of fields) {
      if (typeof inner === 'string') note(name, inner, texts);
      if (inner) texts.flags.push(name);
    }
    for (const [name, inner] of fields)
      if (typeof inner !== 'string') collect(inner, texts, depth + 1, name);
  }
}

function note(field: string, text: string, { strings }: BodyTexts): void {
  const values = strings.get(field);
  if (values) values.push(text);
  else strings.set(field, [text]);
}

const isCode = (value: string) => /^[A-Za-z][\w.-]{0,79}$/.test(value);
/** `runAlreadyActive` or `run_already_active`, but not `Conflict`. */
const isIdentifier = (value: string) => /^[a-z]+([A-Z_][a-zA-Z]*)+$/.test(value);
const isProblemType = (value: string) => /[/#:]([\w.-]+)$/.test(value) && value !== 'about:blank';
const bare = (value: string) => value.toLowerCase().replace(/[_\s-]/g, '');

function mentions(text: string, code: string): boolean {
  const wanted = bare(code);
  return bare(text) === wanted || text.split(/[^\w-]+/).some((word) => bare(word) === wanted);
}

const anyTag = /<[a-z!]/i;

/** The title or first words of an HTML page. Undefined if it isn't one. */
export function pageIn(text: string, { isHtml = false } = {}): string | undefined {
  const start = text.slice(0, 4096);
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
