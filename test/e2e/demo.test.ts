import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withBareMachine } from '../recipes/bare-machine.ts';

test('the demo shows every step, and touches neither the settings nor the journal of its user', async () => {
  const { emulator, env, folder, run, install, settings } = await withBareMachine(undefined, { isProcess: true });
  // Its pauses are for people, and its runs take less time here; the last one must not end before Ctrl-C.
  install('sleep', 'case $1 in 2) ;; *) exec /bin/sleep "$1" ;; esac');
  const speed = '$([ "$3" = happy ] && echo 2 || echo 15)';
  install('hurried', `[ "$1" = emulator ] && set -- emulator --scenario "$3" --speed ${speed}\nexec runctl "$@"`);
  const demo = join(import.meta.dirname, '../../.config/demo.sh');
  const ofUser = { ...settings, RUNCTL_PROFILE: 'a profile of the user', TMPDIR: folder };
  const { code, stdout, stderr } = await run(['sh', demo, 'hurried'], { env: ofUser });
  expect([code, stderr]).toEqual([0, '']);
  const typed = [...stdout.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line);
  expect(typed).toEqual([
    'runctl trigger nightly --watch',
    'runctl trigger invoices --watch',
    'echo $?',
    'runctl trigger report --watch',
    'runctl watch @last',
  ]);
  // The two triggers have one run.
  expect(stdout).toMatch(
    /trigger nightly: 201 RUNNING (\w{8}) \(response lost\)\n {2}trigger nightly: 201 RUNNING \1\n/,
  );
  expect(stdout).toMatch(/\n {2}emulator: 2 triggers, 1 run, 0 runs started twice, 0 results not read\n/);
  expect(stdout).toContain('COMPLETED nightly');
  expect(stdout).toContain('FAILED invoices');
  expect(stdout).toContain('$ echo $?\n1\n');
  expect(stdout).toMatch(/\^C\n.*stopped watching report[\s\S]*\$ runctl watch @last\n[\s\S]*COMPLETED report/);
  expect([emulator.requests, readdirSync(folder)]).toEqual([[], []]);
  expect(existsSync(env.RUNCTL_STATE_DIR ?? '')).toBe(false);
});
