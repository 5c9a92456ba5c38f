import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const patience = { timeout: 25_000, interval: 20 };

test('a night: crons trigger, the follower is killed twice, and each run is reported once', {
  timeout: 60_000,
}, async () => {
  const automations = {
    '*': { duration: '700ms' },
    broken: { duration: '200ms', outcome: 'FAILED' },
    alsoBroken: { duration: '500ms', outcome: 'TIMED_OUT' },
  } as const;
  const { env } = await withEmulator({ automations }, { nowMs: Date.now });
  const baseUrl = env.RUNCTL_BASE_URL ?? '';
  const journal = openJournal({ folder: env.RUNCTL_STATE_DIR, nowMs: Date.now, onTrouble() {} });
  const file = join(temporaryFolder(), 'reported');
  const hook = `echo "$RUNCTL_EXECUTION_ID $RUNCTL_STATUS" >> ${file}`;
  const reported = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  const follow = () => {
    const argv = ['watch', '--all', '--follow', '--quiet', '--interval', '50ms', '--on-final', hook];
    let kill = (_: NodeJS.Signals): unknown => undefined;
    const ended = runProcess(argv, {
      env,
      onStart(child) {
        kill = (signal) => child.kill(signal);
      },
    });
    return (signal: NodeJS.Signals) => {
      kill(signal);
      return ended;
    };
  };
  const ids: string[] = [];
  const trigger = async (...names: string[]) => {
    for (const name of names) ids.push((await runProgram(['trigger', name, '-q'], { env })).stdout.trim());
  };

  const endFirst = follow();
  await trigger('alsoBroken', 'a', 'b', 'c');
  const first = await endFirst('SIGKILL');
  await trigger('d', 'e');
  const endSecond = follow();
  await vi.waitFor(() => expect(reported().length).toBeGreaterThan(0), patience);
  const second = await endSecond('SIGKILL');
  const endThird = follow();
  await trigger('broken', 'f', 'g', 'h');
  await vi.waitFor(() => {
    const hooks = journal.hooks({ baseUrl });
    expect(hooks.map(({ run }) => run.executionId).sort()).toEqual(ids.toSorted());
    expect(hooks.every(({ hasEnded }) => hasEnded)).toBe(true);
  }, patience);
  const third = await endThird('SIGTERM');

  expect([first.code, second.code, third.code]).toEqual(['SIGKILL', 'SIGKILL', 143]);
  const reportedIds = reported().map((line) => line.split(' ')[0] ?? '');
  expect(new Set(reportedIds).size).toBe(reportedIds.length);
  // The command of a run that a killed follower had begun may have been cut off: the next follower says so.
  const warnings = first.stderr + second.stderr + third.stderr;
  for (const id of ids) {
    if (!reportedIds.includes(id)) expect(warnings).toContain(`the --on-final command for run ${id} of`);
  }
  expect(reported()).toContain(`${ids[6]} FAILED`);
});
