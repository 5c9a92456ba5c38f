import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { demo } from '../../src/commands/demo.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('the demo follows a run to its end, shows its fields and its line in the list, and keeps nothing', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const context = createMemory({ RUNCTL_API_KEY: 'a key of the user', RUNCTL_BASE_URL: 'https://service.invalid' });
  expect(await demo.run({}, {}, context)).toBe(0);
  expect(context.out()).toMatch(
    /COMPLETED nightly-report[\s\S]*\n3\tRead 128 orders.*\n[\s\S]*COMPLETED.*nightly-report/,
  );
  for (const command of ['trigger nightly-report --watch', 'result --field', 'list']) {
    expect(context.err()).toContain(`$ runctl ${command}`);
  }
  expect(context.err()).toContain('502');
  expect(readdirSync(folder)).toEqual([]);
});

test('a demo that is interrupted ends there, with the code of the signal', async () => {
  const context = createMemory();
  const { write } = context.stderr;
  context.stderr.write = (text) => {
    write.call(context.stderr, text);
    if (text.includes('started a run')) context.interrupt('SIGINT');
  };
  expect(await demo.run({}, {}, context)).toBe(130);
  expect(context.err()).not.toContain('$ runctl result');
});
