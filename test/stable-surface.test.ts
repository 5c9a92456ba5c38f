import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stableSurface } from './stable-surface.ts';

const file = join(import.meta.dirname, 'stable-surface.txt');
const update = 'UPDATE_STABLE=1 npx vitest run test/stable-surface.test.ts';

test('the surface that every 1.x keeps is unchanged', () => {
  const surface = [...new Set(stableSurface())].sort();
  if (process.env.UPDATE_STABLE) writeFileSync(file, `${surface.join('\n')}\n`);
  const promised = readFileSync(file, 'utf8').trimEnd().split('\n');
  const gone = promised.filter((line) => !surface.includes(line));
  const added = surface.filter((line) => !promised.includes(line));
  expect(
    gone,
    `Scripts rely on these lines of test/stable-surface.txt (docs/reference.md, Stability). Put them back: only a 2.0 may drop or change them. If this is one, or 1.0.0 isn't released yet: ${update}`,
  ).toEqual([]);
  expect(
    added,
    `These are new, and every later 1.x would have to keep them. If they are meant for users, promise them: ${update}`,
  ).toEqual([]);
});
