import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { accountOf } from '../../src/config/api-key.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createMemory } from '../helpers/memory-context.ts';
import { target } from '../helpers/scripted-service.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('an interrupt before a trigger is asked about leaves it open as it was, and the exit code says so', async () => {
  const folder = temporaryFolder();
  const baseUrl = 'https://service.test';
  const apiKey = 'test-key-4f1b7c9d2e';
  const context = createMemory({
    RUNCTL_BASE_URL: baseUrl,
    RUNCTL_API_KEY: apiKey,
    RUNCTL_STATE_DIR: folder,
    RUNCTL_CONFIG_DIR: join(folder, 'config'),
  });
  const journal = () => openJournal({ folder, nowMs: context.clock.nowMs, onTrouble() {} });
  const request = { baseUrl, target, idempotencyKey: 'key-1' };
  journal().append({
    type: 'triggered',
    ...request,
    account: accountOf(apiKey),
    attempt: '1',
    body: '{}',
    userProvided: false,
  });
  journal().append({ type: 'in_doubt', ...request, reason: 'the connection was reset' });
  context.interrupt('SIGTERM');
  expect(await runCli(['recover', '--json'], program, context)).toBe(143);
  expect(jsonLines(context.out())).toMatchObject([
    { runctl: { outcome: 'interrupted', trigger: { started: 'unknown' }, next: 'runctl recover' } },
  ]);
  expect(journal().unresolvedTriggers({ baseUrl })).toMatchObject([{ reason: 'the connection was reset' }]);
});
