import { flawOfPaste } from '../system/pasted-text.ts';
import { isUuid } from './run.ts';

/** Why a text isn't accepted as the name of an automation. */
export interface NameFlaw {
  /** The rest of a sentence whose subject is the text. */
  flaw: string;
  /** What to do instead. */
  hint?: string;
  /** The text isn't a name even if the project is typed before it. False by default. */
  isNoName?: boolean;
}

type Rule = readonly [pattern: RegExp, flaw: string, hint?: string];

// A variation selector isn't counted, because an emoji at the end of a name may have one.
const invisible = '(?![\\uFE0E\\uFE0F])[\\p{Default_Ignorable_Code_Point}\\p{Cf}]';
const quotes = '[\u2018-\u201F\u2039\u203A\u00AB\u00BB\u300C-\u300F]';
const dash = '[\\p{Pd}\\u2043\\u2212]';
const leadingDashes = new RegExp(`^${dash}+`, 'u');

const blankText = new RegExp(`^(?:\\p{White_Space}|${invisible})*$`, 'u');

const rulesOfFilters: readonly Rule[] = [
  [blankText, 'is blank (is a variable unset?)', 'give a name such as nightly'],
  [/^\p{White_Space}|\p{White_Space}$/u, 'begins or ends with a blank', 'leave out the blank'],
  [
    new RegExp(`^${invisible}|${invisible}$`, 'u'),
    'begins or ends with an invisible character',
    'type the name instead of pasting it',
  ],
  [leadingDashes, 'begins with a dash', 'flags go before `--`'],
  [/,/, 'contains a comma', 'separate names with spaces'],
];
const rulesOfNames: readonly Rule[] = [
  ...rulesOfFilters,
  [
    new RegExp(`^${quotes}|${quotes}$`, 'u'),
    'has a typographic quote, which no shell removes',
    'leave out the quotes, or type plain ones',
  ],
  [/\*/, 'contains an asterisk', 'name each automation, as there are no patterns'],
  [
    /\//,
    "contains a slash, and what comes before it isn't a project ID (a UUID)",
    'write only the name, or a UUID before the slash',
  ],
  [/[\n\u2028\u2029]/, 'contains a line break', 'separate names with spaces'],
  [/\p{Cc}/u, 'contains a control character', 'type the name instead of pasting it'],
  // So Node reads what isn't UTF-8, such as the name of an old file.
  [/\uFFFD/, "contains a character that isn't UTF-8", 'type the name, or convert it with iconv'],
  [
    /(?! )\p{White_Space}/u,
    'contains a blank that is no plain space',
    'type the spaces instead of pasting them',
  ],
  [
    new RegExp(` ${dash}+[\\p{L}\\p{N}]`, 'u'),
    'contains a blank and a dash, as before a flag',
    'put the flag after the closing quote',
  ],
  [
    /[<>[\]{}$;\\…]/,
    'contains one of < > [ ] { } $ ; \\ … (is it a placeholder?)',
    'put the name in place of the placeholder',
  ],
];

function flawIn(rules: readonly Rule[], name: string): NameFlaw | undefined {
  const [, flaw, hint] = rules.find(([pattern]) => pattern.test(name)) ?? [];
  if (flaw === undefined) return undefined;
  return {
    flaw,
    hint: hasOtherDash(name) ? didYouMeanFlag(name) : hint,
    isNoName: blankText.test(name),
  };
}

function flawFromPaste(name: string): NameFlaw | undefined {
  const pasted = flawOfPaste(name);
  return pasted && { flaw: pasted.flaw, hint: pasted.hint, isNoName: true };
}

/**
 * Why a text can't be a segment of a path: a URL parser drops `.` and `..` even when
 * percent-encoded.
 */
export function flawInPath(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text === '.' || text === '..') return "can't be sent in a path";
  return text.isWellFormed() ? undefined : 'contains half a character (a lone surrogate)';
}

/** The flaw of a name without its project that would start a run if it were a mistake. */
export const flawOfName = (name: string): NameFlaw | undefined =>
  flawFromPaste(name) ?? flawIn(rulesOfNames, name);

/** The flaw of a name that only selects what is shown. */
export const flawOfFilter = (name: string): NameFlaw | undefined =>
  (/\r$/.test(name) ? flawFromPaste(name) : undefined) ?? flawIn(rulesOfFilters, name);

/**
 * Whether a word begins with another dash, such as the one into which a chat program turns `--`.
 */
export const hasOtherDash = (word: string): boolean =>
  leadingDashes.test(word) && !word.startsWith('-');

/** A hint for a word with the wrong number or kind of dashes. */
export function didYouMeanFlag(word: string): string {
  const name = word.replace(leadingDashes, '');
  return `did you mean ${name.length === 1 ? '-' : '--'}${name}?`;
}

/** Whether this name can be typed without its project. */
export const isPlainName = (name: string): boolean =>
  !flawOfName(name) && !isUuid(name) && name !== '@last';
