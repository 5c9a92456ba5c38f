import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its parents, open to the user alone; one that exists is left as it is. Throws the system's error.
 * Node's own recursive `mkdir` never returns where a parent exists that takes no folders (`/proc`).
 */
export function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
