import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printCandidates, splitLine, type TypedLine } from '../../src/commands/complete.ts';
import type { Shell } from '../../src/commands/completion.ts';

test.each<[string, TypedLine]>([
  ['', { words: [''], quote: '' }],
  ['runctl ', { words: ['runctl', ''], quote: '' }],
  ['runctl st', { words: ['runctl', 'st'], quote: '' }],
  ['runctl  "a b" c\\ d', { words: ['runctl', 'a b', 'c d'], quote: '' }],
  [`runctl 'it`, { words: ['runctl', 'it'], quote: "'" }],
  ['runctl ""', { words: ['runctl', ''], quote: '' }],
  ['runctl "a\\"b', { words: ['runctl', 'a"b'], quote: '"' }],
])('the line %j is %j', (line, typed) => {
  expect(splitLine(line)).toEqual(typed);
});

const plain: TypedLine = { words: ['runctl', ''], quote: '' };

test.each<[Shell, string]>([
  ['bash', 'a\\ b\n'],
  ['zsh', 'a b:it is: so\n'],
  ['fish', 'a b\tit is: so\n'],
])('%s reads a candidate with a blank as %j', (shell, printed) => {
  expect(printCandidates([{ value: 'a b', about: 'it is: so' }], shell, plain)).toBe(printed);
});

test('a colon and a backslash are no signs to zsh, which puts a colon before what a value means', () => {
  expect(printCandidates([{ value: 'a:b\\c', about: 'it: is' }], 'zsh', plain)).toBe('a\\:b\\\\c:it: is\n');
});

test.each([
  ['@la', '@last', '@last\n'],
  ['nightly@la', 'nightly@last', '@last\n'],
  ['--if-active=s', '--if-active=skip', 'skip\n'],
])('of the word %j, bash is given only the part that it replaces', (typed, value, printed) => {
  expect(printCandidates([{ value }], 'bash', { words: ['runctl', typed], quote: '' })).toBe(printed);
});

test('a value with a control character is not offered', () => {
  expect(printCandidates([{ value: 'a\u001B[2Jb' }, { value: 'a\nb' }], 'fish', plain)).toBe('');
});

test('whatever a value holds, bash reads it back as it is', () => {
  const value = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(
    fc.property(value, (text) => {
      const printed = printCandidates([{ value: text }], 'bash', plain).slice(0, -1);
      expect(splitLine(printed).words).toEqual([text]);
    }),
  );
});
