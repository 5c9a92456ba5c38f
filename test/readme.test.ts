import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { scripts, version } from '../package.json';
import { asTyped } from '../src/cli/options.ts';
import { program } from '../src/program.ts';
import { exitCodeOf, exitCodes } from '../src/run/exit-codes.ts';
import { defaults, serviceLimits } from '../src/run/limits.ts';
import { finalStatuses } from '../src/run/statuses.ts';
import { type Setting, settingTable } from '../src/settings/table.ts';

import { pollGapMs } from '../src/watch/poll-gap.ts';
import { cappedRetryAfterMs } from '../src/watch/poll-retry-policy.ts';
import programs from './bench/programs.json';

const root = join(import.meta.dirname, '..');
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...docs.map((name) => `docs/${name}`)];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

const update = 'UPDATE_README=1 npx vitest run test/readme.test.ts';

/** The text between `<!-- name -->` and `<!-- /name -->`, written by the command above. */
const sections: Record<string, () => string> = {
  settings: () =>
    table(
      ['setting', 'flag', 'environment', 'config key', 'default', 'what it is'],
      Object.entries<Setting>(settingTable).map(
        ([key, { label, flag, env, isStored, default: fallback, description }]) => [
          label,
          flag ? `\`${flag}\`` : '',
          env.map((variable) => `\`${variable}\``).join(', '),
          isStored ? `\`${key}\`` : '',
          fallback ?? 'none',
          description,
        ],
      ),
    ),
  scripts: () =>
    table(
      ['script', 'what it does'],
      Object.keys(tableOfScripts)
        .filter((name) => name in scripts)
        .map((name) => [`\`npm run ${name}\``, tableOfScripts[name] ?? '']),
    ),
  'exit-codes': () =>
    table(
      ['code', 'outcome', 'meaning', 'repeat?'],
      exitCodes.map(({ code, outcome, meaning, repeat }) => [String(code), outcome, meaning, repeat]),
    ),
};

/** The scripts that do a part of `npm test`, and those that do more. */
const tableOfScripts: Record<string, string> = {
  'test:unit': 'test each module from source; builds nothing',
  'test:program': 'test whole commands from source, inside the test process',
  'test:e2e': 'test the built program as a process, and the recipes',
  'test:watch': 'run the unit tests again after every change',
  'test:coverage': 'measure the coverage of the tests that need no build',
  'test:mutation':
    'find what the tests of a file miss: `MUTATION_TESTS=test/service npm run test:mutation src/service/body.ts`',
  'test:faults': 'try every fault with every command, each in its own process',
  update: 'renew what tests compare, such as `test/words.txt` and the tables in the docs; read the diff',
  pack: 'build and pack `runctl-<version>.tgz`, with its SHA-256 next to it',
  picture: 'draw the pictures in the docs from the running program',
  bench: 'run one benchmark, named after `--`',
  stress: 'run one stress test, named after `--`',
};

/** Those that are described elsewhere on the page, or that npm runs by itself. */
const otherScripts = ['prepare', 'build', 'demo', 'lint', 'types', 'test'];

