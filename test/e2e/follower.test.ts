import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { firstOf } from '../helpers/rotation.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const patience = { timeout: 25_000, interval: 20 };

const lines = Array.from({ length: 40 }, (_, n) => `job-${n + 1}`);
const failures = { 'job-7': 'FAILED', 'job-32': 'TIMED_OUT', 'job-35': 'CANCELLED' } as const;
/** Its line is missing from the crontab. */
const forgotten = 'job-40';

/** A machine on which 20 minutes pass in a second. */
async function machine() {
  const failing = Object.entries(failures).map(([name, outcome]) => [name, { duration: '20m', outcome }]);
  const automations = { '*': { duration: '40m' }, ...Object.fromEntries(failing) };
  const { env } = await withEmulator({ automations }, { nowMs: Date.now, speed: 1200 });
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
  const file = join(temporaryFolder(), 'reported');
  const hook = `echo "$RUNCTL_EXECUTION_ID $RUNCTL_AUTOMATION $RUNCTL_STATUS" >> '${file}'`;
  const argv = ['watch', '--follow', '--quiet', '--interval', '400ms', '--rate', '200', '--on-final', hook];
  return {
    run: (...command: string[]) => runProgram(command, { env }),
    hooks: () => journal.hooks({ baseUrl }),
    reported: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []),
    follow() {
      let kill = (_: NodeJS.Signals): unknown => undefined;
      const ended = runProcess(argv, {
        env,
        onStart(child) {
          kill = (signal) => child.kill(signal);
          // It would follow for ever where the test fails before it ends it.
          onTestFinished(() => void child.kill('SIGKILL'));
        },
      });
      return (signal: NodeJS.Signals) => {
        kill(signal);
        return ended;
      };
    },
  };
}

test('a night: 39 of 40 cron lines run, the follower is killed twice, and everything is reported once', {
  timeout: 60_000,
}, async () => {
  const { run, hooks, reported, follow } = await machine();
  const ids: string[] = [];
  const trigger = async (names: string[]) => {
    for (const name of names) {
      const { code, stdout, stderr } = await run('trigger', name, '--quiet');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      ids.push(stdout.trim());
    }
  };

  const endFirst = follow();
  await trigger(lines.slice(0, 15));
  await vi.waitFor(() => expect(reported()).not.toEqual([]), patience);
  const first = await endFirst('SIGKILL');
  await trigger(lines.slice(15, 30));
  const endSecond = follow();
  await vi.waitFor(() => expect(reported().length).toBeGreaterThan(15), patience);
  const second = await endSecond('SIGKILL');
  const endThird = follow();
  await trigger(lines.slice(30).filter((name) => name !== forgotten));
  await vi.waitFor(() => {
    const ended = hooks().filter(({ state }) => state === 'ended');
    expect(ended.map(({ run: { executionId } }) => executionId).sort()).toEqual(ids.toSorted());
  }, patience);
  const third = await endThird('SIGTERM');
  const morning = await run('check', ...lines, '--within', '26h', '--quiet');

  expect([first.code, second.code, third.code]).toEqual(['SIGKILL', 'SIGKILL', 143]);
  const reportedIds = reported().map((line) => line.split(' ')[0] ?? '');
  expect(new Set(reportedIds).size).toBe(reportedIds.length);
  // The command of a run that a killed follower had begun may have been cut off: the next follower says so, once.
  const warnings = first.stderr + second.stderr + third.stderr;
  for (const id of ids) {
    const cutOff = warnings.split(`the --on-final command for run ${id} of`).length - 1;
    expect(cutOff).toBeLessThanOrEqual(1);
    expect(reportedIds.includes(id) || cutOff === 1).toBe(true);
  }
  const found = reported().filter((line) => !line.endsWith('COMPLETED'));
  const triggered = lines.filter((name) => name !== forgotten);
  expect(found.sort()).toEqual(
    Object.entries(failures)
      .map(([name, status]) => `${ids[triggered.indexOf(name)]} ${name} ${status}`)
      .filter((line) => reportedIds.includes(line.split(' ')[0] ?? ''))
      .sort(),
  );

  expect(morning).toMatchObject({ code: 15, stdout: '' });
  const overdue = morning.stderr.split('\n').filter((line) => line.startsWith('runctl:'));
  expect(overdue.map((line) => line.split(' ')[1]).sort()).toEqual([...Object.keys(failures), forgotten].sort());
  expect(overdue.find((line) => line.includes(forgotten))).toContain('no runs are recorded on this machine');
});

test.each(
  firstOf<[NodeJS.Signals, number | NodeJS.Signals]>([
    ['SIGTERM', 143],
    // The night above has two followers killed.
    ['SIGKILL', 'SIGKILL'],
  ]),
)(
  'of twenty runs that end together, a follower that %s ends after eight hooks leaves the rest to the next',
  {
    timeout: 60_000,
  },
  async (signal, code) => {
    const { emulator, env } = await withEmulator({ automations: { '*': { duration: '1s' } } });
    const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
    const hooks = () => journal.hooks({ baseUrl: env.RUNCTL_BASE_URL ?? '' });
    const folder = temporaryFolder();
    const linesOf = (name: string) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean) : [];
    const follow = (command: string) => {
      const flags = ['--quiet', '--interval', '300ms', '--rate', '200', '--on-final', command];
      let kill = (_: NodeJS.Signals): unknown => undefined;
      const ended = runProcess(['watch', '--follow', ...flags], {
        env,
        onStart(child) {
          kill = (name) => child.kill(name);
        },
      });
      return (name: NodeJS.Signals) => {
        kill(name);
        return ended;
      };
    };
    const names = Array.from({ length: 20 }, (_, n) => `job-${n}`);
    const endFirst = follow(
      `echo $RUNCTL_EXECUTION_ID >> '${join(folder, 'first')}'; while [ -d '${folder}' ] && [ ! -e '${join(folder, 'done')}' ]; do sleep 0.2; done`,
    );
    const { stdout } = await runProgram(['trigger', ...names], { env });
    const ids = stdout.split('\n').filter(Boolean);
    await vi.waitFor(() => {
      expect(linesOf('first')).toHaveLength(8);
      // A hook waits its turn once the result of its run is read.
      expect(emulator.requests.filter(({ url }) => url.endsWith('/result'))).toHaveLength(20);
      expect(journal.unfinishedRuns({ baseUrl: env.RUNCTL_BASE_URL ?? '' })).toEqual([]);
    }, patience);
    const first = await endFirst(signal);
    const endSecond = follow(`echo $RUNCTL_EXECUTION_ID >> '${join(folder, 'second')}'`);
    await vi.waitFor(() => expect(hooks().filter(({ state }) => state === 'ended')).toHaveLength(20), patience);
    const second = await endSecond('SIGTERM');
    // What is left of the hooks of the follower that was killed.
    writeFileSync(join(folder, 'done'), '');

    expect([first.code, second.code]).toEqual([code, 143]);
    expect(emulator.runs()).toHaveLength(20);
    expect([...linesOf('first'), ...linesOf('second')].sort()).toEqual(ids.toSorted());
    expect(linesOf('second')).toHaveLength(12);
    const warned = ids.filter((id) => (first.stderr + second.stderr).includes(`--on-final command for run ${id} of`));
    expect(warned.sort()).toEqual(linesOf('first').sort());
    expect(first.stderr.includes('12 --on-final commands were not run')).toBe(signal === 'SIGTERM');
  },
);
