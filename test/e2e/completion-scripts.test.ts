import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { answerCompletion } from '../../src/commands/complete.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { program } from '../../src/program.ts';
import type { Env } from '../../src/system/env.ts';
import { projectId } from '../fault-kit/start.ts';
import { isInstalled, needs } from '../helpers/needs.ts';
import { entry } from '../helpers/run-process.ts';

interface Shell {
  shell: string;
  args: string[];
  teach: string;
  /** Is the built program asked for every completion? Otherwise the sources are, in this process. */
  isBuilt?: boolean;
}

/** How each is started without anybody's own settings, and taught. */
const shells: Shell[] = [
  { shell: 'bash', args: ['--norc', '-i'], teach: 'source <(runctl completion bash)', isBuilt: true },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    teach: 'autoload -U compinit; compinit -u -D; source <(runctl completion zsh)',
  },
  { shell: 'fish', args: ['--no-config', '-i'], teach: 'runctl completion fish | source' },
];

/** Moves the cursor one character to the left (Ctrl-B). */
const left = '\u0002';

const oddName = `nightly "report" \`touch pwned\` it's`;

/** A shell that has been taught, and types one line after another. */
interface Session {
  /** Types a line and a tab after it, and reports what the program would be called with. */
  complete(line: string): Promise<string[]>;
  close(): void;
}

/** What a shell's script does to have a completion answered by the tests, through two pipes. */
const askTests = `shift; printf '%s\\n' "$@" > "$HOME/question"; exec cat "$HOME/answer"`;

async function answerShell(folder: string, env: Env): Promise<void> {
  const [question, answer] = [join(folder, 'question'), join(folder, 'answer')];
  execFileSync('mkfifo', [question, answer]);
  for (;;) {
    const words = (await readFile(question, 'utf8')).split('\n').slice(0, -1);
    if (words.length === 0) return;
    await writeFile(answer, answerCompletion(words, program, env));
  }
}

async function startShell({ shell, args, teach, isBuilt = false }: Shell): Promise<Session> {
  const folder = mkdtempSync(join(tmpdir(), 'runctl-shell-'));
  const said = join(folder, 'said');
  // Answers completions; anything else it is called with is what the shell made of the line.
  const stand = `#!/bin/sh
case "$1" in
  completion) exec '${process.execPath}' '${entry}' "$@" ;;
  __complete) ${isBuilt ? `exec '${process.execPath}' '${entry}' "$@"` : askTests} ;;
  *) printf '%s\\n' "$@" done > '${said}' ;;
esac
`;
  writeFileSync(join(folder, 'runctl'), stand, { mode: 0o755 });
  writeFileSync(join(folder, 'my-key.txt'), '');
  const journal = openJournal({ folder, nowMs: () => 0, onFailure: () => {} });
  const target = { projectId, automationName: oddName };
  journal.append({
    type: 'status',
    baseUrl: 'https://api.example.com',
    target,
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
  // The folder with the pipes is removed while a shell may still be answered.
  if (!isBuilt) void answerShell(folder, env).catch(() => {});
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
      // Ends the wait for the next question.
      if (!isBuilt) closeSync(openSync(join(folder, 'question'), 'r+'));
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
      ['runctl status --api-key-file my-k', ['status', '--api-key-file', 'my-key.txt']],
      [`runctl statu -q${left}${left}${left}`, ['status', '-q']],
    ])('%j and a tab', async (line, words) => {
      expect(await session?.complete(line)).toEqual(words);
    });
  });
}
