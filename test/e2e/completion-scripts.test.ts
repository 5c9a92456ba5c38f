import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openJournal } from '../../src/journal/journal.ts';
import { isInstalled, needs } from '../helpers/needs.ts';
import { entry } from '../helpers/run-process.ts';

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

/** A shell that has been taught, and types one line after another. */
interface Session {
  /** Types a line and a tab after it, and reports what the program would be called with. */
  complete(line: string): Promise<string[]>;
  close(): void;
}

async function startShell({ shell, args, teach }: (typeof shells)[number]): Promise<Session> {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-shell-'));
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
  let shown = '';
  terminal.onData((data) => {
    shown += data;
  });
  terminal.write(`${teach}; echo rea''dy\r`);
  await vi.waitFor(() => expect(shown).toMatch(/ready/), { timeout: 15_000 });
  return {
    async complete(line) {
      terminal.write(`${line}\t`);
      const before = shown.length;
      await vi.waitFor(() => expect(shown.length).toBeGreaterThan(before + line.length), { timeout: 15_000 });
      terminal.write('\r');
      return vi.waitFor(
        () => {
          const words = readFileSync(said, 'utf8').split('\n');
          expect(words.slice(-2)).toEqual(['done', '']);
          rmSync(said);
          return words.slice(0, -2);
        },
        { timeout: 15_000 },
      );
    },
    close() {
      // Not politely: a shell would write its history into a folder that is being removed.
      terminal.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

for (const shell of shells) {
  describe(`completion in ${shell.shell}`, () => {
    let session: Session | undefined;
    beforeAll(async () => {
      if (isInstalled(shell.shell)) session = await startShell(shell);
    });
    afterAll(() => session?.close());
    beforeEach((context) => needs(context, shell.shell));

    test.each([
      ['runctl statu', ['status']],
      ['runctl trigger --if-ac', ['trigger', '--if-active']],
      ['runctl status @la', ['status', '@last']],
      ['runctl explain outc', ['explain', 'outcome_unknown']],
      ['runctl trigger ni', ['trigger', oddName]],
    ])('%s and a tab', async (line, words) => {
      expect(await session?.complete(line)).toEqual(words);
    });
  });
}
