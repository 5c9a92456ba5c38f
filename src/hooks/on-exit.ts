import type { Context } from '../context.ts';
import { exitCodes, signalOfExitCode } from '../problems/exit-codes.ts';
import type { JsonObject } from '../runs/json.ts';
import { isInterrupted } from '../runs/on-abort.ts';
import { runHook } from './run-hook.ts';

const limitMs = 30_000;

/** Runs the hook, unless a signal ends the command. A failure is reported, but doesn't change the exit code. */
export async function runOnExit(
  command: string,
  { exitCode, documents }: { exitCode: number; documents: readonly JsonObject[] },
  context: Context,
  record?: { begin(): void; end(failure: string | undefined): void },
): Promise<void> {
  if (signalOfExitCode(exitCode)) return;
  const ofCommand = { RUNCTL_EXIT_CODE: String(exitCode), RUNCTL_COMMAND: context.command };
  // With several runs, the outcome is the command's.
  const name = exitCodes.find(({ code }) => code === exitCode)?.name ?? null;
  const variables = { ...ofCommand, ...(documents.length !== 1 && { RUNCTL_OUTCOME: name }) };
  record?.begin();
  const how = await runHook({ command, documents, variables, limitMs }, context);
  record?.end(how);
  if (!how) return;
  const code = isInterrupted(context.signal) ? '' : `; the exit code stays ${exitCode}`;
  const message = `the --on-exit command ${how}${code}`;
  context.reporter.observe({ event: 'warning', name: 'hook_failed', message });
}
