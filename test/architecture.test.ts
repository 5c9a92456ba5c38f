import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const page = textOf('docs/architecture.md');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => textOf(`src/${file}`))
  .join('\n');

test('the sources define every type and function that the architecture page names', () => {
  const named = [...page.matchAll(/`([A-Za-z]+)`/g)].map(([, name = '']) => name);
  const names = [...new Set(named)].filter((name) => /[a-z][A-Z]|^[A-Z][a-z]/.test(name));
  expect(names.length).toBeGreaterThan(30);
  const isDefined = (name: string) =>
    new RegExp(`(interface|type|class|function\\*?|const) ${name}\\b|^ +${name}\\??[:(]`, 'm').test(sources);
  expect(names.filter((name) => !isDefined(name))).toEqual([]);
});

test('each word of its glossary is defined where it says', () => {
  const rows = [...page.matchAll(/^\| (`.*?) \| .* \| (`.*`) \|$/gm)];
  expect(rows.length).toBeGreaterThan(15);
  const misplaced = rows.flatMap(([, words = '', places = '']) => {
    const text = [...places.matchAll(/`([^`]+)`/g)].map(([, file]) => textOf(`src/${file}`)).join('\n');
    const names = [...words.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    return names.filter((name) => !new RegExp(`(interface|type|class) ${name}\\b`).test(text));
  });
  expect(misplaced).toEqual([]);
});
