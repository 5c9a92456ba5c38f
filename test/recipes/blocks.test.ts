// A sample that somebody copies from the README or a page of `docs` is valid in its language.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readBlocks } from './blocks.ts';

/** Throws if a text isn't valid. What a shell, cron or systemd takes is tried by the tests of the recipes. */
const checks: Record<string, (text: string) => unknown> = { yaml: (text) => parse(text), json: JSON.parse };

const samples = readBlocks('all').filter(({ language }) => language in checks);

test.each(samples)('the $language at $place, under $heading, is valid', ({ language, text }) => {
  expect(() => checks[language]?.(text)).not.toThrow();
});

test('the tests that CONTRIBUTING.md shows are tests', () => {
  const [shown] = readBlocks('all').filter(({ language }) => language === 'ts');
  expect(shown?.text).toBe(readFileSync(join(import.meta.dirname, '../e2e/example.test.ts'), 'utf8'));
});
