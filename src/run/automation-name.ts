import { isUuid } from './run.ts';

/** Why a text isn't taken for a name. */
export interface NameFlaw {
  /** A sentence whose subject is the text. */
  why: string;
  /** What to do instead. */
  hint?: string;
}

const blank = '[\\p{White_Space}\\u200B-\\u200F\\uFEFF]';
const quotes = '[\u2018-\u201F\u2039\u203A\u00AB\u00BB\u300C-\u300F]';
const dash = '[-\\u2010-\\u2015\\u2212\\uFE58\\uFF0D]';
const leadingDashes = new RegExp(`^${dash}+`, 'u');

const flawsOfFilters: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^${blank}*$`, 'u'), 'is blank (is a variable unset?)'],
  [new RegExp(`^${blank}|${blank}$`, 'u'), 'begins or ends with a blank'],
  [leadingDashes, 'begins with a dash'],
];
const flawsOfNames: typeof flawsOfFilters = [
  ...flawsOfFilters,
  [new RegExp(`^${quotes}|${quotes}$`, 'u'), 'has a typographic quote, which no shell removes'],
  [/,/, 'contains a comma (separate names with spaces)'],
  [/\*/, 'contains an asterisk (name each automation, as there are no patterns)'],
  [/\//, "contains a slash, and what comes before it isn't a project ID (a UUID)"],
  [/\p{Cc}/u, 'contains a line break or another control character'],
  [/(?! )\p{White_Space}/u, 'contains a blank that is no plain space'],
  [new RegExp(` ${dash}+[\\p{L}\\p{N}]`, 'u'), 'contains a blank and a dash, as before a flag'],
  [/[<>[\]{}$;\\…]/, 'contains one of < > [ ] { } $ ; \\ … (is it a placeholder?)'],
];

function flawIn(flaws: typeof flawsOfFilters, name: string): NameFlaw | undefined {
  const why = flaws.find(([pattern]) => pattern.test(name))?.[1];
  if (why === undefined) return undefined;
  return { why, hint: hasOtherDash(name) ? didYouMeanFlag(name) : undefined };
}

/** Why a text can't be a segment of a path: a URL parser drops `.` and `..` even when percent-encoded. */
export function flawInPath(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text === '.' || text === '..') return "can't be sent in a path";
  return text.isWellFormed() ? undefined : 'contains half a character (a lone surrogate)';
}

/** The flaw of a name without its project that would start a run if it were a mistake. */
export const flawOfName = (name: string): NameFlaw | undefined => flawIn(flawsOfNames, name);

/** The flaw of a name that only selects what is shown. */
export const flawOfFilter = (name: string): NameFlaw | undefined => flawIn(flawsOfFilters, name);

/** Does it begin with a dash that a chat made of `--`? */
export const hasOtherDash = (word: string): boolean => leadingDashes.test(word) && !word.startsWith('-');

/** What to say of a word with the wrong number or kind of dashes. */
export function didYouMeanFlag(word: string): string {
  const name = word.replace(leadingDashes, '');
  return `did you mean ${name.length === 1 ? '-' : '--'}${name}?`;
}

/** Can an automation be named without its project? */
export const isPlainName = (name: string): boolean => !flawOfName(name) && !isUuid(name) && name !== '@last';
