// A sample that somebody copies from the README or a page of `docs` is valid in its language.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readBlocks } from './blocks.ts';

const fail = (line: string) => {
  throw new SyntaxError(line);
};

/** Throws if a text isn't valid. What a shell runs is run by scripts.test.ts. */
const checks: Record<string, (text: string) => unknown> = {
  yaml: (text) => parse(text),
  json: JSON.parse,
  /** systemd.syntax(7): assignments in sections, and comments. */
  ini(text) {
    const [first, ...others] = text.split('\n').filter((line) => !/^([#;]|$)/.test(line));
    if (!/^\[\w+\]$/.test(first ?? '')) fail(first ?? '');
    for (const line of others) if (!/^(\[\w+\]|[A-Z]\w*=.*\S)$/.test(line)) fail(line);
  },
  /** crontab(5): variables, and commands after five fields or a word such as @reboot. */
  crontab(text) {
    for (const line of text.split('\n').filter((each) => !/^(#|$|[A-Z_]+=)/.test(each))) {
      if (/^@(reboot|hourly|daily|weekly|monthly)\s+\S/.test(line)) continue;
      const [times, command] = [line.split(/\s+/).slice(0, 5), line.split(/\s+/)[5]];
      if (!command || !times.every((time, index) => isTime(time, limits[index]))) fail(line);
    }
  },
};

/** Of minute, hour, day of month, month and day of week. */
const limits = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
];

function isTime(field: string, [least = 0, most = 0]: number[] = []): boolean {
  return field.split(',').every((part) => {
    const [, range = '', step = '1'] = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/.exec(part) ?? [];
    const numbers = range === '*' ? [least] : range.split('-').map(Number);
    return range !== '' && Number(step) > 0 && numbers.every((number) => number >= least && number <= most);
  });
}

const samples = readBlocks('all').filter(({ language }) => language in checks);

test.each(samples)('the $language at $place, under $heading, is valid', ({ language, text }) => {
  expect(() => checks[language]?.(text)).not.toThrow();
});

test('there are such samples', () => {
  const languages = samples.map(({ language }) => language);
  expect(languages).toEqual(expect.arrayContaining(['yaml', 'ini', 'crontab']));
});

test('a line to type has no comment, which zsh would pass as arguments, and no placeholder, which is a redirection', () => {
  const lines = readBlocks('all').flatMap(({ language, text }) => (language === 'sh' ? text.split('\n') : []));
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => /(^|\s)#\s|<\w+>/.test(line))).toEqual([]);
});

test.each([
  ['yaml', 'steps:\n  - run: a: b'],
  ['yaml', 'args: [trigger'],
  ['json', "{'a': 1}"],
  ['ini', 'Type=oneshot'],
  ['ini', '[Service]\nType'],
  ['crontab', '0 4 * * runctl recover'],
  ['crontab', '0 24 * * * runctl recover'],
  ['crontab', '*/0 * * * * runctl recover'],
])('this %s is not: %s', (language, text) => {
  expect(() => checks[language]?.(text)).toThrow();
});
