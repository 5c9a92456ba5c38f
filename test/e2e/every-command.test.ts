// Once each as a process; what the commands do is tested in one process with the tests.
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { withEmulator } from '../helpers/emulator.ts';
import { runProcess } from '../helpers/run-process.ts';
import { runProgram } from '../helpers/run-program.ts';

const agentId = 'a6f0c3e1-7d51-4d5c-9a70-94b5c2d1e001';

test.each<[argv: string[], code: number, stdout: RegExp]>([
  [['--version'], 0, new RegExp(`^${version}\\n$`)],
  [['--help'], 0, /Usage: runctl/],
  [['trigger', '--help'], 0, /Usage: runctl trigger/],
  [['trigger', 'weekly'], 0, /^[\da-f-]{36}\n$/],
  [['watch', '--interval', '20ms'], 0, /COMPLETED nightly/],
  [['status'], 0, /^status +COMPLETED\n/],
  [['result'], 0, /COMPLETED/],
  [['list'], 0, /nightly/],
  [['recover'], 0, /^$/],
  [['agent', 'trigger', agentId], 11, /^\n$/],
  [['config', 'list'], 0, /RUNCTL_BASE_URL/],
  [['explain', '12'], 0, /outcome_unknown/],
  [['schema', 'event'], 0, /run_done/],
  [['completion', 'bash'], 0, /complete -/],
  [['emulator', '--quiet', '--', 'true'], 0, /^$/],
  [['nonsense'], 2, /^$/],
])('the built program does `runctl %j`', async (argv, code, stdout) => {
  const { env } = await withEmulator({ automations: { '*': { duration: '1ms' } } });
  if (['watch', 'status', 'result', 'list'].includes(argv[0] ?? '')) await runProgram(['trigger', 'nightly'], { env });
  const ended = await runProcess(argv, { env: { ...env, PATH: process.env.PATH } });
  expect(ended).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
});
