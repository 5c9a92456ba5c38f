import { isJsonObject } from '../runs/json.ts';
import { isUuid } from '../runs/run.ts';

/** What an error body says. Its shape is not documented (docs/service.md, Unknowns), so every usual one is read. */
export interface ErrorBody {
  code?: string;
  /** One line of at most 300 characters. */
  message?: string;
  /** An execution that the refusal names. */
  executionId?: string;
  /** Does this code stand anywhere in the body? Spelling with `_`, `-` or capitals does not matter. */
  names(code: string): boolean;
}

const codeFields = ['code', 'errorCode', 'error_code', 'serviceCode', 'name', 'reason', 'type', 'error'];
const messageFields = ['message', 'detail', 'error_description', 'description', 'error', 'title', 'reason'];
const idFields = ['executionId', 'activeExecutionId', 'runningExecutionId', 'execution_id', 'runId'];

/** Reads `{code,message}`, `{error:"…"}`, `{error:{…}}`, `{errors:[…]}`, problem+json, `{data:{…}}`, text, HTML or nothing. */
export function readErrorBody(text: string): ErrorBody {
  const strings = new Map<string, string[]>();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // A page may be hostile: no more is searched than a line could come from.
    const start = text.slice(0, 4096);
    const words = withoutTags(start);
    const message = oneLine(titleOf(start) ?? words) || undefined;
    return {
      message,
      executionId: executionIn(words),
      names: (code) => mentions(message ?? '', code) || mentions(words, code),
    };
  }
  collect(typeof parsed === 'string' ? { message: parsed } : parsed, strings, 0);
  const first = (fields: string[], fits: (value: string) => boolean) => {
    for (const field of fields) {
      const value = strings.get(field)?.find(fits);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const code = first(codeFields, isCode) ?? first(['type'], isProblemType)?.split(/[/#:]/).at(-1);
  const message = first(messageFields, (value) => value.trim() !== '' && value !== code);
  return {
    code,
    message: message === undefined ? undefined : oneLine(message) || undefined,
    executionId: first(idFields, isUuid)?.toLowerCase() ?? executionIn([...strings.values()].flat().join('\n')),
    names: (wanted) => [...strings.values()].flat().some((value) => mentions(value, wanted)),
  };
}

/** Every string under its field's name, outermost first, so that `{error:{code}}` and `{code}` read alike. */
function collect(value: unknown, strings: Map<string, string[]>, depth: number): void {
  if (depth > 4) return;
  const items = Array.isArray(value) ? value.slice(0, 20) : [value];
  for (const item of items) {
    if (!isJsonObject(item)) continue;
    for (const [field, inner] of Object.entries(item)) {
      if (typeof inner !== 'string') continue;
      const known = strings.get(field);
      if (known) known.push(inner);
      else strings.set(field, [inner]);
    }
    for (const inner of Object.values(item)) collect(inner, strings, depth + 1);
  }
}

const isCode = (value: string) => /^[A-Za-z][\w.-]{0,79}$/.test(value);
const isProblemType = (value: string) => /[/#:]([\w.-]+)$/.test(value) && value !== 'about:blank';
const bare = (value: string) => value.toLowerCase().replace(/[_\s-]/g, '');

function mentions(text: string, code: string): boolean {
  return bare(text) === bare(code) || text.split(/[^\w-]+/).some((word) => bare(word) === bare(code));
}

const titleOf = (page: string) => /<title[^>]*>([^<]*)/i.exec(page)?.[1];

function withoutTags(text: string): string {
  return /<[a-z!]/i.test(text) ? text.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ') : text;
}

/** The execution that a text names: the one id in it that is called so, since a project or request id looks the same. */
function executionIn(text: string): string | undefined {
  const ids = [...text.matchAll(/\b(?:execution|run)(?:[_ ]?id)?\W{1,4}([\da-f-]{36})\b/gi)].map(([, id = '']) =>
    id.toLowerCase(),
  );
  const [id] = ids;
  return new Set(ids).size === 1 && id && isUuid(id) ? id : undefined;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
