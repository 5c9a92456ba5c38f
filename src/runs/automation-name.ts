import { isUuid } from './run.ts';

/** Why a text isn't taken for a name. */
export interface NameFlaw {
  /** A sentence whose subject is the text. */
  why: string;
  /** The words that were probably meant, if that can be told. */
  meant?: readonly string[];
  /** What to do instead. */
  hint?: string;
}

const blank = '[\\p{White_Space}\\u200B-\\u200F\\uFEFF]';
const quotes = /[\u2018-\u201F\u2039\u203A\u00AB\u00BB\u300C-\u300F]/gu;
const leadingDashes = /^[-\u2010-\u2015\u2212\uFE58\uFF0D]+/u;

const flawsOfFilters: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`^${blank}*$`, 'u'), 'is blank (is a variable unset?)'],
  [new RegExp(`^${blank}|${blank}$`, 'u'), 'begins or ends with a blank'],
  [leadingDashes, 'begins with a dash'],
];
const flawsOfNames: typeof flawsOfFilters = [
  ...flawsOfFilters,
  [new RegExp(`^${quotes.source}|${quotes.source}$`, 'u'), 'has a typographic quote, which no shell removes'],
  [/,/, 'contains a comma (separate names with spaces)'],
  [/\*/, 'contains an asterisk (name each automation, as there are no patterns)'],
  [/\//, "contains a slash, and what comes before it isn't a project ID (a UUID)"],
];

const whyIn = (flaws: typeof flawsOfFilters, name: string) => flaws.find(([pattern]) => pattern.test(name))?.[1];

function flawIn(flaws: typeof flawsOfFilters, name: string): NameFlaw | undefined {
  const why = whyIn(flaws, name);
  return why === undefined ? undefined : { why, meant: wordsMeantBy(name) };
}

/** The flaw of a name without its project that would start a run if it were a mistake. */
export const flawOfName = (name: string): NameFlaw | undefined => flawIn(flawsOfNames, name);

/** The flaw of a name that only selects what is shown. */
export const flawOfFilter = (name: string): NameFlaw | undefined => flawIn(flawsOfFilters, name);

/** Does it begin with a dash that a chat made of `--`? */
export const hasOtherDash = (word: string): boolean => leadingDashes.test(word) && !word.startsWith('-');

/** Can an automation be named without its project? */
export const isPlainName = (name: string): boolean => !flawOfName(name) && !isUuid(name) && name !== '@last';

function wordsMeantBy(name: string): string[] | undefined {
  const trimmed = name.replaceAll(new RegExp(`^${blank}+|${blank}+$`, 'gu'), '');
  const [dashes] = leadingDashes.exec(trimmed) ?? [];
  const flag = trimmed.slice(dashes?.length);
  if (dashes !== undefined) return flag === '' ? undefined : [`${flag.length > 1 ? '--' : '-'}${flag}`];
  // After a single quote, as in `“night`, the next word is a part of the name, too.
  if (trimmed.match(quotes)?.length === 1) return undefined;
  const words = trimmed
    .replaceAll(quotes, '')
    .split(',')
    // `./nightly`, and `run/nightly` as kubectl names things.
    .map((part) => part.replace(/\/+$/, '').replace(/^.*\/|^\.+$/s, ''));
  const meant = words.filter((word) => word !== '');
  return meant.length === 0 || meant.some((word) => whyIn(flawsOfNames, word)) ? undefined : meant;
}
