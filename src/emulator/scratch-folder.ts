import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageProblem } from '../problems/problem.ts';

/** A folder that is gone when `act` is over. */
export async function withScratchFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'runctl-')).catch((error: Error) => {
    throw usageProblem(`there is no place for temporary files: ${error.message}`, 'set `TMPDIR` to a folder that is');
  });
  try {
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
