import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** Each import of a source that is there when the program runs: where it is, and what it names. */
const imports = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    const named = [...text.matchAll(/^(?:import|export) .*?from '([^']+)';|import\('([^']+)'\)|^import '([^']+)';/gms)];
    return named
      .filter(([statement]) => !/^(import|export) type/.test(statement))
      .map(([, ...names]) => ({ file, name: names.find(Boolean) ?? '' }));
  });

/** The folder of a source, and `.` for those that stand above all folders. */
const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '.');

const sorted = (pairs: Iterable<string>) => [...new Set(pairs)].sort();

test('a package is imported where one place stands for it', () => {
  const packages = imports.filter(({ name }) => !name.startsWith('.') && !name.startsWith('node:'));
  expect(
    sorted(packages.filter(({ name }) => name !== 'commander').map(({ file, name }) => `${name} < ${file}`)),
  ).toEqual([
    'chalk < render/theme.ts',
    'conf < config/write-config.ts',
    'lossless-json < json-text.ts',
    'ora < render/spinner.ts',
    'string-width < render/width.ts',
    'undici < api/transport.ts',
    'undici/package.json < main.ts',
    'valibot < api/schema.ts',
    'valibot < emulator/schema.ts',
  ]);
  expect(sorted(packages.filter(({ name }) => name === 'commander').map(({ file }) => folderOf(file)))).toEqual([
    'cli',
  ]);
});

/** Who may know whom. `.` is what every folder may use: the context, secrets, JSON as text, folders, flags of V8. */
const allowed: Record<string, string[]> = {
  runs: ['problems'],
  problems: ['runs'],
  api: ['.', 'problems', 'runs'],
  journal: ['.', 'problems', 'runs'],
  config: ['.', 'problems', 'runs'],
  emulator: ['.', 'problems', 'runs'],
  render: ['.', 'problems', 'runs'],
  session: ['.', 'api', 'config', 'journal', 'problems', 'render', 'runs'],
  completion: ['.', 'cli', 'config', 'emulator', 'journal', 'problems', 'render', 'runs', 'session'],
  commands: ['.', 'api', 'cli', 'completion', 'config', 'emulator', 'journal', 'problems', 'render', 'runs', 'session'],
  cli: ['.', 'config', 'problems', 'render', 'runs'],
};

test.each(Object.entries(allowed))('%s imports nothing but its own and %j', (folder, others) => {
  const own = imports.filter(({ file, name }) => folderOf(file) === folder && name.startsWith('.'));
  expect(own.length).toBeGreaterThan(0);
  const reached = own.map(({ file, name }) => ({ file, to: folderOf(relative(src, join(src, dirname(file), name))) }));
  const foreign = reached.filter(({ to }) => to !== folder && to !== '..' && !others.includes(to));
  expect(sorted(foreign.map(({ file, to }) => `${file} > ${to}`))).toEqual([]);
});
