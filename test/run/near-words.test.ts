import { expect, test } from 'vitest';
import { didYouMean, nearWords } from '../../src/run/near-words.ts';

const known = [
  'trigger',
  'status',
  'result',
  'watch',
  'list',
  'recover',
  'all',
  'no-color',
  'import-eu',
  'import-us',
  'caf\u00e9',
];

test.each<[typed: string, near: string[], why: string]>([
  ['lsit', ['list'], 'two letters are swapped'],
  ['wach', ['watch'], 'a letter is missing'],
  ['watchh', ['watch'], 'there is one letter too many'],
  ['wetch', ['watch'], 'a letter is another one'],
  ['Watch', ['watch'], 'a letter has another case'],
  ['tirggre', ['trigger'], 'a longer word may have two edits'],
  ['import_eu', ['import-eu'], 'a hyphen is another character'],
  ['import-e', ['import-eu'], 'only the nearest words are named'],
  ['import-xu', ['import-eu'], 'only the nearest words are named'],
  ['import-xx', ['import-eu', 'import-us'], 'two words are equally near'],
  ['cafe\u0301', ['caf\u00e9'], 'an accent is a character of its own'],
  ['start', [], 'a word of five letters may have one edit only'],
  ['poll', [], 'a word of five letters may have one edit only'],
  ['watcher', [], 'a word of five letters may have one edit only, however long what was typed is'],
  ['statistics', [], 'a word has more than two edits'],
  ['no-watch', [], 'the opposite is never what was meant'],
  ['color', [], 'the opposite is never what was meant'],
  ['list', [], 'the word itself is no typo'],
  ['', [], 'nothing was typed'],
])('near %s are %j: %s', (typed, near) => {
  expect(nearWords(typed, known)).toEqual(near);
});

test('a hint suggests the words that are near, and there is no hint if none is', () => {
  expect(didYouMean('import-xx', known)).toBe('did you mean import-eu or import-us?');
  expect(didYouMean('backup', known)).toBeUndefined();
});