function table(head: string[], rows: string[][]): string {
  const [first = [], ...others] = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(...[first, ...others].map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  return [line(first), line(Array(head.length).fill(''), '-'), ...others.map((row) => line(row))].join('\n');
}

const tables = pages.flatMap((page) =>
  Object.keys(sections).flatMap((name) => (textOf(page).includes(`<!-- ${name} -->`) ? [[name, page] as const] : [])),
);

test.each(tables)('the table of %s in %s is the one of the source', (name, page) => {
  const between = new RegExp(`(<!-- ${name} -->\n+)([\\s\\S]*?)(\n+<!-- /${name} -->)`);
  const wanted = sections[name]?.();
  if (process.env.UPDATE_README)
    writeFileSync(
      join(root, page),
      textOf(page).replace(between, (_, open, __, close) => open + wanted + close),
    );
  expect(between.exec(textOf(page))?.[2], `renew the documents by: ${update}`).toBe(wanted);
});

test('every table that the source has is in a document', () => {
  expect(Object.keys(sections).filter((name) => !tables.some(([inDocument]) => inDocument === name))).toEqual([]);
});

test('every script of the package is described', () => {
  const untold = Object.keys(scripts).filter((name) => !(name in tableOfScripts) && !otherScripts.includes(name));
  expect(untold).toEqual([]);
});

test('every program that a script names has its file', () => {
  const names = Object.values(programs).flatMap((ofOneScript) => Object.keys(ofOneScript));
  expect(names.filter((name) => !existsSync(join(root, 'test/bench', `${name}.mjs`)))).toEqual([]);
});

const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

test.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  const broken = links.filter(([, file = '', anchor]) => {
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test('the README names a version before 1.0.0 as what it is', () => {
  expect(textOf('README.md').match(/This is \d+\.\d+\.\d+[-\w.]*(?=:)/)?.[0]).toBe(
    version.includes('-') ? `This is ${version}` : undefined,
  );
});

const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
);

test('the architecture page names every folder of the sources', () => {
  const text = textOf('docs/architecture.md');
  expect(folders.filter((name) => !text.includes(`| \`src/${name}/\` `))).toEqual([]);
});

test.each(['docs/architecture.md', 'docs/CONTRIBUTING.md'])('every path in %s exists', (page) => {
  const named = [...textOf(page).matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)].map(([, path = '']) => path);
  const ofTop = /^(src|test|docs|bin|\.config|\.ci|\.github)\//;
  const inSource = new RegExp(`^(${folders.join('|')})/[\\w.-]+\\.ts$`);
  const paths = named.flatMap((path) => (ofTop.test(path) ? path : inSource.test(path) ? `src/${path}` : []));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(['README.md', 'docs/reference.md'])('%s names the codes after which a trigger has started no run', (page) => {
  const text = textOf(page).replaceAll(/\s+/g, ' ');
  const ranges = exitCodes.reduce<number[][]>((found, { code, startsNoRun }) => {
    if (!startsNoRun) return found;
    const last = found.at(-1);
    if (last?.at(-1) === code - 1) last.push(code);
    else found.push([code]);
    return found;
  }, []);
  const said = ranges.map((codes) => (codes.length > 1 ? `${codes[0]} to ${codes.at(-1)}` : String(codes[0])));
  expect(text).toContain(`${said.join(' and ')} mean that`);
});

const seconds = (ms: number) => `${ms / 1000} seconds`;
const minutes = (ms: number) => `${ms / 60_000} minutes`;
const hours = (ms: number) => `${ms / 3_600_000} hours`;
const { giveUpAfterMs, readGiveUpAfterMs, timeoutMs, rate } = defaults;
const { keyRetentionMs } = serviceLimits;
const listMs = [defaults.listGiveUpAtTerminalMs, defaults.listGiveUpAfterMs];
const gaps = [`${100 * (pollGapMs(100_000) / 100_000)}%`, `${pollGapMs(0) / 1000}`, seconds(pollGapMs(timeoutMs))];

test.each<[page: string, sentence: string, numbers: string[]]>([
  ['README.md', 'A watch survives', [minutes(giveUpAfterMs)]],
  ['README.md', 'honors the `Idempotency-Key`', [hours(keyRetentionMs)]],
  ['docs/service.md', 'assumes the same for Automations', [hours(keyRetentionMs)]],
  ['docs/reference.md', 'polls each unfinished run', [hours(keyRetentionMs)]],
  ['docs/reference.md', 'on a terminal, and', listMs.map(seconds)],
  ['docs/reference.md', 'It waits for `--timeout`', [asTyped(timeoutMs), `${exitCodeOf('already_active')}`]],
  ['docs/reference.md', 'the time without a valid response', [minutes(giveUpAfterMs), seconds(readGiveUpAfterMs)]],
  ['docs/reference.md', 'requests per second', [`${rate}`, '2000', seconds((2000 / rate) * 1000)]],
  ['docs/reference.md', 'never retries before `Retry-After`', [minutes(cappedRetryAfterMs(timeoutMs))]],
  ['docs/reference.md', 'time between polls', gaps],
  ['docs/reference.md', 'unresolved triggers stay open', [hours(keyRetentionMs)]],
  ['docs/recipes.md', 'For thousands of runs', [`${rate}`]],
  ['docs/troubleshooting.md', '`--give-up-after`)', [minutes(giveUpAfterMs), asTyped(timeoutMs)]],
])('in %s the numbers of the sentence with "%s" are those of the program', (page, words, numbers) => {
  const sentences = textOf(page)
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=\.) /);
  const found = sentences.filter((sentence) => sentence.includes(words));
  const named = found.map((sentence) => sentence.match(/\d+h\d+m|\d+(%| (seconds|minutes|hours))?/g));
  expect(named).toEqual([numbers]);
});

test.each(['README.md', 'docs/service.openapi.json'])('%s names every final status', (page) => {
  const text = textOf(page);
  expect(finalStatuses.filter((status) => !text.includes(status))).toEqual([]);
});

test('the documents name every command', () => {
  const text = pages.map(textOf).join('');
  const names = program.commands.map((command) => command.name());
  expect(names.filter((name) => !text.includes(`runctl ${name}`) && !text.includes(`\`${name}\``))).toEqual([]);
});
