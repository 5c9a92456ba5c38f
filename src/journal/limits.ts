import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.ts';

/** What the service limits apart: the interface (§8) has its rate limit on triggers only. */
export type LimitedKind = 'trigger' | 'look';

/** Until when the service asked this machine to wait, shared by every process of it. */
export interface Limits {
  /** Milliseconds that are left of the wait; 0 when none is in force. */
  leftMs(kind: LimitedKind): number;
  set(kind: LimitedKind, waitMs: number): void;
}

// A service that asks for a day must not silence a machine for a day: each process asks again after an hour.
const longestMs = 3_600_000;
/** How late one process may learn of another's wait. */
const staleMs = 50;

/** A small file for each address, key and kind in the state folder. It holds a time and nothing else; trouble is ignored. */
export function openLimits({ folder: stateFolder, baseUrl, account, nowMs }: LimitsOptions): Limits {
  const folder = stateFolder && join(stateFolder, 'limits');
  const pathOf = (kind: LimitedKind) => {
    const name = createHash('sha256').update(`${account()}\n${baseUrl}`).digest('hex').slice(0, 12);
    return folder && join(folder, `${name}-${kind}`);
  };
  const freeSinceMs: Partial<Record<LimitedKind, number>> = {};
  return {
    leftMs(kind) {
      const atMs = nowMs();
      // Once for many requests: a thousand a second would each ask the disk.
      if (Math.abs(atMs - (freeSinceMs[kind] ?? 0)) < staleMs) return 0;
      // Most machines were never limited, and node:crypto is a fifteenth of the time that a `status` takes.
      const leftMs = folder && existsSync(folder) ? readTime(pathOf(kind)) - atMs : 0;
      if (leftMs > 0 && leftMs <= longestMs) return leftMs;
      freeSinceMs[kind] = atMs;
      return 0;
    },
    set(kind, waitMs) {
      const path = pathOf(kind);
      const untilMs = Math.ceil(nowMs() + Math.min(waitMs, longestMs));
      delete freeSinceMs[kind];
      if (!path || !folder || untilMs <= readTime(path)) return;
      try {
        makeFolder(folder);
        writeFileSync(path, String(untilMs), { mode: 0o600 });
      } catch {
        // The next process learns it from the service itself.
      }
    },
  };
}

export interface LimitsOptions {
  /** The state folder; undefined where there is none. */
  folder: string | undefined;
  baseUrl: string;
  /** Fingerprint of the API key. */
  account(): string;
  nowMs(): number;
}

function readTime(path: string | undefined): number {
  if (!path) return 0;
  try {
    const text = readFileSync(path, 'utf8');
    // Anything else is a file that another process is just writing.
    return /^\d{13}$/.test(text) ? Number(text) : 0;
  } catch {
    return 0;
  }
}
