import { journalOf } from '../connection/open-journal.ts';
import type { Invocation } from '../context.ts';
import { createProcesses } from '../journal/processes.ts';
import { pathOf } from '../journal/records.ts';
import { exitCodes, signalOfExitCode } from '../problems/exit-codes.ts';
import type { Document } from '../render/document.ts';
import { isInterrupted } from '../runs/clock.ts';
import { runHook } from './run-hook.ts';

const limitMs = 30_000;

/** Runs the hook, unless a signal ends the command. A failure is reported, but doesn't change the exit code. */
export async function runOnExit(
  command: string,
  { exitCode, documents }: { exitCode: number; documents: readonly Document[] },
  context: Invocation,
  record?: { begin(): void; end(failure: string | undefined): void },
): Promise<void> {
  if (signalOfExitCode(exitCode)) return;
  // With several runs, the outcome is the command's.
  const name = exitCodes.find(({ code }) => code === exitCode)?.name ?? null;
  const variables = { RUNCTL_EXIT_CODE: String(exitCode), ...(documents.length !== 1 && { RUNCTL_OUTCOME: name }) };
  record?.begin();
  const how = await runHook({ command, documents, variables, limitMs }, context);
  record?.end(how);
  if (!how) return;
  const code = isInterrupted(context.signal) ? '' : `; the exit code stays ${exitCode}`;
  const message = `the --on-exit command ${how}${code}`;
  context.reporter.observe({ event: 'warning', name: 'hook_failed', message });
}

/** Records the `--on-exit` command of a command with these documents, once for each automation in them. */
export function exitHookRecord(documents: readonly Document[], baseUrl: string | undefined, context: Invocation) {
  if (baseUrl === undefined) return undefined;
  const hook = '--on-exit';
  const journal = journalOf(context, { quiet: true });
  const targets = new Map(documents.flatMap(({ target }) => (target ? [[pathOf(target), target] as const] : [])));
  const run = documents.length === 1 ? documents[0]?.run?.executionId : undefined;
  const belonging = [...targets.values()].map((target) => ({ hook, baseUrl, target, run }) as const);
  return {
    begin() {
      const process = createProcesses().own;
      for (const each of belonging) journal.append({ type: 'command_hook_begun', ...each, process });
    },
    end(failure: string | undefined) {
      for (const each of belonging) journal.append({ type: 'command_hook_ended', ...each, failure });
    },
  };
}
