import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { needs } from '../helpers/needs.ts';
import { entry } from '../helpers/run-process.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** How each is started without anybody's own settings, and taught. */
const shells = [
  { shell: 'bash', args: ['--norc', '-i'], teach: 'source <(runctl completion bash)' },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    teach: 'autoload -U compinit; compinit -u -D; source <(runctl completion zsh)',
  },
  { shell: 'fish', args: ['--no-config', '-i'], teach: 'runctl completion fish | source' },
];

const oddName = `nightly "report" $(touch pwned) it's`;

/** Types a line into the shell, a tab after it, and reports what the program would be called with. */
async function complete({ shell, args, teach }: (typeof shells)[number], line: string): Promise<string[]> {
  const folder = temporaryFolder();
  const said = join(folder, 'said');
  // Answers completions; anything else it is called with is what the shell made of the line.
  const stand = `#!/bin/sh
case "$1" in
  __complete|completion) exec '${process.execPath}' '${entry}' "$@" ;;
  *) printf '%s\\n' "$@" done > '${said}' ;;
esac
`;
  writeFileSync(join(folder, 'runctl'), stand);
  chmodSync(join(folder, 'runctl'), 0o755);
  const journal = openJournal({ folder, nowMs: () => 0, onTrouble: () => {} });
  const target = { family: 'automation', projectId: '00000000-0000-4000-8000-000000000001', automationName: oddName };
  journal.append({
    type: 'status',
    baseUrl: 'https://api.example.com',
    target: target as { family: 'automation'; projectId: string; automationName: string },
    executionId: '00000000-0000-4000-8000-00000000000a',
    status: 'RUNNING',
  });

  const env = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    HOME: folder,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    RUNCTL_STATE_DIR: folder,
    RUNCTL_CONFIG_DIR: folder,
  };
  const terminal = spawn(shell, args, { cwd: folder, env, cols: 200, rows: 50 });
  // Not politely: a shell would write its history into a folder that is being removed.
  onTestFinished(() => terminal.kill('SIGKILL'));
  let shown = '';
  terminal.onData((data) => {
    shown += data;
  });
  terminal.write(`${teach}; echo rea''dy\r`);
  await vi.waitFor(() => expect(shown).toMatch(/ready/), { timeout: 15_000 });
  terminal.write(`${line}\t`);
  const before = shown.length;
  await vi.waitFor(() => expect(shown.length).toBeGreaterThan(before + line.length), { timeout: 15_000 });
  terminal.write('\r');
  return vi.waitFor(
    () => {
      const words = readFileSync(said, 'utf8').split('\n');
      expect(words.slice(-2)).toEqual(['done', '']);
      return words.slice(0, -2);
    },
    { timeout: 15_000 },
  );
}

for (const shell of shells) {
  describe(`completion in ${shell.shell}`, () => {
    beforeEach((context) => needs(context, shell.shell));

    test.each([
      ['runctl stat', ['status']],
      ['runctl trigger --if-ac', ['trigger', '--if-active']],
      ['runctl status @la', ['status', '@last']],
      ['runctl explain outc', ['explain', 'outcome_unknown']],
      ['runctl trigger ni', ['trigger', oddName]],
    ])('%s and a tab', async (line, words) => {
      expect(await complete(shell, line)).toEqual(words);
    });
  });
}
