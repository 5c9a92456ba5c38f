import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const patience = { timeout: 25_000, interval: 100 };

test('a night: crons trigger, the follower is killed twice, and each run is told of once', {
  timeout: 90_000,
}, async () => {
  const automations = {
    '*': { duration: '4s' },
    broken: { duration: '1s', outcome: 'FAILED' },
    alsoBroken: { duration: '3s', outcome: 'TIMED_OUT' },
  } as const;
  const { env } = await withEmulator({ automations }, { nowMs: Date.now });
  const file = join(temporaryFolder(), 'told');
  const hook = `echo "$RUNCTL_EXECUTION_ID $RUNCTL_STATUS" >> ${file}`;
  const told = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
  const follow = (): { kill(signal: NodeJS.Signals): void; ended: ReturnType<typeof runProcess> } => {
    const kills: ((signal: NodeJS.Signals) => void)[] = [];
    const argv = ['watch', '--all', '--follow', '--quiet', '--on-final', hook];
    const ended = runProcess(argv, { env, onStart: (child) => kills.push((signal) => child.kill(signal)) });
    return { ended, kill: (signal) => kills[0]?.(signal) };
  };
  const names = [...Array.from({ length: 12 }, (_, n) => `job-${n}`), 'broken', 'alsoBroken'];
  const ids: string[] = [];
  const trigger = async (some: string[]) => {
    for (const name of some) ids.push((await runProcess(['trigger', name, '-q'], { env })).stdout.trim());
  };

  const first = follow();
  await trigger(names.slice(0, 5));
  first.kill('SIGKILL');
  expect((await first.ended).code).toBe('SIGKILL');
  await trigger(names.slice(5, 8));
  const second = follow();
  await vi.waitFor(() => expect(told().length).toBeGreaterThan(0), patience);
  second.kill('SIGKILL');
  await second.ended;
  const third = follow();
  await trigger(names.slice(8));
  // What a killed follower had begun is not run again: one at most for each kill.
  await vi.waitFor(() => expect(told().length).toBeGreaterThanOrEqual(names.length - 2), patience);
  await vi.waitFor(async () => {
    const { stdout } = await runProcess(['list', '--field', 'status', '--limit', '100'], { env });
    expect(stdout).not.toContain('RUNNING');
  }, patience);
  third.kill('SIGTERM');
  const { code, stderr } = await third.ended;
  expect(code).toBe(143);
  const toldIds = told().map((line) => line.split(' ')[0] ?? '');
  expect(new Set(toldIds).size).toBe(toldIds.length);
  const missing = ids.filter((id) => !toldIds.includes(id));
  for (const id of missing) expect(stderr).toContain(`run ${id} of`);
  const failures = told()
    .filter((line) => !line.endsWith('COMPLETED'))
    .map((line) => line.split(' ')[1]);
  expect(failures.length + missing.length).toBeGreaterThanOrEqual(2);
});
