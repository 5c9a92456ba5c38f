import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf, finalCodes } from '../../src/problems/exit-codes.ts';
import { needs } from '../helpers/needs.ts';
import { withBareMachine } from './bare-machine.ts';
import { blockOf } from './blocks.ts';

const service = blockOf('systemd', 'ini', '# /etc/systemd/system/runctl-nightly.service');
const timer = blockOf('systemd', 'ini', '# /etc/systemd/system/runctl-nightly.timer');
const valuesOf = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
const codesOf = (name: string) => valuesOf(service, name).flatMap((value) => value.split(' ').map(Number));

test('the units are ones that systemd takes', async (context) => {
  needs(context, 'systemd-analyze');
  const { folder } = await withBareMachine();
  writeFileSync(join(folder, 'runctl-nightly.service'), service);
  writeFileSync(join(folder, 'runctl-nightly.timer'), timer);
  const verify = ['verify', '--man=no', 'runctl-nightly.service', 'runctl-nightly.timer'];
  const { status, stderr } = spawnSync('systemd-analyze', verify, { cwd: folder, encoding: 'utf8' });
  const ours = stderr.split('\n').filter((line) => line.includes('runctl-nightly'));
  expect({ status, ours }).toEqual({ status: 0, ours: [] });
  for (const calendar of valuesOf(timer, 'OnCalendar')) execFileSync('systemd-analyze', ['calendar', calendar]);
});

test('the service is restarted only where that can help', () => {
  expect(codesOf('RestartPreventExitStatus')).toEqual(finalCodes);
  expect(codesOf('SuccessExitStatus')).toEqual([exitCodeOf('interrupted_terminated')]);
});

test('the service leaves its run alone when it is stopped, and finds it again when it is started', async () => {
  const machine = await withBareMachine({ automations: { nightly: { duration: '1h' } } }, { isProcess: true });
  const { emulator, folder, run } = machine;
  mkdirSync(join(folder, 'credentials'));
  writeFileSync(join(folder, 'credentials/api-key'), emulator.apiKey);
  // systemd.unit(5), SPECIFIERS; systemd.service(5), COMMAND LINES.
  const expand = (text: string) =>
    text.replace(
      /%d|%S|%%|\$\$/g,
      (mark) => ({ '%d': `${folder}/credentials`, '%S': folder, '%%': '%', $$: '$' })[mark] ?? '',
    );
  const env = Object.fromEntries(valuesOf(service, 'Environment').map((value) => expand(value).split(/=(.*)/)));
  const [, script = ''] = /^\/bin\/sh -c '(.*)'$/.exec(expand(valuesOf(service, 'ExecStart')[0] ?? '')) ?? [];
  const start = (started?: (stop: () => void) => void) =>
    run(['/bin/sh', '-c', script], {
      env: { ...env, RUNCTL_BASE_URL: emulator.url },
      onStart: (child) => started?.(() => child.kill('SIGTERM')),
    });

  const stopped = await start((stop) => {
    const untilStarted = setInterval(() => {
      if (!emulator.requests.some(({ method }) => method === 'GET')) return;
      clearInterval(untilStarted);
      stop();
    }, 20);
  });
  expect(stopped.code, stopped.stderr).toBe(exitCodeOf('interrupted_terminated'));
  expect(emulator.runs().map(({ status }) => status)).toEqual(['RUNNING']);

  machine.endRuns();
  expect(await start()).toMatchObject({ code: 0, stderr: '' });
  expect(emulator.runs().map(({ status }) => status)).toEqual(['COMPLETED']);
});
