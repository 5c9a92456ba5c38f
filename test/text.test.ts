import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../src/core/time.ts';
import { clean, cleanJson, cleanLine, withoutRunnerCommands } from '../src/text/clean.ts';
import { formatDuration, parseDuration } from '../src/text/duration.ts';
import { nearWord } from '../src/text/near-word.ts';
import { createSecrets } from '../src/text/secrets.ts';
import { shellWord } from '../src/text/shell-word.ts';

test.each([
  ['0', 0],
  ['500ms', 500],
  ['1.1s', 1100],
  ['1h30m', 5_400_000],
  ['24d', 24 * dayMs],
  ['25d', undefined],
  ['5', undefined],
  ['', undefined],
  ['-1s', undefined],
  ['1h 30m', undefined],
  ['1 hour', undefined],
])('the duration %j has %j milliseconds', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test('a duration may be longer than 24 days if no timer waits for it', () => {
  expect(parseDuration('400d', { isUnlimited: true })).toBe(400 * dayMs);
});

test.each([
  [-1, '0s'],
  [999, '0s'],
  [40_900, '40s'],
  [302_000, '5m 2s'],
  [5_460_000, '1h 31m'],
  [dayMs, '1d'],
])('%d ms are shown as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

describe('foreign text', () => {
  test.each([
    ['colors', '\u001b[31mred\u001b[0m', 'red'],
    ['links', '\u001b]8;;https://a.example\u0007text\u001b]8;;\u0007', 'text'],
    ['control characters', 'a\u0000\u0007\u009b\u0085b\u007f', 'ab'],
    ['bidirectional controls', 'a\u202eb\u2066c', 'abc'],
    ['invisible characters', 'a\u200b\ufeff\u00ad\u{e0041}b', 'ab'],
    ['fillers, which are letters or marks', 'a\u034f\u115f\u17b4\u3164b', 'ab'],
    ['carriage returns', 'a\r\nb\rc', 'a\nb\nc'],
  ])('loses its %s', (_, text, cleaned) => {
    expect(clean(text)).toBe(cleaned);
    expect(JSON.parse(cleanJson(JSON.stringify(text)))).toBe(text);
    expect(cleanJson(JSON.stringify(text))).not.toMatch(/[\u007f-\u009f\u202e\u200b]/);
  });

  test('keeps tabs, line feeds, joiners and emoji', () => {
    const text = 'a\tb\n\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 👩\u200d💻 ❤\ufe0f';
    expect(clean(text)).toBe(text);
  });

  test('fits on one line', () => {
    expect(cleanLine(' a\n\n b\tc ')).toBe('a b c');
  });

  test('gives a CI runner no command', () => {
    expect(withoutRunnerCommands('::error::no\n##[group]x##vso[y')).toBe(
      ': :error: :no\n## [group]x## vso[y',
    );
  });
});

describe('a secret', () => {
  const secret = 'k/+="\\x.y-1';
  test.each([
    ['plain', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    ['escaped in JSON', JSON.stringify(secret).slice(1, -1)],
    ['percent-encoded in lower case', encodeURIComponent(secret).toLowerCase()],
    ['as PHP escapes it', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['escaped throughout', 'k\\u002f\\u002b=\\u0022\\u005cx.y-1'],
  ])('is hidden %s', (_, spelling) => {
    const { protect, scrub } = createSecrets();
    protect(secret);
    expect(scrub(`a ${spelling} b ${spelling}`)).toBe('a [secret] b [secret]');
  });

  test('is hidden as a whole if another one is a part of it', () => {
    const { protect, scrub } = createSecrets();
    for (const one of ['pass', 'user:pass-word', 'pass-word', 'abc']) protect(one);
    expect(scrub('user:pass-word pass abc')).toBe('[secret] [secret] abc');
  });
});

test.each(['nightly', "it's", 'a b', '$(x) `y` "z"', '~', '', '=x', '-ü*'])(
  'a shell reads the quoted %j as one word',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(
      text,
    );
  },
);

test('the near word is the one that was probably meant', () => {
  expect(nearWord('nihgtly', ['import', 'nightly', 'weekly'])).toBe('nightly');
  expect(nearWord('statsu', ['start', 'status'])).toBe('status');
  expect(nearWord('x', ['nightly', 'weekly'])).toBeUndefined();
});
