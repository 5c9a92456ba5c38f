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
    'valibot < emulator/scenario.ts',
  ]);
  expect(sorted(packages.filter(({ name }) => name === 'commander').map(({ file }) => folderOf(file)))).toEqual([
    'cli',
  ]);
});

test('whose a run is never depends on a time of the service: what starts a run reads none', () => {
  const deciding = [
    ...readdirSync(join(src, 'triggering')).map((name) => `triggering/${name}`),
    ...[
      'send-recorded',
      'start-unless-key-used',
      'start-unless-active',
      'start-result',
      'slot',
      'recover-triggers',
    ].map((name) => `actions/${name}.ts`),
  ];
  const reading = deciding.filter((file) =>
    /createdAt|startedAt|serviceTimeMs|Date\b/.test(readFileSync(join(src, file), 'utf8')),
  );
  expect(reading).toEqual([]);
  expect(deciding.length).toBeGreaterThan(8);
});

/** Who may know whom. `.` is what every folder may use: the context, secrets, JSON as text, folders. */
const domain = ['runs', 'triggering', 'watching'];
const allowed: Record<string, string[]> = {
  runs: [],
  triggering: ['runs'],
  watching: ['runs'],
  problems: domain,
  api: ['.', 'problems', 'runs'],
  journal: ['.', 'problems', ...domain],
  config: ['.', 'problems', 'runs'],
  emulator: ['.', 'problems', 'runs'],
  hooks: ['.', 'problems', 'runs'],
  render: ['.', 'problems', ...domain],
  session: ['.', 'api', 'config', 'hooks', 'journal', 'problems', 'render', ...domain],
  actions: ['.', 'api', 'config', 'hooks', 'journal', 'problems', 'render', 'session', ...domain],
  completion: ['.', 'cli', 'config', 'emulator', 'journal', 'problems', 'render', 'session', ...domain],
  doctor: ['.', 'api', 'config', 'journal', 'problems', 'session', ...domain],
  commands: [
    '.',
    'actions',
    'api',
    'cli',
    'completion',
    'config',
    'doctor',
    'emulator',
    'journal',
    'problems',
    'render',
    'session',
    ...domain,
  ],
  cli: ['.', 'config', 'hooks', 'problems', 'render', 'session', ...domain],
};

test.each(Object.entries(allowed))('%s imports nothing but its own and %j', (folder, others) => {
  const own = imports.filter(({ file }) => folderOf(file) === folder);
  expect(own.length).toBeGreaterThan(0);
  const reached = own
    .filter(({ name }) => name.startsWith('.'))
    .map(({ file, name }) => ({ file, to: folderOf(relative(src, join(src, dirname(file), name))) }));
  const foreign = reached.filter(({ to }) => to !== folder && to !== '..' && !others.includes(to));
  expect(sorted(foreign.map(({ file, to }) => `${file} > ${to}`))).toEqual([]);
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

test('no folder reaches itself through others', () => {
  const reached = new Map(Object.keys(allowed).map((folder) => [folder, new Set<string>()]));
  for (const { file, name } of imports.filter(({ name }) => name.startsWith('.'))) {
    const to = folderOf(relative(src, join(src, dirname(file), name)));
    if (to !== folderOf(file)) reached.get(folderOf(file))?.add(to);
  }
  const circles = [...reached.keys()].flatMap((folder) => circlesFrom([folder], reached));
  expect(circles).toEqual([]);
});

/** Ways along imports from the first folder of a path back to it. */
function circlesFrom(path: string[], reached: Map<string, Set<string>>): string[] {
  const next = [...(reached.get(path.at(-1) ?? '') ?? [])];
  return next.flatMap((folder) => {
    if (folder === path[0]) return [[...path, folder].join(' > ')];
    return path.includes(folder) ? [] : circlesFrom([...path, folder], reached);
  });
}

test('no file reaches itself through others, not even for a type', () => {
  const pathOf = (file: string, name: string) => relative(src, join(src, dirname(file), name));
  let left = imports.filter(({ name }) => name.startsWith('.')).map(({ file, name }) => [file, pathOf(file, name)]);
  expect(left.length).toBeGreaterThan(500);
  // Whoever imports only what stands on the ground stands one floor above it; what never comes to stand is in a circle.
  for (let floors = 0; floors < 50; floors++) left = left.filter(([, to]) => left.some(([file]) => file === to));
  expect(left.map(([file, to]) => `${file} > ${to}`)).toEqual([]);
});
