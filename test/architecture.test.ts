import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const textOf = (file: string) => readFileSync(join(src, file), 'utf8');

/** Every import of every source, those of types too. `name` is a path below src/ or a package. */
const imports = files.flatMap((file) => {
  const form = /^(import|export) (type )?[^;']*?from '([^']+)';|import\('([^']+)'\)/gm;
  return [...textOf(file).matchAll(form)].map(([, , type, top, late]) => {
    const path = top ?? late ?? '';
    const name = path.startsWith('.') ? relative(src, join(src, dirname(file), path)) : path;
    return { file, name, isSource: name !== path, isType: type !== undefined };
  });
});
const shown = ({ file, name }: { file: string; name: string }) => `${file} imports ${name}`;

/** From top to bottom. Folders on one line don't know each other. */
const layers = [
  ['process.ts', 'run-cli.ts', 'cli.ts', 'flag-values.ts'],
  ['commands'],
  ['output'],
  ['journal', 'settings', 'service', 'emulator'],
  ['context.ts'],
  ['core', 'text'],
];
const partOf = (file: string) => file.split('/')[0] ?? '';
const layerOf = (file: string) => layers.findIndex((parts) => parts.includes(partOf(file)));

test('a folder imports only from itself and from the layers below it', () => {
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
  const between = imports.filter(
    ({ file, name, isSource }) =>
      isSource && name !== '../package.json' && layerOf(file) > 0 && partOf(file) !== partOf(name),
  );
  expect(between.length).toBeGreaterThan(50);
  expect(between.filter(({ file, name }) => layerOf(name) <= layerOf(file)).map(shown)).toEqual([]);
});

test('core/ imports nothing outside itself', () => {
  const ofRun = imports.filter(({ file }) => partOf(file) === 'core');
  expect(ofRun.length).toBeGreaterThan(5);
  expect(ofRun.filter(({ name }) => partOf(name) !== 'core').map(shown)).toEqual([]);
});

test('a package is loaded by one file, commander by those that read the command line', () => {
  const placeOf = (file: string) => (layerOf(file) === 0 ? 'the command line' : file);
  const filesOf = new Map<string, Set<string>>();
  for (const { file, name, isSource, isType } of imports) {
    if (isSource || isType || name.startsWith('node:')) continue;
    const [scope = '', inner] = name.split('/');
    const packageName = scope.startsWith('@') ? `${scope}/${inner}` : scope;
    filesOf.set(packageName, (filesOf.get(packageName) ?? new Set()).add(placeOf(file)));
  }
  expect(filesOf.size).toBeGreaterThan(5);
  expect([...filesOf].filter(([, loaders]) => loaders.size > 1)).toEqual([]);
});

test('only process.ts takes clock, chance and the process from Node', () => {
  const world = /\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\bperformance\.|'node:process'/;
  const isApart = (file: string) => file === 'process.ts' || partOf(file) === 'emulator';
  expect(files.filter((file) => !isApart(file) && world.test(textOf(file)))).toEqual([]);
});
