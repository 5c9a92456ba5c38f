import { expect, test } from 'vitest';
import { runOnFinal } from '../../src/session/on-final.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { run } from '../helpers/scripted-service.ts';

const followed = {
  watched: { kind: 'finished', run, execution: { status: 'COMPLETED', document: {} } },
  document: {},
} as const;

test('what the command of --on-final prints in pieces is written by whole lines', async () => {
  const context = createMemory({ PATH: process.env.PATH });
  const written: string[] = [];
  context.stderr.write = (text) => written.push(text);
  await runOnFinal('printf uploading; printf " ... done\\nno end"', followed, context);
  expect(written).toEqual(['uploading ... done\n', 'no end\n']);
});

test('a command of --on-final that prints no line breaks is heard all the same', async () => {
  const context = createMemory({ PATH: process.env.PATH });
  await runOnFinal('head -c 200000 /dev/zero | tr "\\0" x', followed, context);
  expect(context.err()).toMatch(/^x+\n?x+/);
  expect(context.err().replaceAll('\n', '')).toHaveLength(200_000);
});
