import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'vitest';

/** Skips a test where something is missing, and says what, which the end of `npm test` then repeats. */
export function needs({ skip }: TestContext, name: string, isThere = isInstalled(name)): void {
  skip(!isThere, `needs ${name}`);
}

export function isInstalled(tool: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

/** Whether there is a file that is always full; macOS has none. */
export const hasFullDisk = existsSync('/dev/full');

/** Whether `unshare` gives a command mounts and a network of its own. */
export const hasNamespaces = spawnSync('unshare', ['-rmn', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp']).status === 0;
