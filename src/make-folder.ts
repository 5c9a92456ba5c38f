import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** `mkdir -p`, for the user alone. Node's own never returns where a folder exists but takes none (`/proc`). */
export function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
