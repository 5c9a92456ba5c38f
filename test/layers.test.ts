import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** Each import of a source, of types too: where it is, and what it names. */
const imports = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    const named = [...text.matchAll(/^(?:import|export) .*?from '([^']+)';|import\('([^']+)'\)|^import '([^']+)';/gms)];
    return named.map(([statement, top, late, bare]) => ({
      file,
      name: top ?? late ?? bare ?? '',
      isLate: late !== undefined,
      isOfTypes: /^(import|export) type/.test(statement),
    }));
  });

/** Those that are there when the program runs. */
const loadedImports = imports.filter(({ isOfTypes }) => !isOfTypes);

/** The folder of a source, and `.` for those that stand above all folders. */
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '.');

const sorted = (pairs: Iterable<string>) => [...new Set(pairs)].sort();

test('a package is imported where one place stands for it', () => {
  const packages = loadedImports.filter(({ name }) => !name.startsWith('.') && !name.startsWith('node:'));
  expect(
    sorted(packages.filter(({ name }) => name !== 'commander').map(({ file, name }) => `${name} < ${file}`)),
  ).toEqual([
    'chalk < render/theme.ts',
    'conf < config/write-config.ts',
    'lossless-json < json-text.ts',
    'ora < render/spinner.ts',
    'string-width < render/width.ts',
    'undici < api/transport.ts',
    'undici/package.json < commands/version.ts',
    'valibot < api/read-document.ts',
  ]);
  expect(sorted(packages.filter(({ name }) => name === 'commander').map(({ file }) => folderOf(file)))).toEqual([
    'cli',
  ]);
});

test('whose a run is never depends on a time of the service: what starts a run reads none', () => {
  const deciding = [
    ...readdirSync(join(src, 'triggering')).map((name) => `triggering/${name}`),
    ...['send-trigger', 'start-with-key', 'if-active', 'wait-for-slot', 'recover-triggers'].map(
      (name) => `actions/${name}.ts`,
    ),
  ];
  const reading = deciding.filter((file) =>
    /createdAt|startedAt|serviceTimeMs|Date\b/.test(readFileSync(join(src, file), 'utf8')),
  );
  expect(reading).toEqual([]);
  expect(deciding.length).toBeGreaterThan(8);
});

/** The folders from top to bottom. A line imports only from lines below it, and neighbors don't know each other. */
const layers = [
  ['entry'], // main, process, program
  ['commands'],
  ['cli'],
  ['actions'],
  ['hooks'],
  ['connection'],
  ['api', 'journal', 'config', 'render', 'emulator'],
  ['problems'],
  ['ground'], // the other files at the top level
  ['triggering', 'watching'],
  ['runs'],
];
const entry = ['main.ts', 'process.ts', 'program.ts'];
const roomOf = (path: string) =>
  folderOf(path) === '.' ? (entry.includes(path) ? 'entry' : 'ground') : folderOf(path);
const layerOf = (path: string) => layers.findIndex((rooms) => rooms.includes(roomOf(path)));

/** Each import of one source by another. */
const sourceImports = imports
  .filter(({ name }) => name.startsWith('.'))
  .map(({ file, name }) => ({ file, to: relative(src, join(src, dirname(file), name)) }))
  .filter(({ to }) => !to.startsWith('..'));

test('a folder imports only from the layers below it', () => {
  const files = sorted(imports.map(({ file }) => file));
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
  expect(sorted(files.map(roomOf))).toEqual(sorted(layers.flat()));
  const wrong = sourceImports.filter(({ file, to }) => roomOf(file) !== roomOf(to) && layerOf(to) <= layerOf(file));
  expect(wrong.map(({ file, to }) => `${file} > ${to}`)).toEqual([]);
});

/** What is loaded before any command runs: a source and all that it imports, but for what it imports while it runs. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file) || !file.endsWith('.ts')) return loaded.add(file);
  loaded.add(file);
  for (const { name, isLate } of loadedImports.filter((each) => each.file === file)) {
    if (!isLate) loadedWith(name.startsWith('.') ? join(dirname(file), name) : name, loaded);
  }
  return loaded;
}

test('no package that takes long to load is loaded before the command that needs it', () => {
  const packages = [...loadedWith('process.ts')].filter(
    (name) => !/\.(ts|json)$/.test(name) && !name.startsWith('node:'),
  );
  expect(packages.sort()).toEqual(['commander', 'lossless-json']);
});

test('no file reaches itself through others, not even for a type', () => {
  const pathOf = (file: string, name: string) => relative(src, join(src, dirname(file), name));
  let left = imports.filter(({ name }) => name.startsWith('.')).map(({ file, name }) => [file, pathOf(file, name)]);
  expect(left.length).toBeGreaterThan(200);
  // Whoever imports only what stands on the ground stands one floor above it; what never comes to stand is in a circle.
  for (let floors = 0; floors < 50; floors++) left = left.filter(([, to]) => left.some(([file]) => file === to));
  expect(left.map(([file, to]) => `${file} > ${to}`)).toEqual([]);
});
