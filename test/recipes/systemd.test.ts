import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/run/exit-codes.ts';
import { needs } from '../helpers/needs.ts';
import type { ProcessOptions } from '../helpers/run-process.ts';
import { type Machine, withBareMachine } from './bare-machine.ts';
import { blockOf, blocksOf } from './blocks.ts';
import { codesNotToRepeat } from './codes-not-to-repeat.ts';

const service = blockOf('systemd', 'ini', '# /etc/systemd/system/runctl-nightly.service');
const timer = blockOf('systemd', 'ini', '# /etc/systemd/system/runctl-nightly.timer');
const notice = blockOf('systemd', 'ini', '# /etc/systemd/system/runctl-failed@.service');
const valuesOf = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
const firstValueOf = (unit: string, name: string) => valuesOf(unit, name)[0] ?? '';
const codesOf = (name: string) => valuesOf(service, name).flatMap((value) => value.split(' ').map(Number));

test('systemd accepts the units', async (context) => {
  needs(context, 'systemd-analyze');
  const { folder } = await withBareMachine();
  for (const unit of blocksOf('systemd', 'ini')) {
    const [, name = ''] = /^# .*\/(.*)$/m.exec(unit) ?? [];
    writeFileSync(join(folder, name), unit);
  }
  const verify = ['verify', '--man=no', 'runctl-nightly.service', 'runctl-nightly.timer', 'runctl-failed@x.service'];
  const { status, stderr } = spawnSync('systemd-analyze', verify, { cwd: folder, encoding: 'utf8' });
  const ours = stderr.split('\n').filter((line) => line.includes('runctl-'));
  expect({ status, ours }).toEqual({ status: 0, ours: [] });
});

// On these days clocks change.
test.for([
  ['Europe/Helsinki', '2027-03-28'],
  ['Europe/Helsinki', '2026-10-25'],
  ['Europe/London', '2027-03-28'],
  ['America/New_York', '2027-03-14'],
  ['America/New_York', '2026-11-01'],
])('the timer starts the service once in the night in which clocks change in %s: %s', ([zone, day = ''], context) => {
  needs(context, 'systemd-analyze');
  const argv = ['calendar', `--base-time=${day} 00:00`, '--iterations=2', firstValueOf(timer, 'OnCalendar')];
  const shown = execFileSync('systemd-analyze', argv, { env: { ...process.env, TZ: zone }, encoding: 'utf8' });
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  expect(shown.match(/\d{4}-\d\d-\d\d \S+ (?!UTC)/g)?.map((time) => time.slice(0, 16))).toEqual([
    `${day} 04:00`,
    `${next} 04:00`,
  ]);
});

test('the service is restarted only if that can help', () => {
  expect(codesOf('RestartPreventExitStatus')).toEqual(codesNotToRepeat);
  expect(codesOf('SuccessExitStatus')).toEqual([exitCodeOf('interrupted_terminated')]);
});

/** The folders of systemd have none. */
const noBlank = 'a TMPDIR without a blank';

/** The service on a machine, without systemd. */
function withService({ emulator, folder, run }: Machine) {
  for (const name of ['credentials', 'run']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'credentials/api-key'), emulator.apiKey, { mode: 0o600 });
  // systemd.unit(5), SPECIFIERS; systemd.service(5), COMMAND LINES.
  const values: Record<string, string> = {
    '%d': join(folder, 'credentials'),
    '%S': folder,
    '%t': join(folder, 'run'),
    '%%': '%',
    $$: '$',
  };
  const expand = (text: string) => text.replace(/%.|\$\$/g, (mark) => values[mark] ?? mark);
  const env = Object.fromEntries(valuesOf(service, 'Environment').map((value) => expand(value).split(/=(.*)/)));
  const scripts = ['ExecStartPre', 'ExecStart'].map((name) => {
    const [, script = ''] = /^\/bin\/sh -c '(.*)'$/.exec(expand(firstValueOf(service, name))) ?? [];
    return script;
  });
  const runtimeFolder = join(folder, 'run', firstValueOf(service, 'RuntimeDirectory'));
  /** What systemd does for a start, and for a restart, which keeps the RuntimeDirectory. */
  async function restart(options: ProcessOptions = {}) {
    mkdirSync(runtimeFolder, { recursive: true });
    const [before = '', main = ''] = scripts;
    const around = { ...env, RUNCTL_BASE_URL: emulator.url };
    expect(await run(['/bin/sh', '-c', before], { env: around })).toMatchObject({ code: 0, stderr: '' });
    return run(['/bin/sh', '-c', main], { ...options, env: around });
  }
  function start(options: ProcessOptions = {}) {
    rmSync(runtimeFolder, { recursive: true, force: true });
    return restart(options);
  }
  return { start, restart };
}

test('the service does not touch its run when it is stopped, and finds it again when it is started', async (context) => {
  needs(context, noBlank, !tmpdir().includes(' '));
  const machine = await withBareMachine({ automations: { nightly: { duration: '1h' } } }, { isProcess: true });
  const { emulator } = machine;
  const { start } = withService(machine);
  const stopped = await start({
    onStart(child) {
      const untilPolled = setInterval(() => {
        if (!emulator.requests.some(({ method }) => method === 'GET')) return;
        clearInterval(untilPolled);
        child.kill('SIGTERM');
      }, 20);
    },
  });
  expect(stopped.code, stopped.stderr).toBe(exitCodeOf('interrupted_terminated'));
  expect(emulator.runs().map(({ status }) => status)).toEqual(['RUNNING']);

  machine.endRuns();
  expect(await start()).toMatchObject({ code: 0, stderr: '' });
  expect(emulator.runs().map(({ status }) => status)).toEqual(['COMPLETED']);
});

test('a restart after midnight keeps the key of the evening, and the next start has a new key', async (context) => {
  needs(context, noBlank, !tmpdir().includes(' '));
  const machine = await withBareMachine();
  const { start, restart } = withService(machine);
  const keys = () => machine.emulator.runs().map(({ idempotencyKey }) => idempotencyKey);
  machine.setDate('2026-11-24 23:59');
  await start();
  machine.setDate('2026-11-25 00:01');
  await restart();
  expect(keys()).toEqual(['nightly-2026-11-24']);
  machine.setDate('2026-11-25 23:59');
  await start();
  expect(keys()).toEqual(['nightly-2026-11-24', 'nightly-2026-11-25']);
});

test('somebody is mailed the last lines of the log when the service has failed', async () => {
  const { folder, run, install } = await withBareMachine();
  install('journalctl', 'echo "$@"');
  install('mail', `printf '%s\\n' "$@" > '${join(folder, 'mailed')}'; cat >> '${join(folder, 'mailed')}'`);
  // systemd.unit(5): %n of a service, as the instance of the notice.
  const [, instance = ''] = /@(.*)\.service$/.exec(firstValueOf(service, 'OnFailure')) ?? [];
  const unit = instance.replace('%n', 'runctl-nightly.service');
  const [, script = ''] = /^\/bin\/sh -c '(.*)'$/.exec(firstValueOf(notice, 'ExecStart')) ?? [];
  expect(await run(['/bin/sh', '-c', script.replaceAll('%i', unit)])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'mailed'), 'utf8')).toBe(
    `-s\n${unit} failed\nops@example.com\n--unit ${unit} -n 20\n`,
  );
});
