import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createJournal } from '../src/journal/journal.ts';

const entry = join(import.meta.dirname, '../bin/runctl.js');
const path = process.env.PATH ?? '';
const isInstalled = (tool: string) =>
  path.split(delimiter).some((folder) => existsSync(join(folder, tool)));

const oddName = `nightly "report" \`touch pwned\` it's`;
const timeout = 15_000;

/** How each is started without anybody's own settings, and reads the script. */
const shells = [
  { shell: 'bash', args: ['--norc', '-i'], setUp: 'source <(runctl completion bash)' },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    setUp: 'autoload -U compinit; compinit -u -D; source <(runctl completion zsh)',
  },
  { shell: 'fish', args: ['--no-config', '-i'], setUp: 'runctl completion fish | source' },
];

/** Completes with the built program. Any other command line is written to the file `words`. */
const runctl = `#!/bin/sh
case "$1" in
  completion) exec '${process.execPath}' '${entry}' "$@" ;;
  __complete) '${process.execPath}' '${entry}' "$@"; touch asked ;;
  *) printf '%s\\n' "$@" done > words ;;
esac
`;

async function startShell({ shell, args, setUp }: (typeof shells)[number]) {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-shell-'));
  const fileOf = (name: string) => join(folder, name);
  writeFileSync(fileOf('runctl'), runctl, { mode: 0o755 });
  writeFileSync(fileOf('my-key.txt'), '');
  const projectId = '00000000-0000-4000-8000-000000000001';
  const journal = createJournal({ stateDir: folder, baseUrl: undefined, nowMs: Date.now });
  const executionId = '00000000-0000-4000-8000-00000000000a';
  journal.append(
    {
      type: 'status',
      automation: { projectId, name: oddName },
      executionId,
      status: 'RUNNING',
      isFinal: false,
    },
    { isDurable: false },
  );

  const env = {
    PATH: `${folder}${delimiter}${path}`,
    HOME: folder,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    RUNCTL_STATE_DIR: folder,
    RUNCTL_CONFIG_DIR: folder,
    RUNCTL_PROJECT: projectId,
  };
  const terminal = spawn(shell, args, { cwd: folder, env, cols: 200, rows: 50 });
  let shown = '';
  terminal.onData((data) => {
    shown += data;
  });
  terminal.write(`${setUp}; echo rea''dy\r`);
  await vi.waitFor(() => expect(shown).toMatch(/ready/), { timeout });

  async function typeAndComplete(line: string): Promise<void> {
    rmSync(fileOf('asked'), { force: true });
    terminal.write(`${line}\t`);
    await vi.waitFor(() => expect(existsSync(fileOf('asked'))).toBe(true), { timeout });
  }
  return {
    fileOf,
    typeAndComplete,
    /** The arguments that the program would get after a tab and Enter. */
    async wordsOf(line: string): Promise<string[]> {
      await typeAndComplete(line);
      terminal.write('\r');
      const read = () => readFileSync(fileOf('words'), 'utf8').split('\n');
      await vi.waitFor(() => expect(read().slice(-2)).toEqual(['done', '']), { timeout });
      const words = read().slice(0, -2);
      rmSync(fileOf('words'));
      return words;
    },
    close() {
      terminal.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

describe.each(shells)('completion in $shell', (shell) => {
  describe.skipIf(!isInstalled(shell.shell))('', () => {
    let session: Awaited<ReturnType<typeof startShell>>;
    beforeAll(async () => {
      session = await startShell(shell);
    });
    afterAll(() => session.close());

    test.each([
      ['a command', 'runctl statu', ['status']],
      ['a flag', 'runctl trigger --if-ac', ['trigger', '--if-active']],
      ['a topic', 'runctl help exit-', ['help', 'exit-codes']],
      ['a status', 'runctl list --status FAI', ['list', '--status', 'FAILED']],
      ['a field', 'runctl status x --field runctl.o', ['status', 'x', '--field', 'runctl.outcome']],
      ['a value', 'runctl trigger x --if-active sk', ['trigger', 'x', '--if-active', 'skip']],
      ['a name with blanks and quotes', 'runctl trigger ni', ['trigger', oddName]],
      ['a name that is quoted', `runctl trigger -w 'nightly "re`, ['trigger', '-w', oddName]],
      ['a name in double quotes', 'runctl trigger -w "ni', ['trigger', '-w', oddName]],
      ['a name with an escaped blank', 'runctl status nightly\\ ', ['status', oddName]],
      ['a file', 'runctl status --api-key-file my-k', ['status', '--api-key-file', 'my-key.txt']],
    ])('completes %s', async (_, line, words) => {
      expect(await session.wordsOf(line)).toEqual(words);
    });

    test('evaluates nothing that is typed', async () => {
      await session.typeAndComplete('runctl trigger $(touch pwned) "$(touch pwned)" ni');
      expect(existsSync(session.fileOf('pwned'))).toBe(false);
    });
  });
});
