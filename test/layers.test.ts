import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');
const textOf = (file: string) => readFileSync(join(src, file), 'utf8');
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** Each import of a source, of types too: where it is, and what it names, a source by its path. */
const imports = sources.flatMap((file) => {
  const form = /^(?:import|export) [^;]*?from '([^']+)';|import\('([^']+)'\)|^import '([^']+)';/gm;
  return [...textOf(file).matchAll(form)].map(([statement, top, late, bare]) => {
    const name = top ?? late ?? bare ?? '';
    return {
      file,
      name: name.startsWith('.') ? relative(src, join(src, dirname(file), name)) : name,
      isOfSource: name.startsWith('.') && !relative(src, join(src, dirname(file), name)).startsWith('..'),
      isPackage: !/^\.|^node:/.test(name),
      isLate: late !== undefined,
      isOfTypes: /^(import|export) type/.test(statement),
    };
  });
});

/** The imports that remain when the program runs. */
const loaded = imports.filter(({ isOfTypes }) => !isOfTypes);

const sorted = (texts: Iterable<string>) => [...new Set(texts)].sort();
const shown = ({ file, name }: { file: string; name: string }) => `${file} > ${name}`;

const packageOf = (name: string) => name.replace(/\/.*/, '');

test('a package is imported in one place', () => {
  const packages = loaded.filter(({ isPackage }) => isPackage);
  const places = packages.map(
    ({ file, name }) => `${packageOf(name)} < ${name === 'commander' ? dirname(file) : file}`,
  );
  expect(sorted(places)).toEqual([
    'chalk < output/theme.ts',
    'commander < cli',
    'commander < commands',
    'conf < settings/config-file.ts',
    'lossless-json < system/json.ts',
    'ora < output/spinner.ts',
    'string-width < output/width.ts',
    'undici < commands/version.ts', // its version
    'undici < service/undici.ts',
    'valibot < service/parse-document.ts',
  ]);
});

test('no package that takes long to load is loaded before the command that needs it', () => {
  const together = new Set<string>();
  const load = (file: string) => {
    if (together.has(file)) return;
    together.add(file);
    for (const { name, isLate } of loaded.filter((each) => each.file === file)) if (!isLate) load(name);
  };
  load('process.ts');
  const packages = loaded.filter(({ name, isPackage }) => isPackage && !name.endsWith('.json')).map(({ name }) => name);
  expect(sorted(packages.filter((name) => together.has(name)))).toEqual(['commander', 'lossless-json']);
});

test('whose a run is never depends on a time of the service: neither what starts a run nor what orders records reads one', () => {
  // Messages may say since when the active run is running.
  const names = readdirSync(join(src, 'start')).filter((name) => name !== 'active-run.ts');
  const deciding = [...names.map((name) => `start/${name}`), 'journal/fold.ts', 'run/attribution.ts'];
  const reading = deciding.filter((file) => /createdAt|startedAt|serviceTimeMs|Date\b/.test(textOf(file)));
  expect(reading).toEqual([]);
  expect(deciding.length).toBeGreaterThan(5);
});

test('what starts and watches a run takes its texts from the messages: it has none of its own, except for --debug', () => {
  const deciding = sources.filter((file) => /^(start|watch)\//.test(file));
  const texts = deciding.flatMap((file) => {
    const code = textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*|debug\?\..*/g, '');
    const literals = code.match(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g) ?? [];
    return literals.filter((literal) => / /.test(literal)).map((literal) => `${file}: ${literal}`);
  });
  expect(texts).toEqual([]);
});

/** The folders from top to bottom. A line imports only from lines below it, and neighbors don't know each other. */
const layers = [
  ['entry'], // main, process, program
  ['commands'],
  ['cli'],
  ['connection'],
  ['start'],
  ['watch'],
  ['ports'],
  ['journal', 'settings', 'output', 'emulator'],
  ['messages'],
  ['context'],
  ['service'],
  ['run'],
  ['system'],
];
const entry = ['main.ts', 'process.ts', 'program.ts'];

function folderOf(file: string): string {
  if (file.includes('/')) return dirname(file);
  if (entry.includes(file)) return 'entry';
  return file === 'ports.ts' ? 'ports' : 'context';
}

test('a folder imports only from the layers below it', () => {
  expect(sorted(sources.map(folderOf))).toEqual(sorted(layers.flat()));
  const layerOf = (file: string) => layers.findIndex((folders) => folders.includes(folderOf(file)));
  const between = imports.filter(({ file, name, isOfSource }) => isOfSource && folderOf(file) !== folderOf(name));
  expect(between.filter(({ file, name }) => layerOf(name) <= layerOf(file)).map(shown)).toEqual([]);
});

test('no file reaches itself through others, not even for a type', () => {
  let left = imports.filter(({ isOfSource }) => isOfSource);
  expect(left.length).toBeGreaterThan(200);
  // Each round drops the imports of files that import nothing any more. Imports that are never dropped form a cycle.
  for (let round = 0; round < 50; round++) left = left.filter(({ name }) => left.some(({ file }) => file === name));
  expect(left.map(shown)).toEqual([]);
});
