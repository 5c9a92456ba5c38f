import { open } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { usageProblem } from '../problems/problem.ts';
import { createReport, reportText } from './rehearsal-report.ts';
import type { Emulator } from './server.ts';

/** Opens the file at once, so that one that can't be written is refused before anything runs. `-` is stderr. */
export async function openReport(path: string, { stderr }: Context) {
  const facts = createReport();
  const file = path === '-' ? undefined : await open(path, 'w').catch(refuse);

  function refuse({ message }: Error): never {
    throw usageProblem(`the report can't be written: ${message}`, 'give a file that can be written, or `-` for stderr');
  }

  return {
    facts,
    /** Writes the report; false, with a message, if that fails. `exitCode` is null if there was no command. */
    async write(emulator: Emulator, exitCode: number | null): Promise<boolean> {
      const document = facts.document(emulator.runs(), exitCode);
      if (!file) stderr.write(reportText(document));
      try {
        await file?.writeFile(`${JSON.stringify(document, undefined, 2)}\n`);
        return true;
      } catch (error) {
        stderr.write(`runctl: the report couldn't be written to ${path}: ${(error as Error).message}\n`);
        return false;
      } finally {
        await file?.close();
      }
    },
  };
}
