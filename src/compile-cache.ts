import { mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { isAbsolute, join } from 'node:path';

/**
 * Lets Node (22.8 and newer) keep what it compiled in the user's cache folder: a seventh of the time of `status`. Where
 * there is no such folder none is made, for what never starts a second time (a container, say) would only pay for it.
 * Node's own place for it, below the folder for temporary files, could be filled by another user of the machine.
 */
export function keepCompiled(env: Readonly<Record<string, string | undefined>>): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?(folder: string): unknown };
  const caches = env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache'));
  if (!enableCompileCache || !caches || !isAbsolute(caches)) return;
  const folder = join(caches, 'runctl');
  try {
    // Not left to Node, whose `mkdir -p` never returns where a folder exists but takes none (`/proc`).
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return;
  }
  enableCompileCache(folder);
}
