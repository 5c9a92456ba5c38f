import { expect, test } from 'vitest';
import { onMemoryScreen } from '../helpers/memory-screen.ts';
import { readBlocks } from '../recipes/blocks.ts';

/** The lines without what differs from run to run: the host, the id, and how long the run took. */
const withoutChance = (lines: readonly string[]) =>
  lines
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replace(/\S+ reset/, 'HOST reset')
        .replace(/[\da-f-]{36}/, 'ID')
        .replace(/ in \S+$/, ' in T'),
    );

test('the first example of the README shows what a terminal shows, whole', async () => {
  const [first] = readBlocks('run');
  const [command, ...shown] = first?.text.split('\n') ?? [];
  expect(command).toBe('$ runctl trigger nightly --watch');
  const screen = await onMemoryScreen(
    ['trigger', 'nightly', '--watch'],
    { automations: { nightly: { duration: '1ms' } }, faults: [{ on: 'trigger', nth: 1, do: 'reset' }] },
    { columns: 120 },
  );
  expect(await screen.exit).toBe(0);
  expect(withoutChance(await screen.lines())).toEqual(withoutChance(shown.slice(0, shown.indexOf('$ echo $?'))));
});
