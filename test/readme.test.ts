import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { scripts } from '../package.json';
import { type Setting, settingTable } from '../src/config/setting-table.ts';
import { builtInScenarios } from '../src/emulator/built-in-scenarios.ts';
import { scenarioFields } from '../src/emulator/scenario-fields.ts';
import { exitCodes } from '../src/problems/exit-codes.ts';
import programs from './bench/programs.json';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  'docs/reference.md',
  'docs/recipes.md',
  'docs/scenarios.md',
  'docs/comparison.md',
  'docs/contributing.md',
];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

const update = 'UPDATE_README=1 npx vitest run test/readme.test.ts';

/** What stands between `<!-- name -->` and `<!-- /name -->`, written by the command above. */
const sections: Record<string, () => string> = {
  settings: () =>
    table(
      ['setting', 'flag', 'environment', 'config key', 'default', 'what it is'],
      Object.entries<Setting>(settingTable).map(([key, { name, flag, env, isStored, default: fallback, about }]) => [
        name,
        flag ? `\`${flag}\`` : '',
        env.map((variable) => `\`${variable}\``).join(', '),
        isStored ? `\`${key}\`` : '',
        fallback ?? 'none',
        about,
      ]),
    ),
  scenarios: () =>
    table(
      ['scenario', 'what happens'],
      builtInScenarios.map(({ name, about }) => [`\`${name}\``, about]),
    ),
  'scenario-fields': () =>
    table(
      ['field', 'what it is'],
      scenarioFields.map(([path, about]) => [`\`${path}\``, about]),
    ),
  scripts: () =>
    table(
      ['script', 'does'],
      Object.keys(tableOfScripts)
        .filter((name) => name in scripts)
        .map((name) => [`\`npm run ${name}\``, tableOfScripts[name] ?? '']),
    ),
  bench: () => tableOfPrograms('bench'),
  stress: () => tableOfPrograms('stress'),
  'exit-codes': () =>
    table(
      ['code', 'outcome', 'meaning'],
      exitCodes.map(({ code, name, meaning }) => [String(code), name, meaning]),
    ),
};

/** The scripts that do a part of `npm test`, and those that do more. */
const tableOfScripts: Record<string, string> = {
  'test:unit': 'the tests of one module each, from its source: nothing is built',
  'test:program': 'the tests of whole commands, in the process of the tests and from the sources',
  'test:e2e': 'the tests of the built program as a process, and of the recipes; builds first if a source is younger',
  'test:watch': 'the unit tests again after every change',
  'test:coverage': 'what the tests that need no build cover: those of the modules and of the commands',
  'test:mutation': 'what tests would miss in a file: `MUTATION_TESTS=test/api npm run test:mutation src/api/body.ts`',
  'test:faults': 'every fault against every command, each as a process of its own: it takes a minute',
  picture: 'draws the picture of the README from the running program',
  bench: 'measures one thing, named after `--`',
  stress: 'tries to break the program in one way, named after `--`',
};

/** The programs of one script, from the file that the script reads. */
const tableOfPrograms = (kind: keyof typeof programs) =>
  table(
    [`\`npm run ${kind} --\``, 'does'],
    Object.entries(programs[kind]).map(([name, does]) => [`\`${name}\``, does]),
  );

/** Those that are described elsewhere on the page, or that npm runs by itself. */
const otherScripts = ['prepare', 'build', 'demo', 'lint', 'types', 'test'];

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Without the blanks and dashes with which the formatter aligns a table. */
const unaligned = (text = '') => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

test.each(Object.keys(sections))('the table of %s in the documents is the one of the source', (name) => {
  const page = pages.find((candidate) => textOf(candidate).includes(`<!-- ${name} -->`)) ?? 'README.md';
  const path = join(root, page);
  const readme = textOf(page);
  const between = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
  const wanted = `${sections[name]?.()}\n`;
  const isOld = unaligned(between.exec(readme)?.[2]) !== unaligned(wanted);
  if (process.env.UPDATE_README && isOld)
    writeFileSync(path, readme.replace(between, `$1${wanted.replaceAll('$', '$$$$')}$3`));
  else expect(unaligned(between.exec(readme)?.[2]), `renew the README by: ${update}`).toBe(unaligned(wanted));
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
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));

test.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  const broken = links.filter(([, file = '', anchor]) => {
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

test('the README has 140 lines and 1,200 words at most', () => {
  const readme = textOf('README.md');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(140);
  expect(readme.match(/\S+/g)?.length).toBeLessThanOrEqual(1200);
});

test('the architecture page names every folder of the sources', () => {
  const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  // Newer versions of Node keep compiled code in a folder beside what they run.
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== '.cache',
  );
  expect(folders.map(({ name }) => name).filter((name) => !architecture.includes(`| \`src/${name}/\` `))).toEqual([]);
});
