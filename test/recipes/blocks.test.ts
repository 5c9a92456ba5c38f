// A sample that somebody copies from the README or a page of `docs` is valid in its language.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readBlocks } from './blocks.ts';

/** Throws if a text isn't valid. What a shell, cron or systemd takes is tried by the tests of the recipes. */
const checks: Record<string, (text: string) => unknown> = { yaml: (text) => parse(text), json: JSON.parse };

const samples = readBlocks('all').filter(({ language }) => language in checks);

test.each(samples)('the $language at $place, under $heading, is valid', ({ language, text }) => {
  expect(() => checks[language]?.(text)).not.toThrow();
});

test('a line to type has no comment, which zsh would pass as arguments, and no placeholder, which is a redirection', () => {
  const lines = readBlocks('all').flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : []));
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => /(^|\s)#\s|<\w+>/.test(line))).toEqual([]);
});
