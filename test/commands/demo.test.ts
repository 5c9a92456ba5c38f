import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { demo } from '../../src/commands/demo.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test.each([
  ['fast', 1],
  ['slow', 20],
])('on a %s machine, the demo shows every step for certain, and keeps nothing', async (_, slowness) => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const ofUser = { RUNCTL_API_KEY: 'a key of the user', RUNCTL_BASE_URL: 'https://service.invalid' };
  const context = createMemory({ ...ofUser, RUNCTL_PROFILE: 'a profile of the user' });
  const { sleep } = context.clock;
  context.clock = { ...context.clock, sleep: (ms, signal) => sleep(ms * slowness, signal) };
  expect(await demo.run({}, {}, context)).toBe(0);

  const typed = [...context.err().matchAll(/^\$ (.*)$/gm)].map(([, line]) => line);
  expect(typed).toEqual([
    'runctl trigger nightly-report --watch',
    'runctl trigger import-orders --watch',
    'echo $?',
    'runctl trigger sync-customers --watch',
    'runctl watch sync-customers',
    'runctl list',
  ]);
  // The lost response and the 502 are to be seen; the id is that of the one run.
  const [, id] =
    /trigger nightly-report: response lost\n[\s\S]*trigger nightly-report: 201[\s\S]*nightly-report (\w+): 502\n/.exec(
      context.err(),
    ) ?? [''];
  expect(context.out()).toMatch(new RegExp(`COMPLETED nightly-report[\\s\\S]*run +${id}`));
  expect(context.out()).toContain('✖ FAILED import-orders');
  expect(context.err()).toContain('$ echo $?\n1\n');
  expect(context.err()).toMatch(/\^C\n.*sync-customers[\s\S]*runctl watch/);
  const list = context.out().slice(context.out().indexOf('STATUS'));
  expect(list.match(/COMPLETED +(nightly-report|sync-customers)|FAILED +import-orders/g)).toHaveLength(3);
  expect(readdirSync(folder)).toEqual([]);
});

test('a demo that is interrupted ends there, with the code of the signal', async () => {
  const context = createMemory();
  const { write } = context.stderr;
  context.stderr.write = (text) => {
    write.call(context.stderr, text);
    if (text.includes('nightly-report RUNNING')) context.interrupt('SIGINT');
  };
  expect(await demo.run({}, {}, context)).toBe(130);
  expect(context.err()).not.toContain('import-orders');
});
